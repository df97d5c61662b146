"""Bots: registration, replies, probes and hosted models."""
