"""Rules over corpora: file formats, statistics of splits, and held-out dialogues."""
