"""Which bots can be told apart."""

from pydantic import Field

from spotthebot.contracts.analytics.provenance import Interval
from spotthebot.contracts.wire import Wire


class Skill(Wire):
    """A TrueSkill rating, with the bounds of its mean and the ranks that it took over the replicates."""

    mu: float
    sigma: float
    low: float | None
    high: float | None
    rank_low: int | None
    rank_high: int | None


class Strength(Wire):
    """A Bradley-Terry log-strength; those of all bots sum to 0. Null with a reason where the games define none."""

    estimate: float | None
    standard_error: float | None
    reason: str | None


class RankedBot(Wire):
    """A bot's place."""

    bot: str
    rank_low: int | None = Field(
        description="Best rank of a set of ranks that hold for all bots together; null without decided games."
    )
    rank_high: int | None = Field(description="Worst rank of that set.")
    cluster: int | None = Field(description="Bots of one cluster can't be told apart; 1 is best.")
    win_rate: Interval
    win_rate_with_ties: float | None = Field(description="Mean share of wins among all games, ties included.")
    tie_rate: float | None = Field(description="Share of its games that are ties.")
    rank_probabilities: tuple[float, ...] = Field(
        description="Of rank 1, 2, ... over draws from the estimates' distribution."
    )
    trueskill: Skill
    bradley_terry: Strength


class Ranking(Wire):
    """The bots, best first."""

    method: str
    rank_method: str
    comparisons: int = Field(description="Comparisons of two bots that are one family behind the sets of ranks.")
    reason: str | None = Field(description="Why no bot has a rank.")
    resamples: int
    trueskill_method: str
    trueskill_resamples: int = Field(description="Replicates behind TrueSkill's bounds; fewer for very many games.")
    bradley_terry_method: str
    draw_probability: float = Field(description="Share of games that are ties, as TrueSkill takes it.")
    bots: tuple[RankedBot, ...]
