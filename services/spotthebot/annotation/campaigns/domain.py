"""A campaign, its states, the order of the states, and the pseudonyms of its annotators.

Pseudonyms are for readers who may see annotations but not the annotators' ids.
"""

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
    HeadlineUnknown,
    HeadlineUnused,
    NoPay,
    PackagesNotNamed,
    PairsUnused,
)
from spotthebot.annotation.protocols.domain.questions import Unit
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.campaign_changes import UNSEEN
from spotthebot.contracts.annotation.campaign_settings import Pairs
from spotthebot.contracts.annotation.campaigns import ENDED, CampaignId, CampaignState
from spotthebot.contracts.annotation.measures import measured_questions
from spotthebot.contracts.annotation.panels import StoredPanel
from spotthebot.contracts.annotation.protocols import LABELS_OF_SPEAKERS, AnnotationProtocol
from spotthebot.contracts.annotation.requirements import GoldItems, RequiredTraining
from spotthebot.contracts.annotation.trainings import Training
from spotthebot.contracts.annotation.verdicts import StopWhen, words_of
from spotthebot.contracts.terms import consent_sha256_of
from spotthebot.kit.crypto.pseudonyms import name_in_exports
from spotthebot.kit.errors import FieldError

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
"""The states that may follow each state; SQL conditions are made from this table.

A draft, or a failed campaign, is built again when it is edited. A complete campaign is opened again when work in it is
rejected, or when it gets more.
"""


def states_before(state: CampaignState) -> tuple[CampaignState, ...]:
    """Return the states from which a campaign may reach `state`."""
    return tuple(before for before, following in TRANSITIONS.items() if state in following)


def unit_of(protocol: AnnotationProtocol, segments: tuple[int, ...]) -> Unit:
    """Return the unit that a protocol's items show.

    If exchanges open one by one, every dialogue can be opened up to the longest length of the campaign.
    """
    if protocol.unit.kind == "pair":
        return Unit(dialogues=2)
    if protocol.unit.kind == "segment":
        return Unit(segments)
    return Unit(segments[-1:] if protocol.opens_one_by_one else ())


@dataclass(frozen=True)
class Progress:
    """The size of a campaign, and the finished part of it."""

    packages: int
    items: int
    annotations: int
    submitted: int


@dataclass(frozen=True)
class Campaign:
    """The annotation of collections' conversations; `failure` says why a campaign in state FAILED has no packages.

    Three fields count conversations that are not shown: `too_short`; `not_selected` from the collections; `unpaired`,
    the dialogues that were to be compared in pairs and found no partner. They are None if nothing was counted, as in
    imports.

    `extra_assignments` and `extra_annotations` are the submissions and annotations that packages need in addition to
    `annotations_per_segment` of each: by `units_twice`, or as their upload said.
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
    judge_annotations_per_segment: int
    pairs: Pairs
    units_twice: int | None
    headline: str | None
    margin: float | None
    stop_when: StopWhen | None
    stopped_at: datetime | None
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
    extra_assignments: int
    extra_annotations: int
    progress: Progress

    @property
    def lease(self) -> timedelta:
        """The time for which an annotator may keep a package without a sign of life."""
        return timedelta(seconds=self.lease_seconds)

    @property
    def lease_minutes(self) -> int:
        """The lease in whole minutes, as requests to create a campaign state it."""
        return self.lease_seconds // 60

    @property
    def consent_sha256(self) -> str | None:
        """The hash of the text that annotators consent to; None without a text."""
        return consent_sha256_of(self.consent)

    @property
    def stop_reason(self) -> str | None:
        """Why the campaign paused by its own rule; None if it did not."""
        return None if self.stopped_at is None or self.stop_when is None else words_of(self.stop_when)

    @property
    def takes_claims(self) -> bool:
        """Whether the campaign's packages can be claimed, i.e. the campaign is not an import."""
        return self.mode in {"live", "uploaded"}

    @property
    def is_fully_annotated(self) -> bool:
        """Whether every package was submitted by as many annotators as it needs; never true for an import."""
        return self.takes_claims and self.progress.submitted >= self.assignments_needed

    @property
    def assignments_needed(self) -> int:
        """The number of submissions to reach: packages times annotators, and the extra ones."""
        return self.progress.packages * self.annotations_per_segment + self.extra_assignments

    @property
    def annotations_needed(self) -> int:
        """Items times annotators, and the extra ones; of an import at least the number of annotations stored."""
        planned = self.progress.items * self.annotations_per_segment + self.extra_annotations
        return planned if self.takes_claims else max(planned, self.progress.annotations)

    @property
    def checks_work(self) -> bool:
        """Whether submitted packages are checked, by gold items or by time."""
        rules = (self.gold, self.min_seconds_per_item, self.min_fraction_of_median)
        return any(rule is not None for rule in rules)

    def require_claims(self) -> None:
        """Raise CampaignTakesNoClaims or CampaignClosed unless packages can be claimed."""
        self.require_live()
        if self.state is not CampaignState.OPEN:
            raise CampaignClosed(name=self.name, state=self.state)

    def require_open_to_judges(self) -> None:
        """Raise CampaignClosed before the campaign was opened. Judges may label afterwards, and label imports, too."""
        if self.state in {*UNSEEN, CampaignState.BUILDING}:
            raise CampaignClosed(name=self.name, state=self.state)

    def require_live(self) -> None:
        """Raise CampaignTakesNoClaims if a campaign is an import."""
        if not self.takes_claims:
            raise CampaignTakesNoClaims(name=self.name)

    def require_pay(self) -> tuple[Decimal, str]:
        """Return the pay per package and its currency; raises NoPay."""
        if self.pay_per_package is None or self.currency is None:
            raise NoPay(name=self.name)
        return self.pay_per_package, self.currency

    def require_deletable(self) -> None:
        """Raise CampaignNotDeletable if annotators may have seen the campaign, or its packages are being made."""
        if self.state not in UNSEEN:
            raise CampaignNotDeletable(name=self.name, state=self.state)

    def require_named_packages(self) -> None:
        """Raise PackagesNotNamed if the service chooses the packages."""
        if self.mode != "uploaded":
            raise PackagesNotNamed(name=self.name)

    def require_built(self) -> None:
        """Raise CampaignClosed while packages are being made, or if making them failed."""
        if self.state in {CampaignState.BUILDING, CampaignState.FAILED}:
            raise CampaignClosed(name=self.name, state=self.state)

    def require_ended(self) -> None:
        """Raise CampaignNotEnded while annotations may still arrive.

        Otherwise a reader of the growing ranking could influence it.
        """
        if self.state not in ENDED:
            raise CampaignNotEnded(name=self.name, state=self.state)

    def require_move(self, state: CampaignState) -> None:
        """Raise CampaignCannotMove unless `state` may follow the present state, or is the present state.

        Raises CampaignNotBuilt in state BUILDING, which only the job that makes packages can end.
        """
        if self.state is CampaignState.BUILDING:
            raise CampaignNotBuilt(name=self.name)
        misses_nothing = self.state is CampaignState.COMPLETE and self.is_fully_annotated
        if self.state is not state and (state not in TRANSITIONS[self.state] or misses_nothing):
            raise CampaignCannotMove(name=self.name, state=self.state, requested=state)


@dataclass(frozen=True)
class Terms:
    """The protocol and the `gold` dialogues of a campaign's assignments; fixed after the campaign was opened."""

    protocol: AnnotationProtocol
    gold: Training | None


def require_headline(protocol: AnnotationProtocol, headline: str | None) -> None:
    """Raise HeadlineUnused or HeadlineUnknown unless bots can be ranked by this measure of the protocol."""
    if headline is None:
        return
    if protocol.name in LABELS_OF_SPEAKERS:
        raise HeadlineUnused(protocol=protocol.name, fields=(FieldError("/headline", "is not used here"),))
    measures = measured_questions(protocol)
    if headline not in measures:
        raise HeadlineUnknown(
            protocol=protocol.name,
            headline=headline,
            known=", ".join(measures) or "none, since it has no measure",
            fields=(FieldError("/headline", "is no measure of the protocol"),),
        )


def require_pairs(protocol: AnnotationProtocol, pairs: Pairs) -> None:
    """Raise PairsUnused if a rule for pairs is given for a protocol that compares none."""
    if pairs != "any" and protocol.unit.kind != "pair":
        raise PairsUnused(protocol=protocol.name, fields=(FieldError("/pairs", "is not used here"),))


@dataclass(frozen=True)
class Pseudonyms:
    """The names of a campaign's annotators in exports: people have pseudonyms made with its `key`, programs keep names.

    `are_published` says that an imported study was published with the names of its annotators.
    """

    key: bytes = field(repr=False)
    are_published: bool

    def name_of(self, annotator_id: UUID, name: str, kind: AnnotatorKind) -> str:
        """Return the name of an annotator in exports.

        A pseudonym depends only on `annotator_id`, so an erasure does not change it.
        """
        if self.are_published or kind is not AnnotatorKind.PERSON:
            return name
        return name_in_exports(self.key, annotator_id.bytes, name)
