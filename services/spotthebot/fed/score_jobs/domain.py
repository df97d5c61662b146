"""Summaries of a job's scores for each bot: means with intervals and rank ranges, and the length baseline."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from uuid import UUID

import numpy as np
import numpy.typing as npt

from spotthebot.contracts.fed.score_jobs import BaselineOut, BotScoreOut, DimensionScoresOut, ScoreJobIn
from spotthebot.fed.dialogue_scores.domain import DialogueScore, dialogue_scores
from spotthebot.fed.dimension_sets.domain.dimensions import Dimension
from spotthebot.fed.score_sets.domain import ScoredContext
from spotthebot.fed.scores.domain.length_baseline import LengthBaseline, fit_length_baseline
from spotthebot.fed.stats.bot_scores import score_bots


def summarize(
    contexts: Sequence[ScoredContext],
    dimensions: Sequence[Dimension],
    request: ScoreJobIn,
    openings: Mapping[UUID, str],
) -> list[DimensionScoresOut]:
    """Return the summary of each dimension: means over dialogues, of means over a bot's turns in each of them.

    This computes bootstraps and blocks the thread. `openings` has a key of the opening of each conversation that has
    one.
    """
    dialogues = dialogue_scores(contexts)
    opening = np.array([openings.get(each.conversation_id) for each in dialogues], dtype=object)
    return [
        _dimension(dialogues, number, opening, dimension.name, request) for number, dimension in enumerate(dimensions)
    ]


def _dimension(
    dialogues: Sequence[DialogueScore],
    number: int,
    opening: npt.NDArray[np.object_],
    name: str,
    request: ScoreJobIn,
) -> DimensionScoresOut:
    contexts = [context for each in dialogues for context in each.contexts]
    line = fit_length_baseline([each.length for each in contexts], [each.scores[number] for each in contexts])
    found = score_bots(
        [each.scores[number] for each in dialogues],
        [each.bot for each in dialogues],
        [each.text for each in dialogues],
        opening,
        confidence_level=request.confidence_level,
        n_resamples=request.resamples,
        seed=request.seed,
    )
    bots = []
    for each in found.bots:
        own = [dialogue for dialogue in dialogues if dialogue.bot == each.bot]
        expected = None if line is None else fmean(_expected(line, dialogue) for dialogue in own)
        bots.append(
            BotScoreOut.of(
                each,
                score=each.estimate,
                contexts=sum(len(dialogue.contexts) for dialogue in own),
                dialogues=each.n_dialogues,
                length_baseline=expected,
                beyond_length=None if expected is None else each.estimate - expected,
            )
        )
    return DimensionScoresOut(
        dimension=name,
        bots=tuple(bots),
        baseline=None
        if line is None
        else BaselineOut(intercept=line.intercept, slope=line.slope, r2=line.r2, contexts=line.n),
        confidence_level=found.confidence_level,
        method=found.method,
    )


def _expected(line: LengthBaseline, dialogue: DialogueScore) -> float:
    return fmean(line.score_of(each.length) for each in dialogue.contexts)
