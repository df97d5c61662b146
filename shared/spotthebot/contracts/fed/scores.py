"""Scores of a few dialogues, computed at once."""

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from spotthebot.contracts.fed.dimensions import MAX_DIMENSIONS, MAX_FOLLOWUPS
from spotthebot.contracts.fed.scorers import TEMPLATE_DATE, Level, ScorerIn
from spotthebot.contracts.turns import MAX_TURNS
from spotthebot.contracts.wire import ExternalId, Text, Utterance, Wire

MAX_DIALOGUES = 32
"""Dialogues that one request may score."""
_MAX_SCORES = MAX_DIALOGUES * MAX_TURNS * MAX_DIMENSIONS
_Speaker = Annotated[Text, StringConstraints(min_length=1, max_length=100)]


class DialogueTurn(Wire):
    """One utterance of a speaker."""

    speaker: _Speaker
    text: Utterance


class DialogueIn(Wire):
    """A dialogue, its turns oldest first."""

    id: ExternalId
    turns: tuple[DialogueTurn, ...] = Field(max_length=MAX_TURNS)


class ScoresIn(Wire):
    """Dialogues to score now. To score more of them, start a job: `POST /v1/score-jobs`."""

    scorer: ScorerIn
    dialogues: tuple[DialogueIn, ...] = Field(min_length=1, max_length=MAX_DIALOGUES)
    level: Level = "dialogue"
    speaker: _Speaker | None = Field(default=None, description="Score this speaker's turns alone.")
    tokens: bool = Field(default=False, description="Return the log-probability of each token of the follow-ups.")


class FollowupOut(Wire):
    """A follow-up and its value, in nats. `mode` defines the value: the likelier the follow-up, the lower."""

    text: str
    polarity: Literal["positive", "negative"]
    value: float
    token_log_probabilities: tuple[float, ...] | None = Field(default=None, max_length=1000)


class ScoreOut(Wire):
    """The score of one dimension after a number of turns of a dialogue, and its length baseline."""

    id: str
    turn: int
    dimension: str
    score: float
    length_baseline: float | None = Field(
        description="What length alone says, fitted over the dialogues of this request; null with fewer than three "
        "lengths."
    )
    turns_left_out: int = Field(description="Oldest turns that the model could not read.")
    followups: tuple[FollowupOut, ...] = Field(max_length=2 * MAX_FOLLOWUPS)


class RejectedDialogueOut(Wire):
    """A dialogue that could not be scored."""

    id: str
    reason: str


class ScoresOut(Wire):
    """The scores of all dialogues that could be scored."""

    model_sha256: str = Field(description="Over the files of the model.")
    template_date: date | None = Field(description=TEMPLATE_DATE)
    scores: tuple[ScoreOut, ...] = Field(max_length=_MAX_SCORES)
    rejected: tuple[RejectedDialogueOut, ...] = Field(max_length=MAX_DIALOGUES)
