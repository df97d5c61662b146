"""Computes results in threads, off the event loop, and keeps them until the data change."""
