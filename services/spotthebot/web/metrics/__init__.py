"""The metrics of this service, which count its requests for monitoring."""
