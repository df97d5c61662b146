"""Agreement within each workforce: the annotators who came by one frontend and one shared link, also by period."""

from datetime import date
from typing import Final
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.analytics.annotation_quality import Coefficient
from spotthebot.contracts.analytics.choices import Clusters, Filter
from spotthebot.contracts.analytics.measures import MAX_MEASURES
from spotthebot.contracts.analytics.provenance import ParametersIn
from spotthebot.contracts.annotation.studies import MAX_TASKS
from spotthebot.contracts.wire import Wire

MAX_LISTED: Final = 50
"""The largest workforces of a campaign, which are listed."""
MAX_DATES: Final = 10


class AgreementParametersIn(ParametersIn):
    """How to analyse agreement, and which periods to tell apart."""

    period: tuple[date, ...] = Field(
        default=(),
        max_length=MAX_DATES,
        description="Days (UTC) on which a new period begins, such as a pilot round: each period has rows.",
    )

    @property
    def dates(self) -> tuple[date, ...]:
        """Return the days in their order, each once."""
        return tuple(sorted(set(self.period)))


class MeasureAgreement(Wire):
    """How much the annotators of a workforce agree by one measure."""

    measure: str = Field(description="As the campaign or the study calls it.")
    values: int
    alpha: Coefficient = Field(description="Krippendorff's alpha; `n` counts what two or more of them rated.")


class WorkforceAgreement(Wire):
    """How much the annotators of a workforce agree with each other in a period: a row of Table 8 of ABC-Eval."""

    task: str = Field(description="The campaign, as the study calls it.")
    since: date | None = Field(description="The first day of the period; null: from the beginning.")
    until: date | None = Field(
        description="The day on which the next period begins; null: to the end. Both null: all the time."
    )
    frontend: str | None = Field(
        description="The owner of the frontend's key, empty for imported annotators; null: all annotators together."
    )
    link: UUID | None = Field(description="The link by which many may enter; null: a link of one's own, none, or all.")
    conversations: int = Field(description="Conversations, or pairs of them, that these annotators saw.")
    annotators: int
    annotations: int
    alpha: Coefficient = Field(
        description="Krippendorff's alpha of all labels together: each measure of each unit counts as a unit."
        " None if measures have different scales."
    )
    measures: tuple[MeasureAgreement, ...] = Field(max_length=MAX_MEASURES)

    @property
    def period(self) -> str:
        """Return the period in words."""
        if self.since is None:
            return "all" if self.until is None else f"before {self.until}"
        return f"from {self.since}" if self.until is None else f"{self.since} to before {self.until}"


class WorkforceAgreementsOut(Wire):
    """Agreement within each workforce of a campaign, or of the campaigns of a study."""

    name: str = Field(description="Of the campaign or the study.")
    filter: Filter
    confidence_level: float
    clusters: Clusters
    preliminary: bool = Field(description="Whether annotations are still missing.")
    version: str = Field(description="Of the software.")
    undated: int = Field(description="Annotations without a time, as imports may have them: they are of no period.")
    workforces: tuple[WorkforceAgreement, ...] = Field(
        max_length=(MAX_LISTED + 1) * (MAX_DATES + 2) * MAX_TASKS,
        description="Of each campaign all annotators, then the largest workforces first; then the same of each period.",
    )
