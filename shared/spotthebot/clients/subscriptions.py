"""Operations on events and the webhooks that subscribe to them, of every service that publishes events."""

from typing import Unpack
from uuid import UUID

from spotthebot.clients.operations import Call, Listing, Paging, operation
from spotthebot.kit.events.domain import DeliveryState
from spotthebot.kit.events.wire import (
    DeliveryOut,
    EventOut,
    NewSecretIn,
    ReplayedOut,
    ReplayIn,
    SubscriptionChangesIn,
    SubscriptionIn,
    SubscriptionOut,
    SubscriptionWithSecretOut,
)


class SubscriptionOperations:
    """`/v1/subscriptions` and `/v1/events`."""

    @operation
    def create_subscription(
        self, subscription: SubscriptionIn, *, idempotency_key: str | None = None
    ) -> Call[SubscriptionWithSecretOut]:
        """Subscribe a URL to events; the answer holds the signing secret, which is not given again."""
        return Call(
            SubscriptionWithSecretOut,
            "POST",
            "/v1/subscriptions",
            body=subscription,
            idempotency_key=idempotency_key,
        )

    @operation
    def list_subscriptions(self, **paging: Unpack[Paging]) -> Listing[SubscriptionOut]:
        """List subscriptions, oldest first; a team sees its own."""
        return Listing(SubscriptionOut, "/v1/subscriptions", paging)

    @operation
    def get_subscription(self, subscription_id: UUID) -> Call[SubscriptionOut]:
        """Return a subscription."""
        return Call(SubscriptionOut, "GET", f"/v1/subscriptions/{subscription_id}")

    @operation
    def change_subscription(self, subscription_id: UUID, changes: SubscriptionChangesIn) -> Call[SubscriptionOut]:
        """Change the URL, the events, or whether anything is sent; fields that are not set stay."""
        return Call(SubscriptionOut, "PATCH", f"/v1/subscriptions/{subscription_id}", body=changes)

    @operation
    def delete_subscription(self, subscription_id: UUID) -> Call[None]:
        """Delete a subscription with its deliveries; deliveries that wait are not sent any more."""
        return Call(type(None), "DELETE", f"/v1/subscriptions/{subscription_id}")

    @operation
    def rotate_subscription_secret(
        self, subscription_id: UUID, secret: NewSecretIn, *, idempotency_key: str | None = None
    ) -> Call[SubscriptionWithSecretOut]:
        """Sign with another secret; messages carry the old one's signature too while the two overlap."""
        path = f"/v1/subscriptions/{subscription_id}/secret"
        return Call(SubscriptionWithSecretOut, "POST", path, body=secret, idempotency_key=idempotency_key)

    @operation
    def test_subscription(self, subscription_id: UUID, *, idempotency_key: str | None = None) -> Call[DeliveryOut]:
        """Send an event of type `subscription.test` to this subscriber alone."""
        path = f"/v1/subscriptions/{subscription_id}/test"
        return Call(DeliveryOut, "POST", path, idempotency_key=idempotency_key)

    @operation
    def list_deliveries(
        self, subscription_id: UUID, *, state: DeliveryState | None = None, **paging: Unpack[Paging]
    ) -> Listing[DeliveryOut]:
        """List the deliveries to this subscriber, oldest first."""
        return Listing(DeliveryOut, f"/v1/subscriptions/{subscription_id}/deliveries", paging, params={"state": state})

    @operation
    def replay_subscription(
        self, subscription_id: UUID, request: ReplayIn, *, idempotency_key: str | None = None
    ) -> Call[ReplayedOut]:
        """Send this subscriber all events since a moment again, under their old ids."""
        path = f"/v1/subscriptions/{subscription_id}/replay"
        return Call(ReplayedOut, "POST", path, body=request, idempotency_key=idempotency_key)

    @operation
    def list_events(self, *, type: str | None = None, **paging: Unpack[Paging]) -> Listing[EventOut]:  # noqa: A002 - the API's name
        """List events, oldest first; a team sees the events of its bots."""
        return Listing(EventOut, "/v1/events", paging, params={"type": type})

    @operation
    def replay_event(self, event_id: UUID, *, idempotency_key: str | None = None) -> Call[ReplayedOut]:
        """Send an event again to those of your subscribers that it is for."""
        return Call(ReplayedOut, "POST", f"/v1/events/{event_id}/replay", idempotency_key=idempotency_key)
