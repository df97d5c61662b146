"""Signs messages of events by Standard Webhooks. The signing secrets are stored encrypted."""

import json
from datetime import UTC, datetime
from typing import Any

from spotthebot.kit.crypto.signatures import NotASigningSecret, new_signing_secret, signed_headers, signing_key
from spotthebot.kit.crypto.vault import Vault
from spotthebot.kit.errors import FieldError
from spotthebot.kit.events.domain import Event, Subscription


class EventSigner:
    """Seals the secrets of subscriptions and signs messages with them."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def seal(self, secret: str | None) -> tuple[str, bytes]:
        """Return a secret and its sealed form. Without `secret`, make a new one. Raises NotASigningSecret."""
        if secret is None:
            secret = new_signing_secret()
        try:
            signing_key(secret)
        except NotASigningSecret as error:
            raise NotASigningSecret(fields=(FieldError("/secret", error.detail),)) from None
        return secret, self._vault.seal(secret)

    def signed_headers(self, event: Event, body: bytes, subscription: Subscription, now: datetime) -> dict[str, str]:
        """Return the headers of a message that is sent now. Raises Unreadable if the vault's key was lost.

        An event has the same `webhook-id` in each attempt and for each subscriber.
        """
        secrets = [self._vault.open(each) for each in subscription.sealed_secrets(now)]
        return signed_headers(f"evt_{event.id.hex}", now, body, secrets)


def message_body(event: Event, data: dict[str, Any]) -> bytes:
    """Return the body of an event's message. Every attempt sends the same bytes."""
    message = {"type": event.type, "timestamp": event.created_at.astimezone(UTC).isoformat(), "data": data}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
