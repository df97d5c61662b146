"""The only SQL of `conversations`, by noun."""

from spotthebot.conversations.store import (
    chat_tokens,
    chats,
    claims,
    collections,
    concurrency_slots,
    conversations,
    corpora,
    exports,
    held_out,
    partner_sets,
    planned,
    quality_checks,
    quality_flags,
    quality_summaries,
    turns,
    unavailable_bots,
)

__all__ = [
    "chat_tokens",
    "chats",
    "claims",
    "collections",
    "concurrency_slots",
    "conversations",
    "corpora",
    "exports",
    "held_out",
    "partner_sets",
    "planned",
    "quality_checks",
    "quality_flags",
    "quality_summaries",
    "turns",
    "unavailable_bots",
]
