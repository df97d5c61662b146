"""The verdict on each pair of bots while a campaign runs."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from spotthebot.contracts.annotation.verdicts import Margin, Verdict
from spotthebot.contracts.wire import Wire

RequestedMargin = Annotated[
    Margin | None,
    Field(description="The largest difference of win rates at which bots count as equivalent; null: the campaign's."),
]


class GivenVerdict(Wire):
    """The verdict that a pair keeps: when it was given, with the decided games and the bounds at that time."""

    given_at: datetime
    n: int
    low: float
    high: float


class PairVerdictOut(Wire):
    """The verdict on a pair, seen from `bot`, and its present estimate.

    The bounds hold at every look, for all pairs together.
    """

    bot: str
    other: str
    verdict: Verdict = Field(description="Once it is not `open`, it never changes.")
    given: GivenVerdict | None = Field(description="Null while it is open.")
    estimate: float | None = Field(
        description="Win rate of `bot` minus that of `other` in their decided games; null without any."
    )
    low: float | None = Field(description="The lower bound now; null while the annotations allow none.")
    high: float | None
    n: int = Field(description="Decided games.")
    conversations: int
    annotators: int
    more_conversations: int | None = Field(
        description="About how many more of an open pair would decide it with the present annotators; null where no"
        " number would."
    )
    more_annotators: int | None = Field(
        description="About how many more, who work as much as the present ones, would decide an open pair; null where"
        " no number would."
    )
    margin: float | None = Field(description="The margin within which bots are equivalent; null: none.")
    level: float = Field(description="The probability that any pair ever gets a false verdict, at most.")
    n_pairs: int = Field(description="The pairs that share the level.")
    method: str
    reason: str | None = Field(description="Why there are no bounds, or why no number of conversations helps.")
