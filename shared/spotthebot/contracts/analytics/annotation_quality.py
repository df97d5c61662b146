"""The quality of the annotations: agreement, the annotators, and the time that annotations took."""

from pydantic import Field

from spotthebot.contracts.analytics.bounds import MAX_ANNOTATORS, MAX_BOTS, MAX_LENGTHS
from spotthebot.contracts.analytics.provenance import MAX_WEAK_THRESHOLDS, Uncertainty
from spotthebot.contracts.analytics.sensitivity import OtherRanking
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.wire import Wire


class LabelAgreement(Wire):
    """How often two annotators gave a speaker the same label (Table 3 of Spot The Bot)."""

    bot: str
    label: str = Field(description="The label: human, unsure or bot.")
    agree: int = Field(description="Labels that equal the other annotator's label.")
    total: int = Field(description="Labels that are compared with another annotator's.")
    rate: float | None = Field(description="`agree` divided by `total`.")
    low: float | None
    high: float | None
    uncertainty: Uncertainty


class LengthAgreement(LabelAgreement):
    """How often two annotators gave a speaker the same label where they saw one number of exchanges."""

    exchanges: int


class Coefficient(Wire):
    """A coefficient of agreement with its interval. It is null, with a reason, if the labels do not define it."""

    estimate: float | None
    low: float | None
    high: float | None
    n: int = Field(description="What the method counts: units that entered.")
    method: str
    uncertainty: Uncertainty
    reason: str | None = Field(description="Why there is no coefficient, or no interval.")


class Agreement(Wire):
    """How much annotators agree with each other."""

    labels: tuple[LabelAgreement, ...] = Field(max_length=3 * MAX_BOTS)
    by_length: tuple[LengthAgreement, ...] = Field(
        max_length=3 * MAX_BOTS * MAX_LENGTHS, description="The same by the number of exchanges seen (footnote 9)."
    )
    method: str = Field(description="Of `labels`.")
    alpha: float | None = Field(description="Krippendorff's alpha of the labels, ordinal: bot < unsure < human.")
    alpha_interval: Coefficient
    alpha_nominal: Coefficient
    fleiss_kappa: Coefficient


class Annotator(Wire):
    """One annotator's quality."""

    annotator: str
    kind: AnnotatorKind
    n: int = Field(description="Annotations.")
    correctness: float | None = Field(description="Share of right labels, unsure left out.")
    human_correctness: float | None
    majority_agreement: float | None = Field(description="Share of labels like the majority of the others.")


class WithoutWeak(OtherRanking):
    """The ranking without weak annotators: their share of right labels is below a threshold."""

    threshold: float = Field(description="The least share of right labels that an annotator needs.")
    annotators: int = Field(description="Those that are left.")
    annotations: int = Field(description="Those that are left.")
    kendall_tau: float | None = Field(description="With the ranking by all annotators.")
    moved: tuple[str, ...] = Field(
        max_length=MAX_BOTS, description="Bots whose range of ranks changes, or whose cluster holds other bots."
    )
    method: str


class SidesAlike(Wire):
    """Whether annotators give both sides the same label more often than by chance (footnote 3 of Spot The Bot)."""

    observed: float | None = Field(description="Share of annotations with the same label for both sides.")
    expected: float | None = Field(description="That share if the two labels of an annotator were independent.")
    p_value: float | None
    n: int = Field(description="Annotations of conversations of two bots.")
    method: str
    reason: str | None


class Annotators(Wire):
    """How often the annotators are right."""

    n: int
    correctness: float | None = Field(description="Mean over annotators, unsure left out.")
    correctness_low: float | None
    correctness_high: float | None
    uncertainty: Uncertainty = Field(description="Of the correctness.")
    method: str = Field(description="Of the correctness.")
    human_correctness: float | None
    share_below_half: float | None = Field(description="Share of annotators who are right less than half the time.")
    annotators: tuple[Annotator, ...] = Field(max_length=MAX_ANNOTATORS)
    without_weak: tuple[WithoutWeak, ...] = Field(max_length=MAX_WEAK_THRESHOLDS)
    sides_alike: SidesAlike


class TimeOfSegment(Wire):
    """The seconds that annotations of one segment length took."""

    exchanges: int
    n: int
    median_seconds: float | None


class Time(Wire):
    """How long an annotation takes."""

    median_seconds: float | None
    low: float | None
    high: float | None
    uncertainty: Uncertainty = Field(description="Of the median.")
    mean_seconds: float | None
    n: int
    excluded: int = Field(description="Annotations whose time is unknown or absurd.")
    rule: str = Field(description="What counts as absurd, and how the median is bounded.")
    segments: tuple[TimeOfSegment, ...] = Field(max_length=MAX_LENGTHS)
    total_hours: float | None
