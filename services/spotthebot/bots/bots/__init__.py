"""A bot replies in conversations: its team registers it, and each of its versions says how to ask it."""
