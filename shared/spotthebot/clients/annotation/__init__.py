"""The client of `annotation`: protocols, campaigns, packages, assignments, annotations, subscriptions."""
