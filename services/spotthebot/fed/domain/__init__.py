"""Pure rules of FED: dimensions and their follow-ups, scores from likelihoods, and the length baseline."""
