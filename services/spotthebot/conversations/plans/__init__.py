"""A plan defines the conversations of a collection by a seed. A start stores the conversations and queues jobs."""
