"""Hosting: changes of hosted models, one of a model at a time."""
