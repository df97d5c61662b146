"""The design of a study for the report: its conversations, collections, pay and screening."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from spotthebot.contracts.analytics.costs import ChatTimesOut
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.conversations.collections import CollectionOut, CollectionPlanOut
from spotthebot.contracts.names import HUMAN_NAME


@dataclass
class Conversations:
    """Counts of a collection's complete conversations: exchanges, speakers, and openings."""

    exchanges: Counter[int] = field(default_factory=Counter)
    speakers: Counter[frozenset[str]] = field(default_factory=Counter)
    """Counts by the set of both names, which is one name if a bot talks to itself."""
    opened: int = 0
    with_words: int = 0

    @property
    def complete(self) -> int:
        """Return the number of conversations."""
        return self.exchanges.total()

    @property
    def by_people(self) -> int:
        """Return the number of conversations between two people."""
        return self.speakers[frozenset({HUMAN_NAME})]


@dataclass(frozen=True)
class Collection:
    """A collection of the campaign; `corpora` are the names of the corpora in its plan, `times` those of its chats."""

    collection: CollectionOut
    plan: CollectionPlanOut
    corpora: Mapping[str, str]
    conversations: Conversations
    times: ChatTimesOut | None = None

    @property
    def knows_openings(self) -> bool:
        """Return whether the conversations' openings are known; imported ones may have had some that the file omits."""
        return self.plan.mode != "import" or self.conversations.opened > 0


@dataclass(frozen=True)
class Paid:
    """All payments to annotators, in the campaign's currency."""

    annotators: int
    packages: Decimal
    bonuses: Decimal

    @property
    def total(self) -> Decimal:
        """Return the sum for packages and bonuses."""
        return self.packages + self.bonuses


@dataclass(frozen=True)
class Screened:
    """The annotators' results in the checks of their work."""

    blocked: int
    gold_right: int
    gold_wrong: int


@dataclass(frozen=True)
class Design:
    """A campaign with its protocol and its collections; `paid` and `screened` are None if the key may not see them.

    `annotated` has the first and the last time of its annotations; None if they have no times.
    """

    campaign: CampaignOut
    protocol: AnnotationProtocol
    collections: Sequence[Collection]
    paid: Paid | None
    screened: Screened | None
    annotated: tuple[datetime, datetime] | None
