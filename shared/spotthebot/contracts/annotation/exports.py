"""The rows of a campaign's export: annotations, their single values, or what packages show."""

from enum import StrEnum

from pydantic import AwareDatetime, Field

from spotthebot.contracts.annotation.annotations import MAX_DECISIONS, Answer, DecisionOut
from spotthebot.contracts.wire import Domain, ExternalId, Name, Text, Wire


class ExportedRows(StrEnum):
    """What one row of a campaign's export is."""

    ANNOTATIONS = "annotations"
    """An annotation with its whole answer."""
    VALUES = "values"
    """One value of an answer: a question, for a target, typed."""
    PACKAGES = "packages"
    """One item of a package, annotated or not."""


class AnnotatorNames(StrEnum):
    """How an export names annotators."""

    PSEUDONYMS = "pseudonyms"
    """The same for one annotator in all exports of a campaign, another in each campaign; nobody can compute them."""
    IDS = "ids"
    """Ids of frontends and panels: for administrators, and noted in the audit log."""


class ExportedItem(Wire):
    """What one position of a package shows."""

    campaign: Name
    domain: Domain
    package: ExternalId = Field(description="Its id; of an imported one the id that it was imported with.")
    position: int
    conversation: ExternalId = Field(description="Its id in the export of the collection.")
    exchanges: int
    right_conversation: ExternalId | None = Field(description="Of a pair, the conversation on the right; else null.")
    right_exchanges: int | None


class AnnotatedItem(ExportedItem):
    """An item, and an annotation of it without its answer."""

    id: ExternalId = Field(description="Of the annotation; of an imported one the id that it was imported with.")
    protocol: Name
    protocol_version: int
    annotator: Text
    started_at: AwareDatetime | None
    ended_at: AwareDatetime | None
    elapsed_ms: int | None = Field(description="By the server's clock; of an import as its exporter reported it.")
    reported_ms: int | None = Field(description="What the frontend reported: never trusted.")


class ExportedAnnotation(AnnotatedItem):
    """An annotation, whole."""

    answer: Answer
    decisions: tuple[DecisionOut, ...] = Field(
        max_length=MAX_DECISIONS, description="Of protocols that open one exchange after the other; else none."
    )


class ExportedAnnotationText(AnnotatedItem):
    """An annotation in a table: the answer and the decisions are JSON."""

    answer: Text
    decisions: Text


class ExportedValue(AnnotatedItem):
    """One value of an annotation: a question that was asked of a target has a row for each value."""

    question: Text
    target: Text | None = Field(description="A side, `A` or `B`, or the number of a turn; null: asked once.")
    value: Text | None = Field(description="Null where none of a multiple question's choices was taken.")
    number: int | None = Field(description="The value as a number, of a Likert question; else null.")
    decided_exchanges: int | None = Field(
        description="How many exchanges were open when it was decided, where they are opened one by one; else null."
    )
    decided_at: AwareDatetime | None
