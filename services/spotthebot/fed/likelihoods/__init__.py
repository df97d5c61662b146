"""A likelihood says how likely a follow-up is after a dialogue. Computed likelihoods are stored."""
