"""The events of `annotation`, in its own tables."""

from spotthebot.annotation.domain.events import CATALOGUE
from spotthebot.annotation.tables import EVENT_TABLES
from spotthebot.kit.events.store import EventStore

EVENTS = EventStore(EVENT_TABLES, CATALOGUE)
