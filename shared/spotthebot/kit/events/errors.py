"""Errors of events and subscriptions.

Invalid
├── EventNotForTeams
└── TeamKeyWithoutTeam
NotFound
├── NoSuchEvent
└── NoSuchSubscription
Conflict
├── SubscriptionInactive
└── TooManySubscriptions
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class EventNotForTeams(Invalid):
    """This API key's role does not receive {events}; it can subscribe to: {allowed}."""


class TeamKeyWithoutTeam(Invalid):
    """This API key has the role team but names no team: ask for a key made with --team."""


class NoSuchEvent(NotFound):
    """There is no event {event_id}, or this API key may not see it."""


class NoSuchSubscription(NotFound):
    """There is no subscription {subscription_id}, or this API key may not see it."""


class SubscriptionInactive(Conflict):
    """The subscription {subscription_id} is not active ({reason}): set it active first."""


class TooManySubscriptions(Conflict):
    """There are {limit} subscriptions already, which is the limit: change or delete one."""


class TeamLookupFailed(Exception):
    """The team of an event can't be found at the moment; the dispatcher tries again."""
