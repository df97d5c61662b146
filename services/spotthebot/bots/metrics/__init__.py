"""Metrics show operators the replies, bots and circuits of the service."""
