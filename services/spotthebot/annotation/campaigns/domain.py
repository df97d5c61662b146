"""A campaign, its states, which state may follow which, and the pseudonyms of its annotators.

Pseudonyms are for those who may see what was annotated and not by whom.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Final
from uuid import UUID

from spotthebot.annotation.campaigns.errors import (
    CampaignCannotMove,
    CampaignClosed,
    CampaignNotBuilt,
    CampaignNotDeletable,
    CampaignNotEnded,
    CampaignTakesNoClaims,
    NoPay,
    PackagesNotNamed,
)
from spotthebot.annotation.protocols.domain.exchanges import opens_one_by_one
from spotthebot.annotation.protocols.domain.questions import Unit
from spotthebot.contracts.annotation.campaign_changes import UNSEEN
from spotthebot.contracts.annotation.campaigns import CampaignId, CampaignState
from spotthebot.contracts.annotation.panels import StoredPanel
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.annotation.requirements import GoldItems, RequiredTraining
from spotthebot.contracts.annotation.trainings import Training
from spotthebot.kit.crypto.pseudonyms import name_in_exports

TRANSITIONS: Final[Mapping[CampaignState, frozenset[CampaignState]]] = MappingProxyType(
    {
        CampaignState.BUILDING: frozenset(
            {CampaignState.DRAFT, CampaignState.OPEN, CampaignState.CLOSED, CampaignState.FAILED}
        ),
        CampaignState.DRAFT: frozenset({CampaignState.BUILDING, CampaignState.OPEN, CampaignState.CLOSED}),
        CampaignState.OPEN: frozenset({CampaignState.PAUSED, CampaignState.COMPLETE, CampaignState.CLOSED}),
        CampaignState.PAUSED: frozenset({CampaignState.OPEN, CampaignState.COMPLETE, CampaignState.CLOSED}),
        CampaignState.COMPLETE: frozenset({CampaignState.OPEN}),
        CampaignState.CLOSED: frozenset(),
        CampaignState.FAILED: frozenset({CampaignState.BUILDING}),
    }
)
"""The states that may follow each state; the conditions of the SQL come from here.

A draft, or one that failed, is built again when it is edited. A complete campaign is open again when work in it is
rejected, or when it is to have more.
"""
_SIMULATED: Final = "simulated-"


def states_before(state: CampaignState) -> tuple[CampaignState, ...]:
    """Return the states from which a campaign may come to `state`."""
    return tuple(before for before, following in TRANSITIONS.items() if state in following)


def unit_of(protocol: AnnotationProtocol, segments: tuple[int, ...]) -> Unit:
    """Return what an item shows by a protocol.

    Dialogues whose exchanges are opened one by one can be opened to the longest length of the campaign, all as far.
    """
    if protocol.unit.kind == "pair":
        return Unit(dialogues=2)
    if protocol.unit.kind == "segment":
        return Unit(segments)
    return Unit(segments[-1:] if opens_one_by_one(protocol) else ())


@dataclass(frozen=True)
class Progress:
    """How much a campaign holds, and how much of it is done."""

    packages: int
    items: int
    annotations: int
    submitted: int


@dataclass(frozen=True)
class Campaign:
    """The annotation of collections' conversations; `failure` says why one in state FAILED has no packages.

    Not shown are `too_short` conversations, those `not_selected` from the collections, and the one of an odd number
    that has no other beside it (`unpaired`); all three are None where that was not counted, as in imports.
    """

    id: CampaignId
    name: str
    domain: str
    collections: tuple[UUID, ...]
    human_share: float | None
    mode: str
    protocol: str
    protocol_version: int
    segments: tuple[int, ...]
    annotations_per_segment: int
    package_size: int
    packages_per_annotator: int | None
    lease_seconds: int
    pay_per_package: Decimal | None
    currency: str | None
    instructions: str
    consent: str
    panel: StoredPanel | None
    training: RequiredTraining | None
    gold: GoldItems | None
    max_strikes: int | None
    min_seconds_per_item: float | None
    min_fraction_of_median: float | None
    strike_fast_packages: bool
    seed: int
    annotators_published: bool
    opens_when_built: bool
    created_at: datetime
    state: CampaignState
    failure: str | None
    released_at: datetime | None
    published_at: datetime | None
    too_short: int | None
    not_selected: int | None
    unpaired: int | None
    progress: Progress

    @property
    def lease(self) -> timedelta:
        """How long an annotator may keep a package without a sign of life."""
        return timedelta(seconds=self.lease_seconds)

    @property
    def lease_minutes(self) -> int:
        """The lease as requests have it, in whole minutes."""
        return self.lease_seconds // 60

    @property
    def consent_sha256(self) -> str | None:
        """The version of the text that annotators consent to; None where there is none."""
        return hashlib.sha256(self.consent.encode()).hexdigest() if self.consent else None

    @property
    def takes_claims(self) -> bool:
        """Whether it is annotated here."""
        return self.mode in {"live", "uploaded"}

    @property
    def is_fully_annotated(self) -> bool:
        """Whether as many annotators submitted each package as it needs; an import is never complete by itself."""
        needed = self.progress.packages * self.annotations_per_segment
        return self.takes_claims and self.progress.submitted >= needed

    @property
    def annotations_needed(self) -> int:
        """How many annotations it is to have: one of each item by as many annotators, and of an import what it has."""
        planned = self.progress.items * self.annotations_per_segment
        return planned if self.takes_claims else max(planned, self.progress.annotations)

    @property
    def checks_work(self) -> bool:
        """Whether submitted packages are checked: by gold items or by their time."""
        rules = (self.gold, self.min_seconds_per_item, self.min_fraction_of_median)
        return any(rule is not None for rule in rules)

    def require_claims(self) -> None:
        """Raise CampaignTakesNoClaims or CampaignClosed unless packages can be claimed."""
        self.require_live()
        if self.state is not CampaignState.OPEN:
            raise CampaignClosed(name=self.name, state=self.state)

    def require_live(self) -> None:
        """Raise CampaignTakesNoClaims where a campaign was annotated elsewhere."""
        if not self.takes_claims:
            raise CampaignTakesNoClaims(name=self.name)

    def require_pay(self) -> tuple[Decimal, str]:
        """Return the pay per package and its currency; raises NoPay."""
        if self.pay_per_package is None or self.currency is None:
            raise NoPay(name=self.name)
        return self.pay_per_package, self.currency

    def require_deletable(self) -> None:
        """Raise CampaignNotDeletable where annotators may have seen it, or its packages are being made."""
        if self.state not in UNSEEN:
            raise CampaignNotDeletable(name=self.name, state=self.state)

    def require_named_packages(self) -> None:
        """Raise PackagesNotNamed where the service chooses what an annotator gets."""
        if self.mode != "uploaded":
            raise PackagesNotNamed(name=self.name)

    def require_built(self) -> None:
        """Raise CampaignClosed where packages are not there, or never will be."""
        if self.state in {CampaignState.BUILDING, CampaignState.FAILED}:
            raise CampaignClosed(name=self.name, state=self.state)

    def require_ended(self) -> None:
        """Raise CampaignNotEnded where annotations are still to come: who sees a ranking grow can steer it."""
        if self.state not in {CampaignState.COMPLETE, CampaignState.CLOSED}:
            raise CampaignNotEnded(name=self.name, state=self.state)

    def require_move(self, state: CampaignState) -> None:
        """Raise CampaignCannotMove where `state` may not follow the present one, nor is it.

        Only the work that makes the packages leads on from there: raises CampaignNotBuilt before it is done.
        """
        if self.state is CampaignState.BUILDING:
            raise CampaignNotBuilt(name=self.name)
        misses_nothing = self.state is CampaignState.COMPLETE and self.is_fully_annotated
        if self.state is not state and (state not in TRANSITIONS[self.state] or misses_nothing):
            raise CampaignCannotMove(name=self.name, state=self.state, requested=state)


@dataclass(frozen=True)
class Terms:
    """What the assignments of a campaign go by, `gold` dialogues among it; none of it changes once it was opened."""

    protocol: AnnotationProtocol
    gold: Training | None


def is_like_a_program(name: str) -> bool:
    """Return whether results would take who is called so for a simulated annotator."""
    return name.startswith(_SIMULATED)


@dataclass(frozen=True)
class Pseudonyms:
    """What the annotators of a campaign are called outside of it: made with its `key`, unless their names are public.

    `are_published` says that a study was published with the names of its annotators, and imported with them.
    """

    key: bytes = field(repr=False)
    are_published: bool

    def name_of(self, annotator_id: UUID, name: str) -> str:
        """Return the name of an annotator in exports, made from our id of them, so that it outlives their erasure."""
        return name if self.are_published else name_in_exports(self.key, annotator_id.bytes, name)
