"""What people agree to: instructions, a text to consent to, their pay and its files, and the erasure of their words."""

import hashlib
from decimal import Decimal
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema

from spotthebot.contracts.wire import Text, Wire, of_form

Instructions = Annotated[Text, StringConstraints(max_length=20_000)]
ConsentText = Annotated[Text, StringConstraints(max_length=20_000)]
Currency = Annotated[
    str,
    AfterValidator(of_form("[A-Z]{3}", "must be three capital letters, such as EUR")),
    WithJsonSchema({"type": "string", "pattern": "^[A-Z]{3}$"}),
]
PayAmount = Annotated[
    Decimal,
    Field(ge=0, le=10_000, max_digits=9, decimal_places=2),
    AfterValidator(lambda amount: amount.quantize(Decimal("0.01"))),  # 1.5 and 1.50 are one amount, and one text
]
"""What a person gets for one piece of work."""
TextSha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class ConsentTextOut(Wire):
    """The text that a person has to consent to before they begin."""

    text: str
    sha256: str


def consent_sha256_of(text: str) -> str | None:
    """Return the hash of a text that people consent to, in UTF-8; None without a text."""
    return hashlib.sha256(text.encode()).hexdigest() if text else None


class PaymentFile(StrEnum):
    """A file for paying people."""

    PAYMENTS = "payments"
    """A table of all payments to each person."""
    APPROVALS = "approvals"
    """The ids for the panel to approve, one a line: people, or assignments of Mechanical Turk."""
    BONUSES = "bonuses"
    """The payments in addition to the panel's reward, in the panel's own format."""


class SubmittedTexts(StrEnum):
    """How an erasure treats a person's own words: free texts in annotations, and what they said in chats.

    They may contain personal words, but are also data of the study.
    """

    ERASE = "erase"
    """The word `erased` replaces the texts."""
    KEEP = "keep"
    """The texts stay, under a random name."""
