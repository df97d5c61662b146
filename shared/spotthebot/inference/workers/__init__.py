"""Models in worker processes of this service, with dynamic batching."""
