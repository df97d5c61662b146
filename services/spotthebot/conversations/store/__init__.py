"""The only SQL of `conversations`, by what it is about."""

from spotthebot.conversations.store import (
    accounts,
    chats,
    claims,
    collections,
    concurrency_slots,
    conversations,
    corpora,
    exports,
    markings,
    marks,
    partner_sets,
    planned,
    turns,
    unavailable_bots,
)

__all__ = [
    "accounts",
    "chats",
    "claims",
    "collections",
    "concurrency_slots",
    "conversations",
    "corpora",
    "exports",
    "markings",
    "marks",
    "partner_sets",
    "planned",
    "turns",
    "unavailable_bots",
]
