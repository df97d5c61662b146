"""Payments of annotators, and the files by which panels pay them. Amounts are decimal, and never rounded.

Formats: Prolific's API reference (set up bonuses) and Amazon's SendBonus, read on 2026-11-22. CloudResearch Connect has
a CSV template, but does not publish its columns.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.panels import CloudResearchPanel, MturkPanel, ProlificPanel
from spotthebot.kit.text.csv_files import csv_of

CENT = Decimal("0.01")
_ANOTHER_PACKAGE = "Another package that you annotated."
_NOTHING = Decimal("0.00")


@dataclass(frozen=True)
class Bonus:
    """An amount in addition to the pay, and its reason; `panel_assignment` is Mechanical Turk's assignment."""

    id: UUID
    annotator_id: UUID
    annotator: str
    amount: Decimal
    reason: str
    granted_at: datetime
    panel_assignment: str | None


@dataclass(frozen=True)
class PaidPackage:
    """A submitted package, and the Mechanical Turk assignment of its annotator's last entry before the submission."""

    assignment_id: UUID
    annotator: str
    panel_assignment: str | None


@dataclass(frozen=True)
class Payment:
    """An annotator's payment: the pay for submitted packages, and bonuses."""

    annotator_id: UUID
    annotator: str
    kind: AnnotatorKind
    frontend: str
    packages: int
    bonuses: Decimal
    pay_per_package: Decimal
    rewarded_packages: int

    @property
    def pay(self) -> Decimal:
        return self.packages * self.pay_per_package

    @property
    def total(self) -> Decimal:
        return self.pay + self.bonuses

    @property
    def reward(self) -> Decimal:
        """The amount that the panel pays when the work is approved."""
        return self.rewarded_packages * self.pay_per_package


def rewarded_packages(campaign: Campaign, packages: int, *, panel_assignments: int, is_rewarded: bool) -> int:
    """Return for how many packages of an annotator the panel pays its reward. The reward is the pay of one package.

    Prolific and Connect pay a person once; `is_rewarded` says that they were paid through another frontend before.
    Mechanical Turk pays once for each of its own assignments: `panel_assignments` counts those of the annotator's
    packages.
    """
    match campaign.panel:
        case ProlificPanel() | CloudResearchPanel():
            return 0 if is_rewarded else min(packages, 1)
        case MturkPanel():
            return panel_assignments
    return 0


def payment_table(payments: Iterable[Payment], currency: str) -> str:
    """Return a table of payments as CSV (RFC 4180), with a header."""
    header = ("annotator", "kind", "frontend", "packages", "pay", "bonuses", "total", "reward", "currency")
    rows = (
        (
            *(each.annotator, each.kind, each.frontend, each.packages),
            *(each.pay, each.bonuses, each.total, each.reward, currency),
        )
        for each in payments
    )
    return csv_of([header, *rows])


def bonus_lines(payments: Iterable[Payment]) -> str:
    """Return each annotator's amount in addition to the panel's reward, in Prolific's format: `id,amount`, no header.

    People who came through several frontends have one line.
    """
    beside: dict[str, Decimal] = defaultdict(Decimal)
    for each in payments:
        beside[each.annotator] += each.total - each.reward
    return csv_of((annotator, amount) for annotator, amount in beside.items() if amount > _NOTHING)


def turk_bonuses(packages: Iterable[PaidPackage], pay_per_package: Decimal, bonuses: Iterable[Bonus]) -> str:
    """Return bonuses as CSV with the parameters of Mechanical Turk's SendBonus; its `token` prevents double payment.

    Packages without an approved Mechanical Turk assignment of their own are paid as bonuses, too. Mechanical Turk pays
    each assignment only once.
    """
    header = ("WorkerId", "AssignmentId", "BonusAmount", "Reason", "UniqueRequestToken")
    approved: set[tuple[str, str]] = set()
    rows: list[tuple[object, ...]] = []
    for package in packages:
        work = (package.annotator, package.panel_assignment or "")
        if (work in approved or not package.panel_assignment) and pay_per_package > _NOTHING:
            rows.append((*work, pay_per_package, _ANOTHER_PACKAGE, package.assignment_id))
        approved.add(work)
    rows += [(each.annotator, each.panel_assignment or "", each.amount, each.reason, each.id) for each in bonuses]
    return csv_of([header, *rows])
