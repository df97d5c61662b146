"""How much the ranking depends on choices of the analysis."""

from typing import Literal

from pydantic import Field

from spotthebot.contracts.analytics.bounds import MAX_BOTS
from spotthebot.contracts.wire import Wire


class OtherRanking(Wire):
    """The ranks of the bots in a ranking that is compared with that of the results."""

    order: tuple[str, ...] = Field(max_length=MAX_BOTS, description="Bots with decided games, best first.")
    rank_low: tuple[int | None, ...] = Field(max_length=MAX_BOTS, description="The best rank of each bot in `order`.")
    rank_high: tuple[int | None, ...] = Field(max_length=MAX_BOTS, description="The worst rank of each bot in `order`.")
    reason: str | None = Field(description="Why no bot has a rank, or why the data tell no two bots apart.")


class Alternative(OtherRanking):
    """The ranking after one choice of the analysis was changed."""

    choice: Literal["unsure", "filter", "unit"] = Field(description="The parameter of the analysis that is changed.")
    value: str = Field(description="What is chosen instead.")
    kendall_tau: float | None = Field(description="Of mean win rates, against those of the ranking.")
    moved: tuple[str, ...] = Field(max_length=MAX_BOTS, description="Bots whose set of ranks is another.")


class Sensitivity(Wire):
    """The ranking, and for comparison the rankings after changes of one choice each."""

    order: tuple[str, ...] = Field(
        max_length=MAX_BOTS, description="Bots with decided games, best first, as they were ranked."
    )
    alternatives: tuple[Alternative, ...] = Field(max_length=1000)
