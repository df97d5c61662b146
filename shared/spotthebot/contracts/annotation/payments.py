"""Payments to a campaign's annotators: packages and bonuses."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.wire import Name, Wire, Words


class BonusIn(Wire):
    """A bonus for an annotator."""

    amount: Decimal = Field(gt=0, le=10_000, max_digits=9, decimal_places=2, description="In the campaign's currency.")
    reason: Words
    occasion: Name | None = Field(
        default=None,
        description="A bonus for an occasion, such as `winner`, is granted to an annotator once: a repeat, by anybody"
        " and at any time, returns it.",
    )


class BonusOut(Wire):
    """A granted bonus."""

    id: UUID
    annotator_id: UUID
    amount: Decimal
    currency: str
    reason: str
    granted_at: datetime


class PaymentOut(Wire):
    """The payments to one annotator."""

    annotator_id: UUID
    annotator: str
    kind: AnnotatorKind = Field(description="Programs are paid by the same rule: the file says which they are.")
    frontend: str
    packages: int = Field(description="Packages that were submitted.")
    pay: Decimal = Field(description="For these packages.")
    bonuses: Decimal
    total: Decimal
    reward: Decimal = Field(
        description=(
            "Of the total, what the panel pays when the work is approved: one package a person on Prolific and "
            "Connect, one for each assignment of Mechanical Turk, nothing elsewhere."
        )
    )
    currency: str
