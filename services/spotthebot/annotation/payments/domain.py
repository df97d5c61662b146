"""What annotators are paid, and the files by which panels pay them. Money is decimal, and never rounded.

The forms are from Prolific's API reference (set up bonuses) and from Amazon's SendBonus, as read on 2026-11-22.
CloudResearch Connect has a template for its CSV, whose columns it does not publish.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.contracts.annotation.panels import CloudResearchPanel, MturkPanel, ProlificPanel
from spotthebot.kit.text.characters import without_formula

CENT = Decimal("0.01")
_ANOTHER_PACKAGE = "Another package that you annotated."
_NOTHING = Decimal("0.00")


@dataclass(frozen=True)
class Bonus:
    """An amount that an annotator gets beside the pay, and why; `panel_assignment` is Mechanical Turk's."""

    id: UUID
    annotator_id: UUID
    annotator: str
    amount: Decimal
    reason: str
    granted_at: datetime
    panel_assignment: str | None


@dataclass(frozen=True)
class PaidPackage:
    """A package that was submitted, and Mechanical Turk's assignment for which its annotator had come."""

    assignment_id: UUID
    annotator: str
    panel_assignment: str | None


@dataclass(frozen=True)
class Payment:
    """What an annotator gets for the packages that they submitted, and bonuses."""

    annotator_id: UUID
    annotator: str
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
        """What the panel pays when the work is approved."""
        return self.rewarded_packages * self.pay_per_package


def rewarded_packages(campaign: Campaign, packages: int, *, panel_assignments: int, is_rewarded: bool) -> int:
    """Return for how many packages of an annotator the panel pays its reward, which is one package's pay.

    Prolific and Connect pay a person once: `is_rewarded` says that they came through another frontend before.
    Mechanical Turk pays for each of its own assignments, of which the annotator's packages are for so many.
    """
    match campaign.panel:
        case ProlificPanel() | CloudResearchPanel():
            return 0 if is_rewarded else min(packages, 1)
        case MturkPanel():
            return panel_assignments
    return 0


def payment_table(payments: Iterable[Payment], currency: str) -> str:
    """Return a table of payments as CSV (RFC 4180), with a header."""
    header = ("annotator", "frontend", "packages", "pay", "bonuses", "total", "reward", "currency")
    rows = (
        (each.annotator, each.frontend, each.packages, each.pay, each.bonuses, each.total, each.reward, currency)
        for each in payments
    )
    return _csv([header, *rows])


def approvals(ids: Iterable[str]) -> str:
    """Return ids, one a line, each once."""
    return _csv([each] for each in dict.fromkeys(ids))


def bonus_lines(payments: Iterable[Payment]) -> str:
    """Return what each annotator gets beside the panel's reward, as Prolific takes it: `id,amount` without a header.

    Who came through several frontends has one line.
    """
    beside: dict[str, Decimal] = defaultdict(Decimal)
    for each in payments:
        beside[each.annotator] += each.total - each.reward
    return _csv((annotator, amount) for annotator, amount in beside.items() if amount > _NOTHING)


def turk_bonuses(packages: Iterable[PaidPackage], pay_per_package: Decimal, bonuses: Iterable[Bonus]) -> str:
    """Return bonuses with the parameters of Mechanical Turk's SendBonus as columns; a repeat pays no second time.

    So are packages paid for which no assignment of Mechanical Turk is approved: it pays each of its own once.
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
    return _csv([header, *rows])


def _csv(rows: Iterable[Sequence[object]]) -> str:
    written = io.StringIO(newline="")
    csv.writer(written).writerows([_cell(value) for value in row] for row in rows)
    return written.getvalue()


def _cell(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, Decimal) else without_formula(str(value))
