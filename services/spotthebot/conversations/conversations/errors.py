"""The errors of conversations."""

from spotthebot.kit.errors import Invalid, NotFound


class UnknownBot(Invalid):
    """There is no bot {bot_id}: register it first."""


class NoSuchConversation(NotFound):
    """There is no conversation {conversation_id}."""
