"""The parameters, the provenance and the uncertainty of every result."""
