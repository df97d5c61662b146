"""How good a judge is: a program that labels conversations with a probability, beside the people who label them.

A judge's probability is the probability that the speaker of one side is human. A unit is one side of a segment. A
probability that is missing is NaN: it is left out and counted, and never becomes a label. `benchmarks/analytics/
judge_quality.py` measures how often the intervals hold the truth.
"""
