"""The only SQL of `conversations`, by what it is about."""

from spotthebot.conversations.store import (
    accounts,
    chats,
    claims,
    collections,
    conversations,
    corpora,
    deliveries,
    exports,
    markings,
    marks,
    outbox,
    partner_sets,
    places,
    planned,
    subscriptions,
    waves,
)

__all__ = [
    "accounts",
    "chats",
    "claims",
    "collections",
    "conversations",
    "corpora",
    "deliveries",
    "exports",
    "markings",
    "marks",
    "outbox",
    "partner_sets",
    "places",
    "planned",
    "subscriptions",
    "waves",
]
