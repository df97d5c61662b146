"""Campaigns, packages, assignments and annotations, with the task API for annotation frontends.

The service never learns who speaks in a conversation, so it can't reveal which side is a bot.
"""
