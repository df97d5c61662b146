"""The values of all measures, before any statistics."""
