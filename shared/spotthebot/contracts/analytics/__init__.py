"""Results, as the service `analytics` speaks of them. A figure that the data do not define is null."""
