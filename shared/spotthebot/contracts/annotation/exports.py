"""The rows of a campaign's export: annotations, their single values, or the items of packages."""

from enum import StrEnum

from pydantic import AwareDatetime, Field, model_validator

from spotthebot.contracts.annotation.annotations import MAX_DECISIONS, AnnotatorKind, Answer, DecisionOut, with_kind
from spotthebot.contracts.annotation.judges import JudgeLabels
from spotthebot.contracts.annotation.protocols import MAX_QUESTIONS
from spotthebot.contracts.wire import Domain, ExternalId, Name, Text, Wire


class ExportedRows(StrEnum):
    """The kind of rows in a campaign's export."""

    ANNOTATIONS = "annotations"
    """An annotation with its whole answer."""
    VALUES = "values"
    """One typed value of an answer: of one question, for one target."""
    PACKAGES = "packages"
    """One item of a package, annotated or not."""


class AnnotatorNames(StrEnum):
    """How an export names annotators."""

    PSEUDONYMS = "pseudonyms"
    """The same name in all exports of a campaign, and another in every other campaign. Nobody can compute the names."""
    IDS = "ids"
    """The ids of frontends and panels. For administrators; the audit log records it."""


class ExportedItem(Wire):
    """The conversation or the pair of conversations at one position of a package."""

    campaign: Name
    domain: Domain
    package: ExternalId = Field(description="Its id; of an imported one the id that it was imported with.")
    position: int
    conversation: ExternalId = Field(description="Its id in the export of the collection.")
    exchanges: int
    right_conversation: ExternalId | None = Field(description="Of a pair, the conversation on the right; else null.")
    right_exchanges: int | None


class AnnotatedItem(ExportedItem):
    """An item of a package, and an annotation of this item without its answer."""

    id: ExternalId = Field(description="Of the annotation; of an imported one the id that it was imported with.")
    protocol: Name
    protocol_version: int
    annotator: Text
    annotator_kind: AnnotatorKind
    started_at: AwareDatetime | None
    ended_at: AwareDatetime | None
    elapsed_ms: int | None = Field(description="By the server's clock; of an import as its exporter reported it.")
    reported_ms: int | None = Field(description="What the frontend reported: never trusted.")

    @model_validator(mode="before")
    @classmethod
    def _states_kinds(cls, row: object) -> object:
        return with_kind(row, "annotator")


class ExportedAnnotation(AnnotatedItem):
    """An annotation with its whole answer."""

    judge_labels: JudgeLabels | None = Field(
        default=None,  # exports of earlier releases have none
        description="Of a judge: its probabilities, missing answers, tokens and cost; null of all others.",
    )
    answer: Answer
    decisions: tuple[DecisionOut, ...] = Field(
        max_length=MAX_DECISIONS, description="Of protocols that open one exchange after the other; else none."
    )
    question_order: tuple[str, ...] = Field(
        default=(),  # exports of release 0.2.0 have none
        max_length=MAX_QUESTIONS,
        description="The questions in the order in which the annotator was asked, where it is drawn for each annotator;"
        " none: the protocol's own order, or an import that does not say.",
    )


class ExportedAnnotationText(AnnotatedItem):
    """An annotation as a row of a table: its answer, its decisions and the order of questions are JSON texts."""

    judge_labels: Text | None
    answer: Text
    decisions: Text
    question_order: Text


class ExportedValue(AnnotatedItem):
    """One value of an annotation. If a question has several values for a target, each has a row."""

    question: Text
    target: Text | None = Field(description="A side, `A` or `B`, or the number of a turn; null: asked once.")
    value: Text | None = Field(description="Null where none of a multiple question's choices was taken.")
    number: int | None = Field(description="The value as a number, of a Likert question; else null.")
    probability: float | None = Field(description="Of a judge: its probability of the value; null of all others.")
    probabilities: Text | None = Field(
        description="Of a judge: its probability of each option, as JSON; null of all others."
    )
    missing: Text | None = Field(
        description="Of a judge without an answer: why, as `failed`, `refused`, `unparsable` or `unsuited`; else null."
    )
    decided_exchanges: int | None = Field(
        description="How many exchanges were open when it was decided, where they are opened one by one; else null."
    )
    decided_at: AwareDatetime | None
    question_position: int | None = Field(
        description="The question's place, from 1, in the order in which the annotator was asked, where it is drawn for"
        " each annotator; else null."
    )
