"""Several sections of a campaign's results in one answer."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from spotthebot.contracts.analytics.provenance import SectionParametersIn
from spotthebot.contracts.analytics.results import (
    AgreementOut,
    AnnotatorsOut,
    FeaturesOut,
    FoolingRatesOut,
    PartnersOut,
    RankingOut,
    SegmentsOut,
    SensitivityOut,
    SurvivalOut,
    TimeOut,
    WinRatesOut,
)
from spotthebot.contracts.wire import Wire

SectionName = Literal[
    "win-rates",
    "ranking",
    "features",
    "segments",
    "fooling-rates",
    "survival",
    "partners",
    "agreement",
    "annotators",
    "time",
    "sensitivity",
]
MAX_SECTIONS = 11
Revision = Annotated[str, StringConstraints(pattern="^[0-9a-f]{32}$")]
"""A fingerprint of a campaign and its annotations at one moment."""


class SectionsParametersIn(SectionParametersIn):
    """Which sections to return, how to analyse, and how long to wait."""

    sections: tuple[SectionName, ...] = Field(min_length=1, max_length=MAX_SECTIONS, description="Sections to answer.")
    wait_seconds: float | None = Field(
        default=None,
        ge=0,
        le=300,
        description="Time after which sections that are still being computed are `pending`. Null: waits for all.",
    )


class SectionProblem(Wire):
    """Why a section has no result: the RFC 9457 problem (409) that the section's own endpoint returns."""

    type: str
    title: str
    status: int
    detail: str
    instance: str = Field(description="The path of the section's own endpoint.")


class SectionsOut(Wire):
    """Result of `/sections`: each section has the form that its own endpoint returns.

    A section is null if it was not requested, or if it is pending.
    """

    campaign_id: UUID
    revision: Revision | None = Field(
        description="Of the annotations that all these results are of: a figure that names it shows the same. Null"
        " where results may be some seconds old, and where the campaign can have none."
    )
    pending: tuple[SectionName, ...] = Field(
        max_length=MAX_SECTIONS, description="Sections that are still being computed: ask for them again."
    )
    win_rates: WinRatesOut | SectionProblem | None
    ranking: RankingOut | SectionProblem | None
    features: FeaturesOut | SectionProblem | None
    segments: SegmentsOut | SectionProblem | None
    fooling_rates: FoolingRatesOut | SectionProblem | None
    survival: SurvivalOut | SectionProblem | None
    partners: PartnersOut | SectionProblem | None
    agreement: AgreementOut | SectionProblem | None
    annotators: AnnotatorsOut | SectionProblem | None
    time: TimeOut | SectionProblem | None
    sensitivity: SensitivityOut | SectionProblem | None
