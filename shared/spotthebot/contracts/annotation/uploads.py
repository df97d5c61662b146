"""Packages and annotations that were made elsewhere, in the form of their upload to the service `annotation`."""

from datetime import MAXYEAR, MINYEAR, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field, StringConstraints, model_validator

from spotthebot.contracts.annotation.annotations import MAX_DECISIONS, AnnotatorId, AnnotatorKind, Answer, Exchanges
from spotthebot.contracts.annotation.campaign_settings import MAX_PER_SEGMENT
from spotthebot.contracts.annotation.judges import JudgeLabels
from spotthebot.contracts.annotation.packages import MAX_PACKAGE_SIZE
from spotthebot.contracts.annotation.protocols import MAX_QUESTIONS, Identifier
from spotthebot.contracts.batches import MAX_BATCH_SIZE
from spotthebot.contracts.wire import ExternalId, Text, Wire


def _in_every_time_zone(moment: datetime) -> datetime:
    if not MINYEAR < moment.year < MAXYEAR:
        message = f"must lie between the years {MINYEAR + 1} and {MAXYEAR - 1}"
        raise ValueError(message)
    return moment


Moment = Annotated[AwareDatetime, AfterValidator(_in_every_time_zone)]


class PackageIn(Wire):
    """A package: segments of the campaign's conversations. Annotators work on it here, or worked on it elsewhere."""

    external_id: ExternalId
    segments: tuple["SegmentIn", ...] = Field(min_length=1, max_length=MAX_PACKAGE_SIZE, fail_fast=True)
    annotators: int | None = Field(
        default=None,
        ge=1,
        le=MAX_PER_SEGMENT,
        description="In a campaign with mode `uploaded`: how many different annotators get the package, at least its"
        " `annotations_per_segment`; null: as many as that.",
    )

    @model_validator(mode="after")
    def _segments_differ(self) -> "PackageIn":
        left = [(segment.conversation, segment.exchanges) for segment in self.segments]
        right = [segment.right.conversation for segment in self.segments if segment.right]
        if len(set(left)) < len(left) or len(set(right)) < len(right):
            message = "a segment is named twice"
            raise ValueError(message)
        return self


class ShownIn(Wire):
    """A conversation up to a number of exchanges."""

    conversation: ExternalId = Field(description="Its id in the export of its collection, or the suite's own id.")
    exchanges: Exchanges


class SegmentIn(ShownIn):
    """The content of one item of a package: a conversation, or two of them if the protocol compares pairs."""

    right: ShownIn | None = Field(default=None, description="Of a pair, the conversation on the right.")


class PackageBatchIn(Wire):
    """Packages to add to an import campaign, or to a draft with mode `uploaded`."""

    packages: tuple[PackageIn, ...] = Field(min_length=1, max_length=MAX_BATCH_SIZE)


class ImportedAnnotationIn(Wire):
    """An annotation that was made elsewhere. It has the whole answer to the questions of the campaign's protocol."""

    external_id: ExternalId
    package: ExternalId
    conversation: ExternalId
    exchanges: Exchanges
    annotator: AnnotatorId
    annotator_kind: AnnotatorKind = Field(
        default=AnnotatorKind.PERSON, description="The same in all of the annotator's annotations."
    )
    judge_labels: JudgeLabels | None = Field(
        default=None, description="Of a judge: its probabilities and the answers that are missing; null of all others."
    )
    answer: Answer
    started_at: Moment | None
    ended_at: Moment | None
    elapsed_ms: int | None = Field(ge=0, lt=2**53, description="As reported, absurd values included.")
    reported_ms: int | None = Field(default=None, ge=0, lt=2**53, description="What a frontend had reported.")
    decisions: tuple["DecisionIn", ...] = Field(
        default=(),
        max_length=MAX_DECISIONS,
        description="As an export has them: where exchanges were opened one by one.",
    )
    question_order: tuple[Identifier, ...] = Field(
        default=(),
        max_length=MAX_QUESTIONS,
        description="All questions of the protocol as the annotator was asked, where that order was drawn.",
    )
    completion_code: Annotated[Text, StringConstraints(max_length=100)] | None = None


class DecisionIn(Wire):
    """How many exchanges of a conversation were open when an annotator answered a question elsewhere."""

    question: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,49}$")]
    target: Literal["A", "B"] | None
    exchanges: Exchanges
    opened_at: Moment
    decided_at: Moment


class AnnotationBatchIn(Wire):
    """Annotations to add to an import campaign."""

    annotations: tuple[ImportedAnnotationIn, ...] = Field(min_length=1, max_length=MAX_BATCH_SIZE)
