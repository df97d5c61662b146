"""What annotators are paid, and the files by which panels pay them. Money is decimal, and never rounded.

The forms are from Prolific's API reference (set up bonuses) and from Amazon's SendBonus, as read on 2026-11-22.
CloudResearch Connect has a template for its CSV, whose columns it does not publish.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from spotthebot.annotation.domain.campaigns import Campaign
from spotthebot.contracts.panels import CloudResearchPanel, MturkPanel, ProlificPanel

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
CENT = Decimal("0.01")
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


def rewarded_packages(campaign: Campaign, packages: int) -> int:
    """Return for how many packages of an annotator the panel pays its reward: it is one package's pay."""
    match campaign.panel:
        case ProlificPanel() | CloudResearchPanel():
            return min(packages, 1)
        case MturkPanel():
            return packages
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
    """Return ids, one a line."""
    return _csv([each] for each in ids)


def bonus_lines(payments: Iterable[Payment]) -> str:
    """Return what each annotator gets beside the panel's reward, as Prolific takes it: `id,amount` without a header."""
    return _csv((each.annotator, each.total - each.reward) for each in payments if each.total - each.reward > _NOTHING)


def turk_bonuses(bonuses: Iterable[Bonus]) -> str:
    """Return bonuses with the parameters of Mechanical Turk's SendBonus as columns; a repeat pays no second time."""
    header = ("WorkerId", "AssignmentId", "BonusAmount", "Reason", "UniqueRequestToken")
    rows = ((each.annotator, each.panel_assignment or "", each.amount, each.reason, each.id) for each in bonuses)
    return _csv([header, *rows])


def _csv(rows: Iterable[Sequence[object]]) -> str:
    written = io.StringIO(newline="")
    csv.writer(written).writerows([_cell(value) for value in row] for row in rows)
    return written.getvalue()


def _cell(value: object) -> str:
    """Return a cell that no spreadsheet takes for a formula: text that looks like one gets an apostrophe before it."""
    if isinstance(value, Decimal):
        return f"{value:.2f}"
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
