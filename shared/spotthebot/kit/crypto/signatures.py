"""Standard Webhooks: signing secrets, and the headers of signed requests."""

import base64
import binascii
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from standardwebhooks import Webhook

from spotthebot.kit.errors import Invalid

_PREFIX = "whsec_"
_SIGNING_BYTES = range(24, 65)


class NotASigningSecret(Invalid):
    """A webhook's secret has the form whsec_ followed by the base64 of 24 to 64 random bytes."""


def signing_key(secret: str) -> bytes:
    """Return the bytes in a Standard Webhooks secret; raises NotASigningSecret."""
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise NotASigningSecret from None
    if not secret.startswith(_PREFIX) or len(key) not in _SIGNING_BYTES:
        raise NotASigningSecret
    return key


def new_signing_secret() -> str:
    """Make a secret of 32 random bytes."""
    return f"{_PREFIX}{base64.b64encode(secrets.token_bytes(32)).decode()}"


def signed_headers(message_id: str, now: datetime, body: bytes, signing_secrets: Sequence[str]) -> dict[str, str]:
    """Return the headers of a Standard Webhooks message, with one signature for each secret.

    While a subscription changes its secret, both the old and the new secret sign. A message that is sent again keeps
    its id and gets a new time.
    """
    signatures = (Webhook(each).sign(message_id, now.astimezone(UTC), body.decode()) for each in signing_secrets)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
