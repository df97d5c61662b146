"""The events of `fed`, in its own tables."""

from spotthebot.fed.domain.events import CATALOGUE
from spotthebot.fed.tables import EVENT_TABLES
from spotthebot.kit.events.store.event_store import EventStore

EVENTS = EventStore(EVENT_TABLES, CATALOGUE)
