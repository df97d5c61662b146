"""Runs the suite on one machine: data folder, embedded PostgreSQL, processes, demonstration, load test.

It also has parts that run without a suite: analyses of studies, reports, scores of files, training of models, checks of
bots.
"""
