"""Summaries of a job's scores for each bot: means with intervals and rank ranges, and the length baseline."""

import math
from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np

from spotthebot.contracts.fed.score_jobs import BaselineOut, BotScoreOut, DimensionScoresOut, ScoreJobIn
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
    """Return the summary of each dimension. This computes bootstraps and blocks the thread.

    `openings` has a key of the opening of each conversation that has one.
    """
    opening = [openings.get(each.conversation_id) for each in contexts]
    return [
        _dimension(contexts, [each.scores[number] for each in contexts], opening, dimension.name, request)
        for number, dimension in enumerate(dimensions)
    ]


def _dimension(
    contexts: Sequence[ScoredContext],
    scores: Sequence[float],
    openings: Sequence[str | None],
    name: str,
    request: ScoreJobIn,
) -> DimensionScoresOut:
    line = fit_length_baseline([each.length for each in contexts], scores)
    found = score_bots(
        scores,
        [each.bot for each in contexts],
        [each.text for each in contexts],
        np.array(openings, dtype=object),
        confidence_level=request.confidence_level,
        n_resamples=request.resamples,
        seed=request.seed,
    )
    bots = []
    for each in found.bots:
        expected = _expected(line, [context.length for context in contexts if context.bot == each.bot])
        bots.append(
            BotScoreOut(
                bot=each.bot,
                score=each.estimate,
                low=each.low,
                high=each.high,
                reason=each.reason,
                rank_low=each.rank_low,
                rank_high=each.rank_high,
                contexts=each.n,
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


def _expected(line: LengthBaseline | None, lengths: Sequence[int]) -> float | None:
    return None if line is None else math.fsum(map(line.score_of, lengths)) / len(lengths)
