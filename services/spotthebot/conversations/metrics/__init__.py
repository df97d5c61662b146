"""Metrics show operators the queues, collections and chats of the service."""
