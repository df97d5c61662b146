"""Entry links: the signed fields, the signing key, and the verification."""

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

from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.entry_links.errors import (
    EntryLinkExpired,
    EntryLinkNotGenuine,
    EntryLinkRevoked,
    EntryRefused,
    PeopleNotCounted,
)
from spotthebot.annotation.packages.domain.workload import Workload, annotators_of
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.entries import MAX_ANNOTATORS
from spotthebot.contracts.annotation.panels import ENTRY_PARAMETER, SIGNATURE_PARAMETER
from spotthebot.kit.errors import FieldError

_PURPOSE: Final = b"spotthebot annotation entry link 1"
_PURPOSE_OF_IDS: Final = b"spotthebot annotation panel ids 1"
_MARGIN: Final = 2
_TOKEN: Final = re.compile(r"([0-9a-f]{32})\.([A-Za-z0-9_-]{43})")


@dataclass(frozen=True)
class EntryLink:
    """A link into a campaign until `expires_at`: for one or all frontends, for one annotator or a panel's people."""

    id: UUID
    campaign_id: UUID
    frontend: str | None
    annotator: str | None
    expires_at: datetime
    max_annotators: int | None
    signed_ids: bool = False
    revoked_at: datetime | None = None

    @property
    def takes_any_id(self) -> bool:
        """Whether people can enter by this link with made-up ids."""
        return self.annotator is None and not self.signed_ids

    def require_unrevoked(self) -> None:
        """Raise EntryLinkRevoked if the link was revoked."""
        if self.revoked_at is not None:
            raise EntryLinkRevoked(revoked_at=self.revoked_at.isoformat(timespec="seconds"))

    def require_current(self, now: datetime) -> None:
        """Raise EntryLinkRevoked or EntryLinkExpired if the link is not valid any more."""
        self.require_unrevoked()
        if self.expires_at <= now:
            raise EntryLinkExpired(expired_at=self.expires_at.isoformat(timespec="seconds"))


@dataclass(frozen=True)
class Worker:
    """An annotator with their workforce: the people who came by one frontend and one shared link."""

    id: UUID
    external_id: str
    kind: AnnotatorKind
    frontend: str
    link: UUID | None


@dataclass(frozen=True)
class LinkState:
    """A link, its time of creation, and how many people entered by it."""

    link: EntryLink
    annotators: int
    created_at: datetime


def default_max_annotators(campaign: Campaign, workload: Workload) -> int:
    """Return how many people may enter by a link unless the request says so: twice as many as the campaign needs.

    Up to half of the people may leave, fail the training or be blocked, and panels send replacements. Without
    `packages_per_annotator` people may stop after one package, so each package counts as one person. Raises
    PeopleNotCounted before packages are made.
    """
    assignments = sum(workload.assignments(campaign.annotations_per_segment).values())
    if not assignments:
        raise PeopleNotCounted(name=campaign.name)
    needed = assignments if campaign.packages_per_annotator is None else annotators_of(campaign, workload).enough
    return min(MAX_ANNOTATORS, _MARGIN * needed)


@dataclass(frozen=True)
class Token:
    """The token in a link's URL: the id of the link, and the signature. The id reveals nothing."""

    link_id: UUID
    signature: str


def sign(link: EntryLink, secret: bytes) -> str:
    """Return the token of a link. The signature covers its id, campaign, frontend, annotator, end and limit.

    HMAC-SHA256 (RFC 2104) with a separate key, expanded from the campaign's secret.
    """
    return f"{link.id.hex}.{_signature(link, secret)}"


def read_token(parameters: Mapping[str, str]) -> Token:
    """Return the token among query parameters; raises EntryLinkNotGenuine."""
    found = _TOKEN.fullmatch(parameters.get(ENTRY_PARAMETER, ""))
    if found is None:
        raise not_genuine()
    return Token(UUID(found[1]), found[2])


def verify(token: Token, link: EntryLink, secret: bytes) -> None:
    """Raise EntryLinkNotGenuine unless the token was signed for this link; the comparison takes constant time."""
    if not hmac.compare_digest(token.signature, _signature(link, secret)):
        raise not_genuine()


def not_genuine() -> EntryLinkNotGenuine:
    """Return the same error for unknown links, links of other frontends, and wrong signatures."""
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
        *(["signed ids"] if link.signed_ids else []),
    ]
    digest = hmac.digest(signing_key(secret), json.dumps(signed).encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def panel_key(link: EntryLink, secret: bytes) -> str:
    """Return the key, as text, with which the panel of a link signs ids."""
    return signing_key(secret, _PURPOSE_OF_IDS + link.id.bytes).hex()


def require_signed_id(link: EntryLink, secret: bytes, annotator: str, parameters: Mapping[str, str]) -> None:
    """Raise EntryRefused if the link requires signed ids and the panel's signature of the id is missing or wrong.

    The signature is HMAC-SHA256 over the id in UTF-8, in hexadecimal; the comparison takes constant time.
    """
    if not link.signed_ids:
        return
    expected = hmac.new(panel_key(link, secret).encode(), annotator.encode(), hashlib.sha256).hexdigest()
    given = parameters.get(SIGNATURE_PARAMETER, "").lower().encode()
    if not hmac.compare_digest(given, expected.encode()):
        rule = "must be the panel's signature of this id"
        raise EntryRefused(fields=(FieldError(f"/parameters/{SIGNATURE_PARAMETER}", rule),))


def signing_key(secret: bytes, purpose: bytes = _PURPOSE) -> bytes:
    """Expand a campaign's secret to a key for one purpose: HKDF-Expand with SHA-256, one block (RFC 5869, 2.3)."""
    return hmac.digest(secret, purpose + b"\x01", hashlib.sha256)
