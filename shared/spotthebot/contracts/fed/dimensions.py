"""Dimensions: qualities of dialogues that FED scores. Each has follow-ups that praise the quality or complain."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from spotthebot.contracts.wire import Name, Text, Wire

MAX_DIMENSIONS = 100
MAX_FOLLOWUPS = 50

Followup = Annotated[Text, StringConstraints(min_length=1, max_length=500)]
_Followups = Annotated[tuple[Followup, ...], Field(max_length=MAX_FOLLOWUPS)]


class DimensionIn(Wire):
    """One quality, with follow-ups that are likely if it is good, and follow-ups that are likely if it is bad."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9 _-]{0,62}$")]
    positive: _Followups = ()
    negative: _Followups = ()


class DimensionSetIn(Wire):
    """Dimensions to store under a name. If the name is known, they become its next version."""

    name: Name
    dimensions: tuple[DimensionIn, ...] = Field(min_length=1, max_length=MAX_DIMENSIONS)


class DimensionSetOut(Wire):
    """One version of a dimension set; it never changes."""

    name: str
    version: int
    origin: Literal["built_in", "user"]
    written_by: str = Field(description="Who wrote the follow-ups.")
    dimensions: tuple[DimensionIn, ...] = Field(max_length=MAX_DIMENSIONS)
    created_at: datetime | None = Field(description="Null for a set that is built in.")
