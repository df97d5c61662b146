"""A small model of a campaign: its packages, assignments and drafts, and which answers are refused."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg

from spotthebot.annotation.assignments.errors import (
    NoSuchAssignment,
    NoSuchItem,
    StepLocked,
    StepNotShown,
    StepUnanswered,
)
from spotthebot.annotation.leases.errors import AssignmentExpired, AssignmentSubmitted
from spotthebot.annotation.protocols.errors import InvalidAnswer
from spotthebot.kit.errors import Error
from tests.factories.databases import DatabaseUrls
from tests.factories.stored_campaigns import fill_campaign

LEASE, LONGEST_PAUSE = timedelta(seconds=600), timedelta(seconds=60)
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
PEOPLE = (("one", "ann"), ("one", "ben"), ("one", "cleo"), ("two", "ann"), ("two", "dora"))
"""Annotators by frontend: the same name at two frontends is two people."""
FEATURES = {"fluency": "A", "sensibleness": "tie", "specificity": "B"}
DECISIONS: tuple[dict[str, str], ...] = ({"A": "human", "B": "bot"}, {"A": "bot", "B": "bot"})
ANSWERS: tuple[dict[str, Any], ...] = (
    {},
    {"entity": {"A": "human"}},
    {"entity": {"A": "nobody"}},
    {"fluency": "A"},
    *({"entity": decision} for decision in DECISIONS),
    *({"entity": decision, "fluency": "B"} for decision in DECISIONS),
    *({"entity": decision} | FEATURES for decision in DECISIONS),
)


@dataclass(frozen=True)
class Shape:
    """A campaign as it was written into the tables."""

    id: UUID
    size: int
    redundancy: int
    limit: int
    conversations: dict[UUID, frozenset[UUID]]
    """Those that each package shows, by the package's id, in the order of ids."""


@dataclass
class Draft:
    answer: dict[str, Any] = field(default_factory=dict)
    step: int = 1
    version: int = 0
    active_ms: int = 0


@dataclass
class Held:
    """An assignment of the model."""

    id: UUID
    person: tuple[str, str]
    package: UUID
    expires_at: datetime
    state: str = "leased"
    is_erased: bool = False
    """Whether its annotator is nobody's any more: their frontend finds it no longer."""
    heard: tuple[datetime, int] | None = None
    """When the annotator was last heard of, and with which item on the screen."""
    code: str | None = None
    drafts: dict[int, Draft] = field(default_factory=dict)

    @property
    def has_ended(self) -> bool:
        return self.state in {"submitted", "rejected"}

    @property
    def takes_slot(self) -> bool:
        return self.state in {"leased", "submitted"}

    def end(self, now: datetime) -> None:
        """End the lease before its time."""
        self.state, self.expires_at = "expired", min(self.expires_at, now)

    def is_due(self, now: datetime) -> bool:
        return self.state == "leased" and self.expires_at <= now


@dataclass
class Model:
    """A campaign and its assignments, in the order in which they were made."""

    shape: Shape
    held: list[Held] = field(default_factory=list)

    @property
    def needed(self) -> int:
        """How many assignments complete the campaign."""
        return len(self.shape.conversations) * self.shape.redundancy

    def pick(self, pick: int) -> Held:
        """Return an assignment, mostly one that has not ended and whose annotator is there."""
        candidates = [each for each in self.held if not each.has_ended and not each.is_erased] if pick < 5 else []
        return (candidates or self.held)[pick % len(candidates or self.held)]

    def of(self, person: tuple[str, str]) -> list[Held]:
        return [each for each in self.held if each.person == person and not each.is_erased]

    def count(self, state: str) -> int:
        return sum(each.state == state for each in self.held)

    def slots_left(self, package: UUID) -> int:
        return self.shape.redundancy - sum(each.package == package and each.takes_slot for each in self.held)

    def available(self, person: tuple[str, str]) -> Held | UUID | None:
        """Return what a claim gives: a package of this annotator's that expired, else the next one of new texts."""
        mine = sorted(self.of(person), key=lambda each: each.id)
        for each in mine:
            if each.state == "expired" and self.slots_left(each.package) > 0:
                return each
        seen = {conversation for each in mine for conversation in self.shape.conversations[each.package]}
        free = (package for package in self.shape.conversations if self.slots_left(package) > 0)
        return next((package for package in free if not seen & self.shape.conversations[package]), None)

    def refusal(self, one: Held, position: int | None, now: datetime) -> type[Error] | None:
        """Return how work on an assignment is refused, whatever the answer."""
        if one.is_erased:
            return NoSuchAssignment
        if one.has_ended:
            return AssignmentSubmitted
        if one.state == "expired" or one.expires_at <= now:
            return AssignmentExpired
        return NoSuchItem if position is not None and position >= self.shape.size else None


def refused_answer(draft: Draft, answer: dict[str, Any], show_step: int | None) -> type[Error] | None:
    """Return how an answer to `spot_the_bot` is refused: decisions come first, and stay once features are shown."""
    entity = answer.get("entity", {})
    if "nobody" in entity.values():
        return InvalidAnswer
    if draft.step == 1 and answer.keys() & FEATURES.keys():
        return StepNotShown
    if draft.step == 2 and answer.get("entity") != draft.answer.get("entity"):
        return StepLocked
    if show_step is not None and show_step > 2:
        return StepNotShown
    if draft.step == 1 and show_step == 2 and len(entity) < 2:
        return StepUnanswered
    return None


def shape_of(database: DatabaseUrls, *, packages: int, size: int, redundancy: int, limit: int) -> Shape:
    lease = int(LEASE.total_seconds())
    url = database.owner["annotation"]
    campaign_id = fill_campaign(
        url, packages=packages, size=size, redundancy=redundancy, limit=limit, lease_seconds=lease, state="draft"
    )
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT package_id, array_agg(conversation_id) FROM annotation.items WHERE campaign_id = %s"
            " GROUP BY 1 ORDER BY 1",
            [campaign_id],
        ).fetchall()
    return Shape(campaign_id, size, redundancy, limit, {package: frozenset(shown) for package, shown in rows})
