"""The rules by which likelihoods become scores; all functions are pure."""
