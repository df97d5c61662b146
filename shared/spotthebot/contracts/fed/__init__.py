"""The wire schemas of FED: dimensions, scorers, scores, and jobs that score collections."""

from spotthebot.contracts.fed.correlations import (
    CorrelationOut,
    CorrelationsOut,
    DimensionCorrelationsOut,
    SplitHalfOut,
)
from spotthebot.contracts.fed.dimensions import DimensionIn, DimensionSetIn, DimensionSetOut
from spotthebot.contracts.fed.score_jobs import (
    BaselineOut,
    BotScoreOut,
    ContextScoresOut,
    DimensionScoresOut,
    ExportedScore,
    RejectedOut,
    ScoreJobIn,
    ScoreJobOut,
    ScoreJobState,
    ScoreSetOut,
)
from spotthebot.contracts.fed.scorers import DimensionSetRef, JoinIn, Level, Mode, PolarityChoice, ScorerIn, SetRule
from spotthebot.contracts.fed.scores import (
    DialogueIn,
    DialogueTurn,
    FollowupOut,
    RejectedDialogueOut,
    ScoreOut,
    ScoresIn,
    ScoresOut,
)

__all__ = [
    "BaselineOut",
    "BotScoreOut",
    "ContextScoresOut",
    "CorrelationOut",
    "CorrelationsOut",
    "DialogueIn",
    "DialogueTurn",
    "DimensionCorrelationsOut",
    "DimensionIn",
    "DimensionScoresOut",
    "DimensionSetIn",
    "DimensionSetOut",
    "DimensionSetRef",
    "ExportedScore",
    "FollowupOut",
    "JoinIn",
    "Level",
    "Mode",
    "PolarityChoice",
    "RejectedDialogueOut",
    "RejectedOut",
    "ScoreJobIn",
    "ScoreJobOut",
    "ScoreJobState",
    "ScoreOut",
    "ScoreSetOut",
    "ScorerIn",
    "ScoresIn",
    "ScoresOut",
    "SetRule",
    "SplitHalfOut",
]
