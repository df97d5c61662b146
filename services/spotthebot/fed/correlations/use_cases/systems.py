"""Correlates bots' mean scores with people's mean ratings, whichever conversations scores and ratings come from."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from spotthebot.contracts.fed.system_correlations import (
    RatedSystemOut,
    ScoredCollectionOut,
    SystemCorrelationsIn,
    SystemCorrelationsOut,
    SystemDimensionOut,
)
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.fed.clients import Campaigns, Collections
from spotthebot.fed.correlations.domain import RatedItem
from spotthebot.fed.correlations.errors import NoDimensionInCommon, NoSuchRating
from spotthebot.fed.correlations.use_cases.correlate import ceiling, dimension_correlations, ratings_of_items
from spotthebot.fed.correlations.use_cases.ratings import fetch_campaign, fetch_chats, listed
from spotthebot.fed.dialogue_scores.domain import DialogueScore, dialogue_scores, mean_scores
from spotthebot.fed.score_sets.domain import ScoreJob
from spotthebot.fed.score_sets.use_cases import get_complete, read_contexts
from spotthebot.kit.database.sessions import Database


@dataclass(frozen=True)
class SystemRating:
    """One rating of a bot. Annotators of one name are one in all campaigns; those of chats and tables are others."""

    bot: str
    annotator: str
    value: float


@dataclass(frozen=True)
class ScoredSystems:
    """A score set with the scores of each of its bots by dialogue."""

    job: ScoreJob
    collection: str
    mode: str
    bots: Mapping[str, Sequence[DialogueScore]]

    @property
    def dimensions(self) -> list[str]:
        return [each.dimension for each in self.job.dimensions or ()]


async def read_systems(
    database: Database, collections: Collections, request: SystemCorrelationsIn
) -> list[ScoredSystems]:
    """Return the bots of each score set; raises NoSuchScoreJob, NotScoredYet, NoDimensionInCommon."""
    found = []
    for set_id in dict.fromkeys(request.score_sets):
        async with database.read() as session:
            job = await get_complete(session, set_id)
        collection = await collections.require_ended(job.request.collection_id)
        bots: dict[str, list[DialogueScore]] = {}
        for each in dialogue_scores(await read_contexts(database, job.id)):
            if each.bot != HUMAN_NAME:
                bots.setdefault(each.bot, []).append(each)
        found.append(ScoredSystems(job, collection.name, collection.mode, bots))
    if not _common_dimensions(found):
        raise NoDimensionInCommon
    return found


async def fetch_system_ratings(
    campaigns: Campaigns, collections: Collections, request: SystemCorrelationsIn, dimensions: Sequence[str]
) -> dict[str, list[SystemRating]]:
    """Return people's ratings of bots, by question: those of all campaigns, chats, studies and tables of the request.

    Questions that no dimension is compared with have no ratings. Raises NoSuchCampaign, NoSuchStudy, NoChats.
    """
    studies = [await campaigns.study(each) for each in request.studies]
    rated = dimensions if request.rated is None else [request.rated]
    found: dict[str, list[SystemRating]] = {}
    for campaign_id in dict.fromkeys(chain(request.campaigns, *(each.campaigns for each in studies))):
        for question, ratings in (await fetch_campaign(campaigns, collections, campaign_id, rated)).items():
            found.setdefault(question, []).extend(
                SystemRating(each.bot, f"campaigns/{each.annotator}", each.value) for each in ratings
            )
    for collection_id in dict.fromkeys(chain(request.chats, *(each.chats for each in studies))):
        for question, ratings in (await fetch_chats(collections, collection_id)).items():
            found.setdefault(question, []).extend(
                SystemRating(each.bot, f"{collection_id}/{each.annotator}", each.value) for each in ratings
            )
    for row in request.ratings:
        found.setdefault(row.question, []).append(SystemRating(row.bot, f"table/{row.annotator}", row.value))
    return found


async def correlate_systems(
    database: Database, campaigns: Campaigns, collections: Collections, request: SystemCorrelationsIn
) -> SystemCorrelationsOut:
    """Correlate the mean scores of bots with their mean ratings, by dimension and score set.

    A bot's score is its mean over dialogues; its rating is the mean over annotators. Bots that not every score set has
    are left out, so that all sets are compared by the same bots. Raises the errors of the two functions above, and
    NoSuchRating.
    """
    scored = await read_systems(database, collections, request)
    dimensions = _common_dimensions(scored)
    ratings = await fetch_system_ratings(campaigns, collections, request, dimensions)
    rated = {each: request.rated or each for each in dimensions}
    rated = {dimension: question for dimension, question in rated.items() if question in ratings}
    if not rated:
        asked = request.rated or ", ".join(dimensions)
        raise NoSuchRating(rated=asked, source="these sources", known=listed("there are", sorted(ratings)))
    bots = set.intersection(*(set(each.bots) for each in scored))
    return SystemCorrelationsOut(
        score_sets=tuple(
            ScoredCollectionOut(
                score_set_id=each.job.id,
                collection_id=each.job.request.collection_id,
                collection=each.collection,
                mode=each.mode,
                dialogues=sum(len(each.bots[bot]) for bot in bots),
                model_sha256=each.job.model_sha256 or "",
            )
            for each in scored
        ),
        dimensions=tuple(
            [
                await asyncio.to_thread(_dimension, dimension, question, scored, bots, ratings[question], request)
                for dimension, question in rated.items()
            ]
        ),
        left_out=tuple(sorted(set(chain.from_iterable(each.bots for each in scored)) - bots)),
        confidence_level=request.confidence_level,
    )


def _common_dimensions(scored: Sequence[ScoredSystems]) -> list[str]:
    return [name for name in scored[0].dimensions if all(name in each.dimensions for each in scored)]


def _dimension(
    dimension: str,
    question: str,
    scored: Sequence[ScoredSystems],
    bots: Iterable[str],
    ratings: Sequence[SystemRating],
    request: SystemCorrelationsIn,
) -> SystemDimensionOut:
    chosen = sorted({each.bot for each in ratings}.intersection(bots))
    sets = [_items(dimension, each, chosen, ratings) for each in scored]
    known = ratings_of_items(sets[0])
    level = request.confidence_level
    systems = [
        RatedSystemOut(
            bot=item.bot,
            rating=float(mean),
            annotators=len(item.ratings),
            scores=tuple(items[number].scores[0] for items in sets),
        )
        for number, (item, mean) in enumerate(zip(sets[0], known.means(), strict=True))
    ]
    return SystemDimensionOut(
        dimension=dimension,
        rated=question,
        systems=tuple(sorted(systems, key=lambda each: -each.rating)),
        score_sets=tuple(dimension_correlations(dimension, items, 0, known, level) for items in sets),
        ceiling=ceiling(sets[0], request.seed),
    )


def _items(
    dimension: str, scored: ScoredSystems, bots: Sequence[str], ratings: Sequence[SystemRating]
) -> list[RatedItem]:
    """Return one item for each bot, with its mean score on the dimension as its only score."""
    at = scored.dimensions.index(dimension)
    items = {}
    for bot in bots:
        own = scored.bots[bot]
        score, length = mean_scores([(each.scores[at], each.length) for each in own])
        items[bot] = RatedItem(bot, bot, (score,), length)
    for each in ratings:
        if each.bot in items:
            items[each.bot].ratings[each.annotator].append(each.value)
    return list(items.values())
