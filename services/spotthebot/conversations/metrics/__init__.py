"""Metrics tell those who run the service its queues, collections and chats."""
