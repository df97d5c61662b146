"""What is noted of a conversation's text, and by which edition of the rules; who reads marks loads no models."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

RULES: Final = 1
"""Counts up with every change of what is computed, a library's release included: older marks are then made anew."""

TRAINING_DEFINITION = (
    "Share of exchanges (two adjacent turns of a conversation with a bot, openings left out) whose words are those of "
    "two adjacent turns of the training split; case, spacing and punctuation do not count."
)


class PersonalDataKind(StrEnum):
    """What was found."""

    EMAIL = "email"
    PHONE = "phone"
    CREDIT_CARD = "credit_card"
    IBAN = "iban"
    IP_ADDRESS = "ip_address"
    SOCIAL_SECURITY_NUMBER = "social_security_number"


@dataclass(frozen=True)
class TextMarks:
    """What one text says; hashes and signature are what it is compared with others by."""

    turns: int
    words: int
    language: tuple[str, float] | None
    profanity: tuple[int, ...]
    personal_data: tuple[tuple[int, PersonalDataKind], ...]
    text_hash: bytes
    signature: bytes
    exchange_hashes: bytes
