"""A score is computed from the likelihoods of a dimension's follow-ups, and stated with its length baseline."""
