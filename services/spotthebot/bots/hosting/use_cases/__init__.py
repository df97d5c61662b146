"""Hosting: changes of hosted models, one at a time for each model."""
