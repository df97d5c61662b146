"""Estimates that an automatic judge's values correct: what a judge of many conversations adds to the labels of people.

PPI++ (Angelopoulos, Duchi & Zrnic 2023) with the two-way clustered variance of the suite:

    corrected = people's estimate + lambda (mean of the judge over all units - mean of the judge over labelled units)

`correction` has the estimator for any estimate with influences. `values` has shares and means of bots, `games` win
rates and ranks, `survival` curves, `ceiling` the most labels that any judge can save.
"""
