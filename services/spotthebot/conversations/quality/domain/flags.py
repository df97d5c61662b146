"""Quality flags of a conversation, and the version of their rules. Importing this module loads no models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

RULES: Final = 2
"""Increase it with every change of the rules or new release of a library: then older flags are computed again."""

TRAINING_DEFINITION = (
    "Share of exchanges (two adjacent turns of a conversation with a bot, openings left out) whose words are those of "
    "two adjacent turns of the training split; case, spacing and punctuation do not count."
)


class PersonalDataKind(StrEnum):
    """A kind of personal data."""

    EMAIL = "email"
    PHONE = "phone"
    CREDIT_CARD = "credit_card"
    IBAN = "iban"
    IP_ADDRESS = "ip_address"
    SOCIAL_SECURITY_NUMBER = "social_security_number"


@dataclass(frozen=True)
class UnflaggedConversation:
    """A complete conversation without flags from the present rules."""

    conversation_id: UUID
    bot_speaks: bool
    turns: tuple[str, ...]


@dataclass(frozen=True)
class TextFlags:
    """Flags from the text of one conversation, with the hashes and the signature for comparisons."""

    turns: int
    words: int
    language: tuple[str, float] | None
    profanity: tuple[int, ...]
    personal_data: tuple[tuple[int, PersonalDataKind], ...]
    text_hash: bytes
    signature: bytes
    exchange_hashes: bytes


@dataclass(frozen=True)
class QualityFlags:
    """All flags of one conversation, including the flags from comparisons."""

    conversation_id: UUID
    exported_id: str
    """The id in the collection's export, like the two ids of duplicates below."""
    turns: int
    words: int
    language: str | None
    language_probability: float | None
    exact_duplicate_of: UUID | None
    near_duplicate_of: UUID | None
    exact_duplicate_of_exported: str | None
    near_duplicate_of_exported: str | None
    similarity: float | None
    exchanges: int
    in_training: int | None
    profanity: Sequence[int]
    personal_data: Sequence[Mapping[str, Any]]
