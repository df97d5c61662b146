"""All SQL of `analytics` is here, in one module for each noun."""
