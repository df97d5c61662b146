"""The events of `conversations`, in its own tables."""

from spotthebot.conversations.events.domain import CATALOGUE
from spotthebot.conversations.metadata import EVENT_TABLES
from spotthebot.kit.events.store.event_store import EventStore

EVENTS = EventStore(EVENT_TABLES, CATALOGUE)
