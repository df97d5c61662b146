"""The events of `annotation`, in its own tables."""

from spotthebot.annotation.events.domain import CATALOGUE
from spotthebot.annotation.metadata import EVENT_TABLES
from spotthebot.kit.events.store.event_store import EventStore

EVENTS = EventStore(EVENT_TABLES, CATALOGUE)
