"""The events of `fed`, all of which are the operator's."""

from spotthebot.contracts.fed.events import FedEventType
from spotthebot.kit.events.domain import EventCatalogue

CATALOGUE = EventCatalogue(types=FedEventType)
