"""Results of a score set that need the partner of each dialogue. All compute, and store nothing."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from spotthebot.contracts.analytics.analyses import StabilityPoint
from spotthebot.contracts.fed.dialogue_scores import (
    FavouredBotOut,
    OrderStabilityOut,
    PartnerScoreOut,
    PartnerScoresOut,
    UnfairPoolOut,
)
from spotthebot.fed.clients import Collections
from spotthebot.fed.dialogue_scores.domain import DialogueScore, dialogue_scores
from spotthebot.fed.dialogue_scores.errors import NoSuchScoredBot, NoSuchScoredDimension
from spotthebot.fed.score_sets.domain import ScoreJob
from spotthebot.fed.score_sets.use_cases import get_complete, read_contexts
from spotthebot.fed.stats.bot_scores import score_bots
from spotthebot.fed.stats.order_stability import order_stability
from spotthebot.fed.stats.unfair_pools import unfair_pool
from spotthebot.kit.database.sessions import Database


@dataclass(frozen=True)
class PlayedDialogues:
    """The scores of all bots by dialogue on one dimension, as columns with one element for each bot and dialogue."""

    job: ScoreJob
    dimension: str
    dialogues: Sequence[DialogueScore]
    scores: Sequence[float]
    partners: Sequence[str]
    openings: Sequence[str | None]

    @property
    def bots(self) -> list[str]:
        return [each.bot for each in self.dialogues]

    @property
    def texts(self) -> list[str]:
        return [each.text for each in self.dialogues]

    def require(self, bots: Sequence[str]) -> None:
        """Raise NoSuchScoredBot if a bot has no scores."""
        known = sorted({*self.bots})
        for bot in bots:
            if bot not in known:
                raise NoSuchScoredBot(bot=bot, known=", ".join(known))


async def read_played(
    database: Database, collections: Collections, set_id: UUID, dimension: str | None
) -> PlayedDialogues:
    """Return the scores of a set by dialogue, with partners; without `dimension`, on the set's first.

    Raises NoSuchScoreJob, NotScoredYet and NoSuchScoredDimension.
    """
    async with database.read() as session:
        job = await get_complete(session, set_id)
    known = [each.dimension for each in job.dimensions or ()]
    name = known[0] if dimension is None else dimension
    if name not in known:
        raise NoSuchScoredDimension(dimension=name, known=", ".join(known))
    names = {
        each.id: [participant.name for participant in each.participants]
        async for each in collections.speakers(job.request.collection_id)
    }
    openings = await collections.openings(job.request.collection_id)
    dialogues = dialogue_scores(await read_contexts(database, job.id))
    return PlayedDialogues(
        job=job,
        dimension=name,
        dialogues=dialogues,
        scores=[each.scores[known.index(name)] for each in dialogues],
        partners=[_partner(each.bot, names[each.conversation_id]) for each in dialogues],
        openings=[openings.get(each.conversation_id) for each in dialogues],
    )


async def summarize_partners(played: PlayedDialogues, bot: str) -> PartnerScoresOut:
    """Return a bot's mean scores by partner, highest first; raises NoSuchScoredBot."""
    played.require([bot])
    own = [at for at, each in enumerate(played.dialogues) if each.bot == bot]
    scores, partners = [played.scores[at] for at in own], [played.partners[at] for at in own]
    request = played.job.request
    found = await asyncio.to_thread(
        score_bots,
        scores,
        partners,
        [played.dialogues[at].text for at in own],
        np.array([played.openings[at] for at in own], dtype=object),
        confidence_level=request.confidence_level,
        n_resamples=request.resamples,
        seed=request.seed,
    )

    def example(partner: str, mean: float) -> UUID:
        distances = [(abs(played.scores[at] - mean), at) for at in own if played.partners[at] == partner]
        return played.dialogues[min(distances)[1]].conversation_id

    return PartnerScoresOut(
        score_set_id=played.job.id,
        bot=bot,
        dimension=played.dimension,
        partners=tuple(
            PartnerScoreOut.of(
                each,
                partner=each.bot,
                score=each.estimate,
                dialogues=each.n_dialogues,
                example=example(each.bot, each.estimate),
            )
            for each in found.bots
        ),
        confidence_level=found.confidence_level,
        method=found.method,
    )


async def compute_stability(
    played: PlayedDialogues, *, sizes: Sequence[int] | None, samples: int, seed: int
) -> OrderStabilityOut:
    """Return how stable the order of the bots is, by the number of dialogues of each pair."""
    found = await asyncio.to_thread(
        order_stability,
        played.scores,
        played.bots,
        played.partners,
        played.texts,
        sizes=sizes,
        n_samples=samples,
        seed=seed,
    )
    return OrderStabilityOut(
        score_set_id=played.job.id,
        dimension=played.dimension,
        points=tuple(
            StabilityPoint(
                conversations=each.size, rate=each.estimate, low=each.low, high=each.high, clusters=each.order
            )
            for each in found.points
        ),
        first_stable=found.first_stable,
        stable_from=found.stable_from,
        samples=samples,
        seed=seed,
        method=found.method,
        reason=found.reason,
    )


async def compare_pools(
    played: PlayedDialogues, *, unfavoured: str, similar: Sequence[str], resamples: int, seed: int
) -> UnfairPoolOut:
    """Return how an unfair pool changes who wins over the unfavoured bot; raises NoSuchScoredBot, SettingOutOfRange."""
    played.require([unfavoured, *similar])
    found = await asyncio.to_thread(
        unfair_pool,
        played.scores,
        played.bots,
        played.partners,
        played.texts,
        unfavoured=unfavoured,
        similar=similar,
        n_resamples=resamples,
        seed=seed,
    )
    return UnfairPoolOut(
        score_set_id=played.job.id,
        dimension=played.dimension,
        unfavoured=unfavoured,
        similar=tuple(similar),
        wins_both=found.count(fair=True, unfair=True),
        wins_fair_only=found.count(fair=True, unfair=False),
        wins_unfair_only=found.count(fair=False, unfair=True),
        wins_neither=found.count(fair=False, unfair=False),
        p_value=found.p_value,
        favoured=tuple(FavouredBotOut.of(each) for each in found.bots),
        resamples=found.n_resamples,
        seed=seed,
        method=found.method,
    )


def _partner(bot: str, names: Sequence[str]) -> str:
    return names[1] if names[0] == bot else names[0]
