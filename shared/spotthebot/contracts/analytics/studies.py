"""Results of a study: the measures of all its tasks and chats, and which of them deserve trust."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.analytics.assessments import Assessment
from spotthebot.contracts.analytics.bounds import MAX_BOTS
from spotthebot.contracts.analytics.measures import MAX_MEASURES, MeasureResult
from spotthebot.contracts.analytics.provenance import AnnotatorCounts, Settings
from spotthebot.contracts.annotation.studies import MAX_SCORE_SETS, MAX_TASKS

SourceKind = Literal["campaign", "chats", "scores", "latency"]


class StudySource(AnnotatorCounts):
    """A task of a study, its chats, a score set of FED, or the bots' latencies: what measures come from."""

    task: str = Field(
        description="The campaign's name, without the study's before it; `chats`, `fed` or `latency` of other sources."
    )
    kind: SourceKind
    campaign_id: UUID | None = Field(description="Null of what no campaign asked.")
    score_set_id: UUID | None = Field(description="Null of what FED has not scored.")
    protocol: str | None = Field(description="What annotators were asked; null of what no campaign asked.")
    annotations: int = Field(description="Annotations, or rated chats; 0 of values that no person gave.")


class StudyMeasure(MeasureResult):
    """The results of one measure of a study."""

    name: str = Field(description="How the study calls it: its task and a dot stand before it where two tasks have it.")
    task: str


class StudyProvenance(Settings):
    """The origin of a study's results."""

    study_id: UUID
    study: str
    sources: tuple[StudySource, ...] = Field(max_length=MAX_TASKS + MAX_SCORE_SETS + 2)
    preliminary: bool = Field(description="Whether annotations are still missing.")
    data_sha256: str = Field(description="Fingerprint of the values that were used.")
    version: str = Field(description="Of the software.")


class StudyMeasuresOut(StudyProvenance):
    """The results of every measure of a study, without the differences of pairs."""

    outcome: str | None
    measures: tuple[StudyMeasure, ...] = Field(max_length=MAX_MEASURES)


class StudyAssessmentOut(Assessment, StudyProvenance):
    """Which measures of a study deserve trust."""

    bots: tuple[str, ...] = Field(max_length=MAX_BOTS)
    dialogues: int = Field(description="Dialogues of a bot that have any value.")
