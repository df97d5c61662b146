"""Studies: several campaigns over the same dialogues, and the outcome that their measures have to explain."""

from datetime import datetime
from typing import Annotated, Final, Self
from uuid import UUID

from pydantic import Field, StringConstraints, field_validator, model_validator

from spotthebot.contracts.annotation.campaigns import MAX_COLLECTIONS
from spotthebot.contracts.annotation.measures import LONGEST_MEASURE
from spotthebot.contracts.names import ReadableName
from spotthebot.contracts.wire import Text, Wire

MAX_TASKS: Final = 50
MAX_SCORE_SETS: Final = 10
LONGEST_STUDY_MEASURE: Final = LONGEST_MEASURE + 101
"""Characters of a measure's name in a study: a task's name and a dot may stand before it."""
Outcome = Annotated[Text, StringConstraints(min_length=1, max_length=LONGEST_STUDY_MEASURE)]


class StudySettings(Wire):
    """What a study's request and its file both have."""

    outcome: Outcome | None = Field(
        default=None,
        description="The measure that says how good a dialogue is, such as quality; the other measures are assessed "
        "against it. Null: nothing is assessed.",
    )
    seed: int = Field(default=0, ge=0, lt=2**31, description="Of the draws of the assessment.")
    scores: tuple[UUID, ...] = Field(
        default=(),
        max_length=MAX_SCORE_SETS,
        description="Score sets of FED over the study's dialogues, each once: each dimension is a measure.",
    )
    latency: bool = Field(default=False, description="Whether the seconds that bots took for replies are a measure.")


class StudyIn(StudySettings):
    """Campaigns that belong together, and chats whose interactors rated the same dialogues."""

    name: ReadableName
    campaigns: tuple[UUID, ...] = Field(
        default=(), max_length=MAX_TASKS, description="The tasks, each once; a study of chats needs none."
    )
    chats: tuple[UUID, ...] = Field(
        default=(), max_length=MAX_COLLECTIONS, description="Collections of chats, whose ratings are measures too."
    )

    @model_validator(mode="after")
    def _has_measures(self) -> Self:
        if not self.campaigns and not self.chats:
            message = "a study needs a campaign or a collection of chats: without both it has no measure"
            raise ValueError(message)
        return self

    @field_validator("campaigns", "chats", "scores")
    @classmethod
    def _differ(cls, ids: tuple[UUID, ...]) -> tuple[UUID, ...]:
        if len(set(ids)) < len(ids):
            message = "an id is named twice: name each once"
            raise ValueError(message)
        return ids


class StudyOut(Wire):
    """A study."""

    id: UUID
    name: str
    campaigns: tuple[UUID, ...] = Field(
        max_length=MAX_TASKS, description="The tasks in their order; a deleted campaign is left out, even the last."
    )
    chats: tuple[UUID, ...] = Field(max_length=MAX_COLLECTIONS)
    outcome: str | None
    seed: int
    scores: tuple[UUID, ...] = Field(max_length=MAX_SCORE_SETS)
    latency: bool
    created_at: datetime
