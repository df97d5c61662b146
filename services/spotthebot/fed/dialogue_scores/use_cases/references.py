"""Gives the scores of a set away as a reference, and ranks a set's bots beside the bots of references."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from spotthebot.contracts.fed.references import (
    MAX_DIALOGUES,
    RankingBesideOut,
    ReferenceBot,
    ScoreReference,
)
from spotthebot.contracts.fed.score_jobs import BotScoreOut, DimensionScoresOut, ScoreJobIn
from spotthebot.fed.clients import Collections
from spotthebot.fed.dialogue_scores.domain import dialogue_scores
from spotthebot.fed.dialogue_scores.errors import OtherScorer, TooManyDialogues
from spotthebot.fed.score_sets.domain import ScoreJob
from spotthebot.fed.score_sets.use_cases import get_complete, read_contexts
from spotthebot.fed.stats.bot_scores import score_bots
from spotthebot.kit.database.sessions import Database


@dataclass(frozen=True)
class ReferredScores:
    """A score set as a reference, with the job that made it."""

    job: ScoreJob
    reference: ScoreReference


async def read_reference(database: Database, collections: Collections, set_id: UUID) -> ReferredScores:
    """Return the scores of a set by dialogue; raises NoSuchScoreJob, NotScoredYet and TooManyDialogues."""
    async with database.read() as session:
        job = await get_complete(session, set_id)
    dialogues = dialogue_scores(await read_contexts(database, job.id))
    if len(dialogues) > MAX_DIALOGUES:
        raise TooManyDialogues(dialogues=len(dialogues), most=MAX_DIALOGUES)
    openings = await collections.openings(job.request.collection_id)
    bots = []
    for name in sorted({each.bot for each in dialogues}):
        own = [each for each in dialogues if each.bot == name]
        bots.append(
            ReferenceBot(
                bot=name,
                texts=tuple(each.text for each in own),
                openings=tuple(openings.get(each.conversation_id) for each in own),
                scores=tuple(each.scores for each in own),
            )
        )
    return ReferredScores(job, reference_of(job, bots))


def reference_of(job: ScoreJob, bots: Sequence[ReferenceBot] = ()) -> ScoreReference:
    """Return a reference with the scorer of a complete job."""
    return ScoreReference(
        scorer=job.request.scorer,
        level=job.request.level,
        model_sha256=job.model_sha256 or "",
        dimensions=tuple(each.dimension for each in job.dimensions or ()),
        bots=tuple(bots),
    )


async def rank_beside(own: ReferredScores, references: Sequence[ScoreReference]) -> RankingBesideOut:
    """Rank a set's bots beside the bots of references by the same scorer; raises OtherScorer.

    A bot of a reference that is called as another bot gets the number of its reference.
    """
    for number, each in enumerate(references, start=1):
        if each.rule != own.reference.rule:
            raise OtherScorer(number=number)
    bots = list(own.reference.bots)
    names = {each.bot for each in bots}
    absent = []
    for number, reference in enumerate(references, start=1):
        for bot in reference.bots:
            name = bot.bot if bot.bot not in names else f"{bot.bot} (reference {number})"
            names.add(name)
            absent.append(name)
            bots.append(bot.model_copy(update={"bot": name}))
    dimensions = await asyncio.gather(
        *(
            asyncio.to_thread(_dimension, at, name, bots, own.job.request)
            for at, name in enumerate(own.reference.dimensions)
        )
    )
    return RankingBesideOut(dimensions=tuple(dimensions), absent=tuple(absent))


def _dimension(at: int, name: str, bots: Sequence[ReferenceBot], request: ScoreJobIn) -> DimensionScoresOut:
    found = score_bots(
        [scores[at] for each in bots for scores in each.scores],
        [each.bot for each in bots for _ in each.scores],
        [text for each in bots for text in each.texts],
        np.array([opening for each in bots for opening in each.openings], dtype=object),
        confidence_level=request.confidence_level,
        n_resamples=request.resamples,
        seed=request.seed,
    )
    rows = tuple(
        BotScoreOut.of(
            each,
            score=each.estimate,
            contexts=each.n,
            dialogues=each.n_dialogues,
            length_baseline=None,
            beyond_length=None,
        )
        for each in found.bots
    )
    return DimensionScoresOut(
        dimension=name, bots=rows, baseline=None, confidence_level=found.confidence_level, method=found.method
    )
