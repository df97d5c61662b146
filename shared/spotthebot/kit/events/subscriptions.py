"""Use cases of subscriptions: create and change them, rotate their secrets, test them, replay deliveries."""

from datetime import datetime, timedelta
from uuid import UUID

from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.errors import FieldError
from spotthebot.kit.events.domain import TEST_EVENT, Delivery, Subscription
from spotthebot.kit.events.errors import EventNotForTeams, SubscriptionInactive, TooManySubscriptions
from spotthebot.kit.events.settings import EventSettings
from spotthebot.kit.events.signer import EventSigner
from spotthebot.kit.events.store.event_store import EventStore
from spotthebot.kit.outbound.errors import AddressNotAllowed, UrlNotUsable
from spotthebot.kit.outbound.owners import HttpByOwner

MAX_SUBSCRIPTIONS = 100
"""The limit for one team, and for the operator."""


class Subscriptions:
    """The subscriptions of one service.

    `team` is the caller's team, which sees its own; the operator (None) sees all.
    """

    def __init__(self, store: EventStore, signer: EventSigner, http: HttpByOwner) -> None:
        self.store = store
        self._signer = signer
        self._http = http

    async def subscribe(
        self, session: WriteSession, team: str | None, *, url: str, events: tuple[str, ...], secret: str | None
    ) -> tuple[Subscription, str]:
        """Subscribe a URL to events. Return the subscription and its signing secret, which is not shown again."""
        self._check_events(team, events)
        await self._check_address(team, url)
        subscriptions = self.store.subscriptions
        if await subscriptions.count_subscriptions(session, team=team) >= MAX_SUBSCRIPTIONS:
            raise TooManySubscriptions(limit=MAX_SUBSCRIPTIONS)
        secret, sealed = self._signer.seal(secret)
        made = await subscriptions.add_subscription(session, team=team, url=url, events=events, sealed_secret=sealed)
        return made, secret

    async def change(
        self,
        session: WriteSession,
        team: str | None,
        subscription_id: UUID,
        *,
        url: str | None,
        events: tuple[str, ...] | None,
        active: bool | None,
    ) -> Subscription:
        """Change the URL, the event types, or whether the subscription is active. A value of None changes nothing."""
        subscription = await self.store.subscriptions.get_subscription(session, subscription_id, team=team)
        changes: dict[str, object] = {}
        if url is not None:
            await self._check_address(subscription.team, url)
            changes["url"] = url
        if events is not None:
            self._check_events(subscription.team, events)
            changes["events"] = list(events)
        if active is not None and active is not subscription.active:
            changes |= {"active": active, "inactive_reason": None if active else "Switched off."}
        if changes:
            await self.store.subscriptions.change_subscription(session, subscription_id, **changes)
        return await self.store.subscriptions.get_subscription(session, subscription_id, team=team)

    async def rotate_secret(
        self, session: WriteSession, team: str | None, subscription_id: UUID, secret: str | None, overlap: timedelta
    ) -> tuple[Subscription, str]:
        """Replace the signing secret. During the overlap, messages are signed with the old secret as well."""
        await self.store.subscriptions.get_subscription(session, subscription_id, team=team)
        secret, sealed = self._signer.seal(secret)
        await self.store.subscriptions.replace_secret(session, subscription_id, sealed, overlap=overlap)
        return await self.store.subscriptions.get_subscription(session, subscription_id, team=team), secret

    async def delete(self, session: WriteSession, team: str | None, subscription_id: UUID) -> None:
        """Delete a subscription and all its deliveries, including pending ones."""
        await self.store.subscriptions.get_subscription(session, subscription_id, team=team)
        await self.store.subscriptions.delete_subscription(session, subscription_id)

    async def send_test(self, session: WriteSession, team: str | None, subscription_id: UUID) -> Delivery:
        """Send a test event to this subscriber alone."""
        subscription = await self._active(session, team, subscription_id)
        data = {"subscription": {"id": str(subscription_id)}}
        delivery_id = await self.store.outbox.add_private_event(
            session, TEST_EVENT, data, subscription_id, team=subscription.team
        )
        return await self.store.deliveries.get_delivery(session, delivery_id)

    async def replay_since(
        self, session: WriteSession, team: str | None, subscription_id: UUID, since: datetime
    ) -> int:
        """Deliver all events since a given time to this subscriber, even if it received them before.

        Return their number.
        """
        subscription = await self._active(session, team, subscription_id)
        return await self.store.outbox.replay_since(
            session, subscription_id, types=subscription.events, team=subscription.team, since=since
        )

    async def _active(self, session: ReadSession, team: str | None, subscription_id: UUID) -> Subscription:
        subscription = await self.store.subscriptions.get_subscription(session, subscription_id, team=team)
        if not subscription.active:
            raise SubscriptionInactive(subscription_id=subscription_id, reason=subscription.inactive_reason)
        return subscription

    def _check_events(self, team: str | None, events: tuple[str, ...]) -> None:
        allowed = self.store.catalogue.for_teams
        refused = [str(each) for each in events if each not in allowed]
        if team is not None and refused:
            fault = FieldError("/events", "not for this role")
            raise EventNotForTeams(events=", ".join(refused), allowed=", ".join(sorted(allowed)), fields=(fault,))

    async def _check_address(self, team: str | None, url: str) -> None:
        try:
            await self._http.of(team).resolver.check_url(url)
        except (AddressNotAllowed, UrlNotUsable) as refused:
            fault = FieldError("/url", str(refused.facts["reason"]))
            raise type(refused)(**refused.facts, fields=(fault,)) from None
        except OSError:
            return  # the name does not resolve yet: if it never does, the deliveries report it


def subscriptions_of(settings: EventSettings, store: EventStore) -> Subscriptions:
    """Return the subscriptions of a service with these settings."""
    return Subscriptions(store, EventSigner(settings.open_vault()), settings.make_http())
