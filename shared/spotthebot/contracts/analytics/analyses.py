"""Long analyses: whether a ranking is stable, and how many conversations it needs."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Literal, Self
from uuid import UUID

from pydantic import Field, model_validator

from spotthebot.contracts.analytics.bounds import MAX_BOTS, MAX_PAIRS
from spotthebot.contracts.analytics.choices import Filter, RankRule, Unit
from spotthebot.contracts.analytics.provenance import Counts
from spotthebot.contracts.analytics.rating_plans import PlannedTest, RatingPlan, RatingPlanningIn
from spotthebot.contracts.levels import MAX_LEVEL, MIN_LEVEL
from spotthebot.contracts.wire import Wire


class _Stability(Wire):
    """How many random subsets of the conversations are ranked, and of which sizes (Figure 3 of Spot The Bot)."""

    filter: Filter = "complete_packages"
    rule: RankRule = Field(
        default="percentile", description="How subsets are ranked: by percentiles of a bootstrap, or as released."
    )
    subsets: int = Field(default=1000, ge=1, le=10_000, description="Random subsets of each size.")
    resamples: int = Field(default=1000, ge=1, le=10_000, description="Bootstrap replicates of each subset.")
    leave_one_out: bool = Field(default=True, description="Also without each bot in turn (Figure 3b).")


class StabilityParameters(_Stability):
    """How random subsets of the conversations are ranked, size by size, and the seed that draws them."""

    seed: int = Field(default=0, ge=0, lt=2**63)


class StabilityIn(_Stability):
    """A request to rank random subsets of a campaign's conversations, size by size (Figure 3 of Spot The Bot)."""

    kind: Literal["stability"] = "stability"
    campaign_id: UUID
    seed: int | None = Field(
        default=None, ge=0, lt=2**63, description="Same seed, same data: same result. Null: the campaign's seed."
    )


class PlanningIn(PlannedTest):
    """A request to plan how many conversations and annotators tell two bots apart, before any data exist.

    The answer has both numbers. If the request gives one of them, the answer is the smallest other number.
    """

    kind: Literal["planning"] = "planning"
    win_rates: tuple[Annotated[float, Field(gt=0, lt=1)], ...] = Field(
        min_length=1,
        max_length=1000,
        description="The better bot's share of decided games, for each pair to tell apart.",
    )
    tie_rate: float = Field(default=0.7, ge=0, lt=1, description="Share of annotations that are ties.")
    annotations_per_conversation: int = Field(default=6, ge=1, le=1000)
    conversation_correlation: float = Field(
        default=0.1, ge=0, lt=1, description="Intraclass, of a pair's outcomes in one conversation."
    )
    annotator_correlation: float = Field(
        default=0.09, ge=0, lt=1, description="Intraclass, of a pair's outcomes that one annotator gave."
    )
    conversations: int | None = Field(
        default=None, ge=2, le=1_000_000, description="Of each pair, where that is given: for the fewest annotators."
    )
    annotators: int | None = Field(
        default=None,
        ge=2,
        le=1_000_000,
        description="How many share the work, where that is given; otherwise they grow with it.",
    )
    annotations_per_annotator: float = Field(
        default=60,
        ge=1,
        le=1_000_000,
        description="Over all pairs, where neither number is given: three packages of 20, the published limit.",
    )

    @model_validator(mode="after")
    def _leaves_something_open(self) -> Self:
        if self.conversations is not None and self.annotators is not None:
            message = "give conversations or annotators, not both: the answer is the other number"
            raise ValueError(message)
        return self


_LEVEL: Final = 0.05
LIKELY_WIN_RATE: Final = 0.75
"""Between the closest and the farthest pairs of published studies: the planner's example."""


class ReachOut(Wire):
    """What a design with its number of conversations of each pair can show, at a level of 5 %."""

    pairs: int
    conversations: int
    smallest_p: float = Field(
        description="No labels give two bots a smaller p-value, adjusted for the pairs: by mean win rates or by games."
    )
    least_conversations: int | None = Field(
        description="Of each pair, with which some labels tell two bots apart; null where the annotators are too few."
    )
    power: float = Field(
        description="Share of studies in which a pair's own games show a bot that wins 75 % of the decided ones, with"
        " the ties and correlations of published studies."
    )

    @property
    def can_tell(self) -> bool:
        """Return whether some labels of this design tell two bots apart."""
        return self.smallest_p < _LEVEL

    @property
    def sentence(self) -> str:
        """Return the result as a sentence for the planner of the study."""
        each = f"{self.conversations} conversation{'' if self.conversations == 1 else 's'} a pair"
        if self.can_tell:
            return (
                f"With {each} and the ties of published studies, a pair's games show a bot that wins"
                f" {LIKELY_WIN_RATE:.0%} of them in about {self.power:.0%} of studies: './stb plan win-rates' plans for"
                " more. Bots that differ more are shown more often."
            )
        enough = (
            "these annotators are too few for any number"
            if self.least_conversations is None
            else f"{self.least_conversations} would be the fewest that can do"
        )
        return (
            f"With {each} no two bots can be told apart, whatever their labels (no p-value can be below"
            f" {self.smallest_p:.2g}): {enough}."
        )


class MoreDataIn(PlannedTest):
    """A request to compute how many more conversations a campaign's undecided pairs need."""

    kind: Literal["more_data"] = "more_data"
    campaign_id: UUID
    filter: Filter = "complete_packages"
    unit: Unit = "annotation"
    confidence_level: float = Field(
        default=0.95, ge=MIN_LEVEL, le=MAX_LEVEL, description="Of the win rates behind `low` and `high`."
    )


AnalysisIn = Annotated[StabilityIn | PlanningIn | RatingPlanningIn | MoreDataIn, Field(discriminator="kind")]


class AnalysisState(StrEnum):
    """The state of an analysis."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETE = "complete"
    CANCELLED = "cancelled"
    FAILED = "failed"
    """`failure` has the reason."""


class StabilityPoint(Wire):
    """The share of the random subsets of one size that have the most frequent clusters of bots at this size."""

    conversations: int = Field(description="Of each pair.")
    rate: float
    low: float
    high: float
    clusters: tuple[Annotated[tuple[str, ...], Field(max_length=MAX_BOTS)], ...] = Field(
        max_length=MAX_BOTS, description="The commonest clustering, best first."
    )


class StabilityCurve(Wire):
    """The stability at each size of subsets, for the ranking of all bots, or for the ranking without one bot."""

    without: str | None = Field(description="The bot that was left out.")
    points: tuple[StabilityPoint, ...] = Field(max_length=MAX_BOTS)
    first_stable: int | None = Field(description="The first size at which 95 % of the subsets agree.")
    stable_from: int | None = Field(description="The size from which on 95 % always agree.")


class Stability(Wire):
    """How many conversations the ranking needs until random subsets of them give the same ranking."""

    rule: RankRule
    subsets: int
    resamples: int
    curves: tuple[StabilityCurve, ...] = Field(max_length=MAX_BOTS)


class PairPlan(Wire):
    """The numbers of conversations and annotators that show a difference between two bots."""

    bot: str | None = Field(description="Null where the plan is made before the bots are known.")
    other: str | None
    win_rate: float | None
    conversations: int | None = Field(description="Of this pair in all, for the requested power.")
    annotators: int | None = Field(description="Of the campaign, where all pairs have as many conversations.")
    low: int | None = Field(description="Conversations if the win rate is as far from even as its interval allows.")
    high: int | None = Field(description="If it is as near; null where the interval holds even odds.")
    more: int | None = Field(description="Conversations beyond those that are there.")
    design_effect: float | None = Field(description="By how much clusters inflate the variance of the win rate.")
    reason: str | None = Field(description="Why there is no number.")


class Plan(Wire):
    """How many conversations a study should collect, and how many annotators should annotate them."""

    tie_rate: float
    annotations_per_conversation: float
    conversation_correlation: float
    annotator_correlation: float
    annotations_per_annotator: float | None = Field(description="Over all pairs; null where annotators were counted.")
    annotators_per_game: float = Field(description="1 where a game is one annotation.")
    method: str
    power: float
    significance_level: float
    confidence_level: float | None = Field(description="Behind `low` and `high`; null without data.")
    conversations_per_pair: int | None = Field(description="Enough for every pair that has a number.")
    annotators: int | None = Field(description="For as many conversations of every pair.")
    pairs: tuple[PairPlan, ...] = Field(max_length=MAX_PAIRS)


class AnalysisJobOut(Wire):
    """An analysis: its progress, and its result once it is complete."""

    id: UUID
    kind: Literal["stability", "planning", "rating_planning", "more_data"]
    campaign_id: UUID | None
    request: AnalysisIn
    state: AnalysisState
    failure: str | None
    done: int = Field(description="Steps that are done.")
    steps: int
    created_at: datetime
    finished_at: datetime | None
    counts: Counts | None
    data_sha256: str | None
    version: str
    stability: Stability | None
    plan: Plan | None
    rating_plan: RatingPlan | None
