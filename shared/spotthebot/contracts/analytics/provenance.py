"""The parameters of every result, and the provenance that every result states."""

from typing import Annotated, Final
from uuid import UUID

from pydantic import AwareDatetime, Field

from spotthebot.contracts.analytics.bounds import MAX_BOTS
from spotthebot.contracts.analytics.choices import Clusters, Correction, Filter, Test, Unit, Weighting
from spotthebot.contracts.analytics.speakers import Speaker
from spotthebot.contracts.annotation.judges import MAX_JUDGES, JudgeAsked
from spotthebot.contracts.levels import MAX_LEVEL, MIN_LEVEL
from spotthebot.contracts.repeated_texts import MAX_REPEATED, RepeatedTexts
from spotthebot.contracts.wire import Wire

WEAK_THRESHOLDS: Final = (0.5, 0.6, 0.7)
MAX_WEAK_THRESHOLDS: Final = 10
WeakThreshold = Annotated[float, Field(ge=0, le=1)]


class AnnotatorCounts(Wire):
    """How many annotators a result is based on, people and programs."""

    annotators: int = Field(description="People and programs.")
    simulated_annotators: int = Field(
        description="Annotators that are programs: what they say tells nothing of people."
    )
    judges: int = Field(description="Annotators that are programs whose labels are meant to be used.")

    @property
    def programs(self) -> int:
        """Return how many annotators are programs."""
        return self.simulated_annotators + self.judges

    @property
    def are_all_programs(self) -> bool:
        """Return whether no person annotated."""
        return self.annotators == self.programs

    @property
    def program_words(self) -> str:
        """Return how many of the annotators are programs, in words."""
        if self.are_all_programs:
            return "All annotators are programs"
        verb = "is a program" if self.programs == 1 else "are programs"
        return f"{self.programs} of the {self.annotators} annotators {verb}"

    @property
    def annotator_words(self) -> str:
        """Return the number of annotators, and which of them are programs."""
        noun = "annotator" if self.annotators == 1 else "annotators"
        if self.annotators == self.simulated_annotators > 0:
            return f"{self.annotators:,} simulated {noun}"
        judges = f"{self.judges:,} {'judge' if self.judges == 1 else 'judges'}" if self.judges else ""
        simulated = f"{self.simulated_annotators:,} simulated" if self.simulated_annotators else ""
        programs = " and ".join(filter(None, (simulated, judges)))
        return f"{self.annotators:,} {noun}{f', among them {programs}' if programs else ''}"


class Counts(AnnotatorCounts):
    """How much data a result is based on."""

    conversations: int = Field(description="All of the campaign.")
    annotated_conversations: int = Field(description="Those with annotations that count.")
    annotations: int = Field(description="Those that count after the `filter`.")
    segments: int = Field(description="Conversations cut at one number of exchanges that were annotated.")


class PooledEffect(Wire):
    """A design effect, pooled over similar estimates.

    A design effect is the variance of an estimate, divided by its variance if annotations were independent.
    """

    design_effect: float = Field(
        description="The factor in use: the mean of expected and own, never below the own, nor below 1."
    )
    expected: float = Field(description="What the whole family leads to expect.")
    own: float | None = Field(description="What its own annotations show; null where all agree.")
    own_degrees_of_freedom: float | None = Field(description="Degrees of freedom of the own one.")
    family: int = Field(description="Estimates that were pooled.")


class Uncertainty(Wire):
    """The basis of an interval or a p-value."""

    standard_error: float | None = Field(description="Of the estimate, in its unit, for `clusters` that vary together.")
    degrees_of_freedom: float | None = Field(description="Of a pooled design effect those of the family.")
    conversations: int = Field(
        description="Conversations that have a part in the estimate; those of one text count as one."
    )
    annotators: int = Field(description="Annotators that have a part in the estimate.")
    clusters: Clusters = Field(description="Annotations that are taken to vary together.")
    reason: str | None = Field(description="Why there is neither interval nor p-value.")
    pooled: PooledEffect | None = Field(
        default=None, description="Behind the standard error; null where the variance is this estimate's own."
    )


class Interval(Wire):
    """An estimate with its interval. A number that cannot be computed from the data is null."""

    estimate: float | None = Field(
        description="In the unit of the field: a share from 0 to 1, a mean on its scale, seconds."
    )
    low: float | None = Field(description="Lower end of the interval of `confidence_level`.")
    high: float | None = Field(description="Upper end of the interval of `confidence_level`.")
    uncertainty: Uncertainty | None = Field(
        default=None, description="What the interval stands on; null where nothing was estimated."
    )


class ParametersIn(Wire):
    """How to analyse: the parameters of every result."""

    filter: Filter = Field(
        default="complete_packages",
        description="`complete_packages`: leave out packages that an annotator did not finish.",
    )
    unit: Unit = Field(default="annotation", description="What one game is.")
    weighting: Weighting = Field(
        default="exchanges",
        description="What a segment of i exchanges is worth where one game is a conversation: i, or as in the draft of"
        " Spot The Bot log(i), or log(2 i).",
    )
    confidence_level: float = Field(default=0.95, ge=MIN_LEVEL, le=MAX_LEVEL, description="Of intervals.")
    significance_level: float = Field(
        default=0.05, ge=MIN_LEVEL, le=MAX_LEVEL, description="Of tests and of claims about ranks."
    )
    clusters: Clusters = Field(
        default="both",
        description="Annotations that vary together: those of one conversation and those of one annotator, or of one"
        " kind alone; `fixed_panel` speaks of these annotators and of no others.",
    )
    test: Test = Field(
        default="clustered",
        description="Of pairs and of curves; `sign`, `chi_square` and `score` take annotations for independent.",
    )
    correction: Correction = Field(default="holm", description="Of the p-values of all pairs.")
    resamples: int = Field(default=1000, ge=1, le=100_000, description="Bootstrap replicates.")
    seed: int | None = Field(
        default=None, ge=0, lt=2**63, description="Same seed, same data: same result. Null: the campaign's seed."
    )
    weak_thresholds: tuple[WeakThreshold, ...] = Field(
        default=WEAK_THRESHOLDS,
        min_length=1,
        max_length=MAX_WEAK_THRESHOLDS,
        description="Shares of right labels below which annotators are weak: the bots are ranked again without them,"
        " once for each share.",
    )
    judges: tuple[JudgeAsked, ...] = Field(
        default=(),
        max_length=MAX_JUDGES,
        description="Judges whose labels count as those of annotators, by name; `*`: all. None by default: results are"
        " about people. `counts.judges` says how many took part.",
    )


class SectionParametersIn(ParametersIn):
    """How to analyse, and whether the result may be some seconds old."""

    recent: bool = Field(
        default=False,
        description="Whether the result of a running campaign may be some seconds old"
        " (`SPOTTHEBOT_ANALYTICS_RECENT_SECONDS`): it is there at once, and `as_of` is its moment. Results of campaigns"
        " that have ended, and tables as CSV or Parquet, never are.",
    )


class Settings(Wire):
    """How the data were analysed."""

    filter: Filter
    unit: Unit
    weighting: Weighting = Field(description="What a segment is worth where one game is a conversation.")
    confidence_level: float = Field(description="Of intervals.")
    significance_level: float = Field(description="Of tests and of claims about ranks.")
    clusters: Clusters = Field(description="Annotations that are taken to vary together.")
    test: Test = Field(description="Of pairs and of curves.")
    correction: Correction = Field(description="Of the p-values of all pairs.")
    resamples: int = Field(description="Bootstrap replicates.")
    seed: int
    weak_thresholds: tuple[float, ...] = Field(
        max_length=MAX_WEAK_THRESHOLDS, description="Shares of right labels below which annotators are weak."
    )


class Provenance(Settings):
    """The origin of a result. The same data and parameters give the same bytes."""

    campaign_id: UUID | None = Field(description="Null where the data came from a file.")
    campaign: str
    domain: str
    counts: Counts
    repeated_texts: tuple[RepeatedTexts, ...] = Field(
        max_length=MAX_REPEATED,
        description="Speakers whose annotated conversations repeat one another's text; to intervals and tests"
        " conversations of one text are one.",
    )
    speakers: tuple[Speaker, ...] = Field(
        max_length=MAX_BOTS,
        description="The campaign's bots by strength, then people: their order and marks in every figure, table and"
        " page, which no parameter changes.",
    )
    data_sha256: str = Field(description="Fingerprint of the annotations that were used.")
    as_of: AwareDatetime | None = Field(
        description="Of recent results of a running campaign, which were asked for: the moment whose annotations they"
        " are of, others may have come since. Null: of all annotations that there were when it was answered."
    )
    preliminary: bool = Field(description="Whether annotations are still missing.")
    version: str = Field(description="Of the software.")
