"""Metrics tell those who run the service its replies, bots and circuits."""
