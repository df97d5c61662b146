"""The events of `conversations`, in its own tables."""

from spotthebot.conversations.domain.events import CATALOGUE
from spotthebot.conversations.tables import EVENT_TABLES
from spotthebot.kit.events.store import EventStore

EVENTS = EventStore(EVENT_TABLES, CATALOGUE)
