"""Turns annotations into win rates, rankings, survival curves and the other statistics of the evaluation."""
