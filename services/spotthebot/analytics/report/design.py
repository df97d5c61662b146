"""How a study was made: its conversations, collections, pay and screening, as the report takes them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.conversations.collections import CollectionOut, CollectionPlanOut
from spotthebot.contracts.names import HUMAN_NAME


@dataclass
class Conversations:
    """Complete conversations of a collection, counted: their exchanges, who spoke, and how many had an opening."""

    exchanges: Counter[int] = field(default_factory=Counter)
    speakers: Counter[frozenset[str]] = field(default_factory=Counter)
    """By the names of both, which are one name where a bot talks to itself."""
    opened: int = 0
    with_words: int = 0

    @property
    def complete(self) -> int:
        """How many there are."""
        return self.exchanges.total()

    @property
    def by_people(self) -> int:
        """How many of them are between two people."""
        return self.speakers[frozenset({HUMAN_NAME})]


@dataclass(frozen=True)
class Collection:
    """A collection of the campaign; `corpora` are the names of those that its plan draws from."""

    collection: CollectionOut
    plan: CollectionPlanOut
    corpora: Mapping[str, str]
    conversations: Conversations


@dataclass(frozen=True)
class Paid:
    """What annotators got in all, in the campaign's currency."""

    annotators: int
    packages: Decimal
    bonuses: Decimal

    @property
    def total(self) -> Decimal:
        """For packages and as bonuses."""
        return self.packages + self.bonuses


@dataclass(frozen=True)
class Screened:
    """How annotators did at what checks them."""

    blocked: int
    gold_right: int
    gold_wrong: int


@dataclass(frozen=True)
class Design:
    """A campaign and its collections; `paid` and `screened` are None where the key may not see them.

    `annotated` are the first and the last moment of its annotations, None where they have no times.
    """

    campaign: CampaignOut
    collections: Sequence[Collection]
    paid: Paid | None
    screened: Screened | None
    annotated: tuple[datetime, datetime] | None
