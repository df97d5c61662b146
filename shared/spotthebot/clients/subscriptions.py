"""Operations on events and the webhooks that subscribe to them, of every service that publishes events."""

from typing import Unpack
from uuid import UUID

from spotthebot.clients.operations import Call, IdempotencyKey, Listing, Paging, operation
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
        self, subscription: SubscriptionIn, **key: Unpack[IdempotencyKey]
    ) -> Call[SubscriptionWithSecretOut]:
        """Subscribe a URL to events. The answer holds the signing secret, which is not shown again."""
        return Call(
            SubscriptionWithSecretOut,
            "POST",
            "/v1/subscriptions",
            body=subscription,
            **key,
        )

    @operation
    def list_subscriptions(self, **paging: Unpack[Paging]) -> Listing[SubscriptionOut]:
        """List subscriptions, oldest first. A team sees only its own subscriptions."""
        return Listing(SubscriptionOut, "/v1/subscriptions", paging)

    @operation
    def get_subscription(self, subscription_id: UUID) -> Call[SubscriptionOut]:
        """Return a subscription."""
        return Call(SubscriptionOut, "GET", f"/v1/subscriptions/{subscription_id}")

    @operation
    def change_subscription(self, subscription_id: UUID, changes: SubscriptionChangesIn) -> Call[SubscriptionOut]:
        """Change a subscription's URL or event types, or switch it on or off.

        Fields that are not set keep their values.
        """
        return Call(SubscriptionOut, "PATCH", f"/v1/subscriptions/{subscription_id}", body=changes)

    @operation
    def delete_subscription(self, subscription_id: UUID) -> Call[None]:
        """Delete a subscription with its deliveries. Pending deliveries are not sent."""
        return Call(type(None), "DELETE", f"/v1/subscriptions/{subscription_id}")

    @operation
    def rotate_subscription_secret(
        self, subscription_id: UUID, secret: NewSecretIn, **key: Unpack[IdempotencyKey]
    ) -> Call[SubscriptionWithSecretOut]:
        """Replace the signing secret. During the overlap, messages are signed with the old secret as well."""
        path = f"/v1/subscriptions/{subscription_id}/secret"
        return Call(SubscriptionWithSecretOut, "POST", path, body=secret, **key)

    @operation
    def test_subscription(self, subscription_id: UUID, **key: Unpack[IdempotencyKey]) -> Call[DeliveryOut]:
        """Send an event of type `subscription.test` to this subscriber alone."""
        return Call(DeliveryOut, "POST", f"/v1/subscriptions/{subscription_id}/test", **key)

    @operation
    def list_deliveries(
        self, subscription_id: UUID, *, state: DeliveryState | None = None, **paging: Unpack[Paging]
    ) -> Listing[DeliveryOut]:
        """List the deliveries to this subscriber, oldest first."""
        return Listing(DeliveryOut, f"/v1/subscriptions/{subscription_id}/deliveries", paging, params={"state": state})

    @operation
    def replay_subscription(
        self, subscription_id: UUID, request: ReplayIn, **key: Unpack[IdempotencyKey]
    ) -> Call[ReplayedOut]:
        """Send this subscriber again all its events since a given time. Events keep their ids."""
        return Call(ReplayedOut, "POST", f"/v1/subscriptions/{subscription_id}/replay", body=request, **key)

    @operation
    def list_events(self, *, type: str | None = None, **paging: Unpack[Paging]) -> Listing[EventOut]:  # noqa: A002 - the API's name
        """List events, oldest first; a team sees the events of its bots."""
        return Listing(EventOut, "/v1/events", paging, params={"type": type})

    @operation
    def replay_event(self, event_id: UUID, **key: Unpack[IdempotencyKey]) -> Call[ReplayedOut]:
        """Send an event again to each of your subscriptions that receives its type."""
        return Call(ReplayedOut, "POST", f"/v1/events/{event_id}/replay", **key)
