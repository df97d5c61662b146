"""Entry links: what is signed, with which key, and how a link is verified."""

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from spotthebot.annotation.domain.errors import EntryLinkExpired, EntryLinkNotGenuine
from spotthebot.contracts.panels import ENTRY_PARAMETER
from spotthebot.kit.errors import FieldError

_PURPOSE: Final = b"spotthebot annotation entry link 1"
_TOKEN: Final = re.compile(r"([0-9a-f]{32})\.([A-Za-z0-9_-]{43})")


@dataclass(frozen=True)
class EntryLink:
    """A way into a campaign until it expires, through one frontend or any, for one annotator or whom a panel names."""

    id: UUID
    campaign_id: UUID
    frontend: str | None
    annotator: str | None
    expires_at: datetime
    max_annotators: int | None

    def require_current(self, now: datetime) -> None:
        """Raise EntryLinkExpired."""
        if self.expires_at <= now:
            raise EntryLinkExpired(expired_at=self.expires_at.isoformat(timespec="seconds"))


@dataclass(frozen=True)
class Token:
    """What stands in a link's URL: its id, which says nothing, and the signature."""

    link_id: UUID
    signature: str


def sign(link: EntryLink, secret: bytes) -> str:
    """Return the token of a link: signed are its id, campaign, frontend, annotator, end and limit.

    HMAC-SHA256 (RFC 2104) with a key of its own that is expanded from the campaign's secret.
    """
    return f"{link.id.hex}.{_signature(link, secret)}"


def read_token(parameters: Mapping[str, str]) -> Token:
    """Return the token among query parameters; raises EntryLinkNotGenuine."""
    found = _TOKEN.fullmatch(parameters.get(ENTRY_PARAMETER, ""))
    if found is None:
        raise not_genuine()
    return Token(UUID(found[1]), found[2])


def verify(token: Token, link: EntryLink, secret: bytes) -> None:
    """Raise EntryLinkNotGenuine unless a token was signed for this link; the comparison takes constant time."""
    if not hmac.compare_digest(token.signature, _signature(link, secret)):
        raise not_genuine()


def not_genuine() -> EntryLinkNotGenuine:
    """Return the error of links that are unknown, another frontend's or badly signed: nothing tells them apart."""
    return EntryLinkNotGenuine(
        fields=(FieldError(f"/parameters/{ENTRY_PARAMETER}", "must be a token of an entry link"),)
    )


def _signature(link: EntryLink, secret: bytes) -> str:
    signed = [
        link.id.hex,
        link.campaign_id.hex,
        link.frontend,
        link.annotator,
        link.expires_at.astimezone(UTC).isoformat(),
        link.max_annotators,
    ]
    digest = hmac.digest(signing_key(secret), json.dumps(signed).encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def signing_key(secret: bytes) -> bytes:
    """Expand a campaign's secret to the key of its links: HKDF-Expand with SHA-256, one block (RFC 5869, 2.3)."""
    return hmac.digest(secret, _PURPOSE + b"\x01", hashlib.sha256)
