"""YAML files that declare a collection, a campaign or an evaluation. All faults of a file are reported at once."""
