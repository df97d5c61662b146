"""Results from the scores of single dialogues: by partner, by their number, in unfair pools, beside references."""
