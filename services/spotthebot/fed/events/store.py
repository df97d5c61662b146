"""The events of `fed`, in its own tables."""

from spotthebot.fed.events.domain import CATALOGUE
from spotthebot.fed.metadata import EVENT_TABLES
from spotthebot.kit.events.store.event_store import EventStore

EVENTS = EventStore(EVENT_TABLES, CATALOGUE)
