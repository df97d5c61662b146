"""Results of the service `analytics`. A value that cannot be computed from the data is null."""
