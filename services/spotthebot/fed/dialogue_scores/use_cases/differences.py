"""The difference between two versions of a bot that were scored in the same planned conversations."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from spotthebot.contracts.conversations.conversations import Participant, SpeakersOut
from spotthebot.contracts.fed.dialogue_scores import ScoreDifferenceOut
from spotthebot.fed.clients import Collections
from spotthebot.fed.dialogue_scores.errors import NotOneBot, OtherModel, PlansDiffer
from spotthebot.fed.dialogue_scores.use_cases.played import PlayedDialogues, read_played
from spotthebot.fed.dialogue_scores.use_cases.references import reference_of
from spotthebot.fed.stats.paired_difference import paired_difference
from spotthebot.kit.database.sessions import Database


@dataclass(frozen=True)
class _Planned:
    """A conversation of a plan: its partner, whether the bot begins, and its opening; its text and score if scored."""

    place: tuple[Participant, bool, str | None]
    text: str = ""
    score: float | None = None


async def compute_difference(
    database: Database,
    collections: Collections,
    set_id: UUID,
    baseline_id: UUID,
    *,
    dimension: str | None,
    confidence_level: float,
) -> ScoreDifferenceOut:
    """Return the mean difference of two score sets with one bot each, paired by the plan's conversations.

    Raises NoSuchScoreJob, NotScoredYet, NoSuchScoredDimension, NotOneBot, OtherModel and PlansDiffer.
    """
    played = await read_played(database, collections, set_id, dimension)
    before = await read_played(database, collections, baseline_id, played.dimension)
    if reference_of(played.job).rule != reference_of(before.job).rule:
        raise OtherModel
    new, old = await _planned(collections, played), await _planned(collections, before)
    if [each.place for each in new] != [each.place for each in old]:
        raise PlansDiffer
    pairs = [
        (one.score, other.score, f"{one.text} {other.text}", one.place[-1])
        for one, other in zip(new, old, strict=True)
        if one.score is not None and other.score is not None
    ]
    if not pairs:
        raise PlansDiffer
    scores, baselines, texts, openings = zip(*pairs, strict=True)
    found = await asyncio.to_thread(
        paired_difference,
        scores,
        baselines,
        texts,
        np.array(openings, dtype=object),
        confidence_level=confidence_level,
        n_resamples=played.job.request.resamples,
        seed=played.job.request.seed,
    )
    return ScoreDifferenceOut.of(
        found,
        score_set_id=set_id,
        baseline_id=baseline_id,
        dimension=played.dimension,
        score=float(np.mean(scores)),
        baseline=float(np.mean(baselines)),
        pairs=found.n,
        openings=len({*openings} - {None}),
        left_out=len(new) - found.n,
        resamples=found.n_resamples,
    )


async def _planned(collections: Collections, played: PlayedDialogues) -> list[_Planned]:
    """Return a collection's conversations in the order of its plan, which is that of their ids."""
    bots = {*played.bots}
    if len(bots) != 1:
        raise NotOneBot(bots=", ".join(sorted(bots)))
    (bot,) = bots
    scored = {each.conversation_id: at for at, each in enumerate(played.dialogues)}
    openings = await collections.openings(played.job.request.collection_id)
    spoken = [each async for each in collections.speakers(played.job.request.collection_id)]

    def planned(spoke: SpeakersOut) -> _Planned:
        begins = spoke.participants[0].name == bot
        place = (spoke.participants[begins], begins, openings.get(spoke.id))
        at = scored.get(spoke.id)
        return _Planned(place) if at is None else _Planned(place, played.texts[at], played.scores[at])

    return [planned(each) for each in sorted(spoken, key=lambda each: each.id)]
