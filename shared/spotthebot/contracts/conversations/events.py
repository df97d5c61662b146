"""The types of events that `conversations` publishes; `kit.events.wire` defines subscriptions and messages."""

from enum import StrEnum


class EventType(StrEnum):
    """An event that subscribers can receive."""

    COLLECTION_FINISHED = "collection.finished"
    """All conversations of a collection have ended."""
    COLLECTION_CANCELLED = "collection.cancelled"
    """An operator ended a collection; its running conversations were cancelled."""
    BOT_FAILING = "bot.failing"
    """A bot no longer replies: its conversations wait."""
    BOT_RECOVERED = "bot.recovered"
    """A bot that was failing replies again: its conversations continue."""
