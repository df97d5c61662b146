"""The events of `fed`. The operator owns all of them, no team does."""

from spotthebot.contracts.fed.events import FedEventType
from spotthebot.kit.events.domain import EventCatalogue

CATALOGUE = EventCatalogue(types=FedEventType)
