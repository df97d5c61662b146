"""The leaderboard of a game in which annotators open one exchange after the other, and the annotators' view of it."""

from typing import Annotated

from pydantic import Field

from spotthebot.contracts.wire import Wire

TurnPenalty = Annotated[
    float, Field(ge=0, le=1, description="Which part of its worth a right label has lost at the last exchange.")
]


class LeaderboardEntry(Wire):
    """One annotator's points."""

    rank: int = Field(description="From 1; equal points share one.")
    annotator: str = Field(description="A pseudonym, the same as in exports of the campaign.")
    packages: int
    sides: int = Field(description="Sides of conversations that the annotator decided on.")
    right: int
    wrong: int
    unsure: int
    mean_turn: float | None = Field(
        description="Mean number of exchanges that were open at a label human or bot; null without one."
    )
    points: float
    points_per_side: float


class AnnotatorRankOut(Wire):
    """One annotator's rank, as annotators may see it."""

    rank: int = Field(description="From 1; equal points share one.")
    annotator: str = Field(
        description="A pseudonym, the same as in exports; `pseudonym` of an entry says which is somebody's own."
    )
    packages: int
    sides: int = Field(description="Sides that count: while the campaign goes on, of conversations that are settled.")
    right: int | None = Field(description="Sides labelled rightly; null while the campaign goes on.")
    points: float | None = Field(description="Null while the campaign goes on.")
