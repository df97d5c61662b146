"""Rows of `conversations` that are kept for a while only."""

from datetime import timedelta

from spotthebot.kit.retention import KeptRows


def old_chat_events(days: int) -> KeptRows:
    """Return the events of chats that are over: turns and ratings stay, and a late reader is told that it is over."""
    is_over = "id = chat_events.chat_id AND state <> 'chatting' AND last_turn_at < :before"
    return KeptRows(
        "chat_events",
        f"EXISTS (SELECT FROM conversations.chats WHERE {is_over})",
        timedelta(days=days),
    )


def old_turn_counts(days: int) -> KeptRows:
    """Return the numbers of turns by ten seconds, of which rates are made."""
    return KeptRows("turn_counts", "begins_at < :before", timedelta(days=days))
