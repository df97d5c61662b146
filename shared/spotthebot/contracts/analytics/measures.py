"""Results of measures: the answers to one question of any protocol, as numbers for each bot."""

from uuid import UUID

from pydantic import Field

from spotthebot.contracts.analytics.annotation_quality import Coefficient
from spotthebot.contracts.analytics.bounds import MAX_BOTS, MAX_PAIRS
from spotthebot.contracts.analytics.choices import MixedModelKind
from spotthebot.contracts.analytics.mixed_models import MixedModel
from spotthebot.contracts.analytics.provenance import ParametersIn, Provenance, Uncertainty
from spotthebot.contracts.annotation.measures import Measure
from spotthebot.contracts.annotation.protocols import MAX_SCALE_POINTS
from spotthebot.contracts.annotation.studies import MAX_SCORE_SETS
from spotthebot.contracts.wire import Name, Wire

MAX_MEASURES = 1000


class MeasureParametersIn(ParametersIn):
    """How to analyse one measure, and which form of its results to compute in addition."""

    mixed_model: MixedModelKind | None = Field(
        default=None,
        description="A mixed model of ratings and behaviours, bots fixed, dialogues and annotators random: a published"
        " form, on which no rank is based.",
    )


class ComputedMeasuresIn(Wire):
    """Measures without annotators that the results of a campaign have in addition, as those of a study have them."""

    scores: tuple[UUID, ...] = Field(
        default=(),
        max_length=MAX_SCORE_SETS,
        description="Score sets of FED over the campaign's collections: their dimensions are measures, too.",
    )
    latency: bool = Field(
        default=False, description="Whether the seconds that bots took for replies are a measure, `latency`."
    )
    plugins: tuple[Name, ...] = Field(
        default=(), max_length=20, description="Measures of replies that plug-ins of the service compute, by name."
    )


class CampaignMeasuresIn(ComputedMeasuresIn, ParametersIn):
    """How to analyse the measures of a campaign, and which measures without annotators to add."""


class CampaignMeasureIn(ComputedMeasuresIn, MeasureParametersIn):
    """How to analyse one measure of a campaign, and which measures without annotators it may be, too."""


class ValueCount(Wire):
    """How often one value was given."""

    value: float
    n: int


class PublishedInterval(Wire):
    """An estimate with bounds that take all values as independent."""

    estimate: float | None
    low: float | None
    high: float | None


class PublishedForm(PublishedInterval):
    """A result in the form that ABC-Eval prints (Finch, Finch & Choi 2023, Figures 4 to 8).

    Of a share or a scale it is the mean of all values, of preferences the share of comparisons won. The bounds are
    Wilson's of a share and Student's of a mean, which may exceed the scale. They take all values, or all comparisons,
    as independent, and are too narrow where values of one dialogue or of one annotator vary together.
    """

    n: int = Field(description="Values; of preferences all comparisons, also ties.")
    tie: PublishedInterval | None = Field(description="The share of comparisons that are ties; null of other values.")
    loss: PublishedInterval | None = Field(description="The share of comparisons lost; null of other values.")
    mean_of_means: float | None = Field(
        description="The mean over dialogues of the mean value of each dialogue; null of preferences."
    )
    method: str
    reason: str | None = Field(description="Why there is no interval.")


class MeasuredBot(Wire):
    """The result of one measure for one bot, or for people."""

    bot: str
    estimate: float | None = Field(description="The mean of its values; of preferences the mean win rate (Eq. 1).")
    low: float | None
    high: float | None
    n: int = Field(description="Values; of preferences decided ones.")
    uncertainty: Uncertainty
    rank_low: int | None = Field(
        description="Best rank of a set of ranks that hold for all bots together, 1 for the best; null of people."
    )
    rank_high: int | None
    cluster: int | None = Field(description="Bots of one cluster share ranks, directly or through others.")
    values: tuple[ValueCount, ...] = Field(
        max_length=MAX_SCALE_POINTS,
        description="How often each value was given, lowest first; none of numbers without ends.",
    )
    reason: str | None = Field(description="Why there is no rank, or no interval.")
    published: PublishedForm = Field(description="The result as ABC-Eval prints it; of preferences against all others.")


class MeasuredPair(Wire):
    """The difference between two bots by one measure."""

    bot: str
    other: str
    estimate: float | None = Field(
        description="The mean of `bot` less that of `other`; of preferences the share of decided ones for `bot`."
    )
    low: float | None
    high: float | None
    p_value: float | None
    p_adjusted: float | None = Field(description="For the number of pairs.")
    significant: bool
    n: int
    uncertainty: Uncertainty | None
    reason: str | None = Field(description="Why there is no test.")
    published: PublishedForm | None = Field(
        description="How often `bot` won against `other`, as ABC-Eval prints it; null of other values than preferences."
    )


class MeasureResult(Measure):
    """The results of one measure: the bots, best first, followed by people."""

    n: int = Field(description="Values that count.")
    left_out: int = Field(description="Answers that are of no single bot, or compare no two.")
    bots: tuple[MeasuredBot, ...] = Field(max_length=MAX_BOTS)
    alpha: Coefficient = Field(description="Krippendorff's alpha: whether annotators agree.")
    method: str
    rank_method: str
    reason: str | None = Field(description="Why no bot has a rank.")


class MeasuresOut(Provenance):
    """The results of every measure of a campaign, without the differences of pairs."""

    headline: str = Field(description="The measure by which bots are ranked unless another is named.")
    measures: tuple[MeasureResult, ...] = Field(max_length=MAX_MEASURES)


class MeasureOut(MeasureResult, Provenance):
    """The results of one measure, with the difference of every pair of bots."""

    pairs: tuple[MeasuredPair, ...] = Field(max_length=MAX_PAIRS)
    pairs_method: str
    mixed_model: MixedModel | None = Field(description="Null unless the request names a kind.")
