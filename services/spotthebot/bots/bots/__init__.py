"""A bot replies in conversations: its team registers it, and each version says how to request replies from it."""
