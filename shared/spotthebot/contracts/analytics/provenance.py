"""What can be asked of every result, and what every result says of how it came to be."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.wire import Wire

Filter = Literal["complete_packages", "none"]
Unit = Literal["annotation", "segment", "conversation"]
Correction = Literal["holm", "bonferroni", "none"]


class Counts(Wire):
    """How much data a result stands on."""

    conversations: int
    annotated_conversations: int
    annotations: int
    annotators: int
    segments: int
    simulated_annotators: int = Field(
        description="Annotators that are programs: what they say tells nothing of people."
    )


class Interval(Wire):
    """An estimate with its interval; null where the data do not define it."""

    estimate: float | None
    low: float | None
    high: float | None


class Settings(Wire):
    """How the data were analysed."""

    filter: Filter
    unit: Unit
    confidence_level: float
    resamples: int
    seed: int
    correction: Correction


class Provenance(Settings):
    """How a result came to be: the same data and parameters give the same bytes."""

    campaign_id: UUID | None = Field(description="Null where the data came from a file.")
    campaign: str
    domain: str
    counts: Counts
    data_sha256: str = Field(description="Fingerprint of the annotations that were used.")
    preliminary: bool = Field(description="Whether annotations are still missing.")
    version: str = Field(description="Of the software.")
