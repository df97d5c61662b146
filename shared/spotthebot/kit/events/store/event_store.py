"""The subscriptions, the outbox and the deliveries of one service, together."""

from spotthebot.kit.events.domain import EventCatalogue
from spotthebot.kit.events.store.deliveries import DeliveryQueue
from spotthebot.kit.events.store.outbox import Outbox
from spotthebot.kit.events.store.subscriptions import SubscriptionStore
from spotthebot.kit.events.tables import EventTables


class EventStore:
    """The events of one service, in its own tables."""

    def __init__(self, tables: EventTables, catalogue: EventCatalogue) -> None:
        self.catalogue = catalogue
        self.subscriptions = SubscriptionStore(tables)
        self.outbox = Outbox(tables, catalogue)
        self.deliveries = DeliveryQueue(tables)
