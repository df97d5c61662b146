"""Parameters for results of `analytics`, as keywords of its client."""

from collections.abc import Sequence
from datetime import date
from typing import TypedDict
from uuid import UUID

from spotthebot.contracts.analytics.choices import Clusters, Correction, Filter, MixedModelKind, Test, Unit, Weighting
from spotthebot.contracts.analytics.figures import Theme, Width


class Parameters(TypedDict, total=False):
    """Parameters for the computation of results. A parameter that is left out has the service's default.

    Labels of `judges` count next to people's; `*` names all judges.
    """

    filter: Filter
    unit: Unit
    weighting: Weighting
    confidence_level: float
    significance_level: float
    clusters: Clusters
    test: Test
    correction: Correction
    resamples: int
    seed: int
    weak_thresholds: Sequence[float]
    judges: Sequence[str]


class SectionParameters(Parameters, total=False):
    """The parameters of one section.

    With `recent`, a running campaign's section may be some seconds old: see `as_of`.
    """

    recent: bool


class MeasureParameters(Parameters, total=False):
    """The parameters of one measure. `mixed_model` names a mixed model to compute in addition."""

    mixed_model: MixedModelKind | None


class AgreementParameters(Parameters, total=False):
    """The parameters of agreement. On each day of `period` a new period begins, which has rows of its own."""

    period: Sequence[date]


class ComputedMeasures(TypedDict, total=False):
    """Measures without annotators that a campaign's results have in addition: of score sets, latencies, plug-ins."""

    scores: Sequence[UUID]
    latency: bool
    plugins: Sequence[str]


class CampaignMeasures(Parameters, ComputedMeasures, total=False):
    """The parameters of all measures of a campaign."""


class CampaignMeasure(MeasureParameters, ComputedMeasures, total=False):
    """The parameters of one measure of a campaign."""


class FigureParameters(SectionParameters, total=False):
    """How a figure is computed and drawn.

    It can be drawn for a light or a dark page, for a wide screen or a phone, with or without a title. `revision` is the
    field of an earlier answer of `sections`. With it, the figure shows the same annotations as that answer, as long as
    the service keeps them.
    """

    theme: Theme
    width: Width
    heading: bool
    revision: str | None


class CostParameters(TypedDict, total=False):
    """Two designs of an evaluation: annotated conversations of bots, and chats with the bots."""

    bots: int
    conversations_per_pair: int
    annotations_per_conversation: float
    seconds_per_annotation: float
    chats_per_bot: int
    seconds_per_chat: float
    hourly_wage: float
