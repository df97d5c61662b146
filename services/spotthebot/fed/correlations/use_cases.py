"""Fetches people's ratings of a score set's conversations, and correlates the scores with them.

The raters are a campaign's annotators, or people who chatted with the bots.
"""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.measures import MeasuredQuestion, measured_questions, shown_turns_of
from spotthebot.contracts.fed.correlations import (
    CorrelationLevel,
    CorrelationOut,
    CorrelationsOut,
    DimensionCorrelationsOut,
    SplitHalfOut,
)
from spotthebot.fed.clients import Campaigns, Collections
from spotthebot.fed.correlations.domain import (
    RatedItem,
    clusters_of,
    rated_as_systems,
    rated_in_dialogues,
    rated_in_turns,
)
from spotthebot.fed.correlations.errors import NoRatingsOfTurns, NoSuchRating, OtherCampaign
from spotthebot.fed.ratings.domain import Rating, ratings_in_campaign, ratings_of_chats
from spotthebot.fed.score_sets.domain import ScoreJob
from spotthebot.fed.score_sets.use_cases import read_contexts
from spotthebot.fed.stats.annotator_ratings import annotator_ratings
from spotthebot.fed.stats.correlation import beside_length
from spotthebot.fed.stats.split_half import split_half
from spotthebot.kit.database.sessions import Database


@dataclass(frozen=True)
class FetchedRatings:
    """People's answers to the question `rated`, about all bots.

    `shown` has for each conversation a hash of the text that annotators see.
    """

    campaign_id: UUID | None
    rated: str
    level: CorrelationLevel
    ratings: Sequence[Rating]
    shown: Mapping[UUID, str]


async def fetch_ratings(
    campaigns: Campaigns,
    collections: Collections,
    job: ScoreJob,
    campaign_id: UUID | None,
    *,
    rated: str,
    level: CorrelationLevel,
) -> FetchedRatings:
    """Return people's answers; raises NoSuchCampaign, OtherCampaign, NoSuchRating, NoRatingsOfTurns."""
    if campaign_id is None:
        of_chats = await _of_chats(collections, job.request.collection_id, rated, level)
        return FetchedRatings(None, rated, level, of_chats, {})
    campaign = await campaigns.get(campaign_id)
    if job.request.collection_id not in campaign.collections:
        raise OtherCampaign(campaign=campaign.name, reason="it does not show the collection that was scored")
    protocol = await campaigns.protocol(campaign)
    questions = {} if protocol.unit.kind == "pair" else measured_questions(protocol)
    question = _question(campaign, questions, rated, level)
    annotations = [each async for each in campaigns.annotations(campaign_id)]
    speakers = {
        each.id: (each.participants[0].name, each.participants[1].name)
        async for each in collections.speakers(job.request.collection_id)
    }
    turns = {}
    if question.per == "turn":
        turns = {each.id: shown_turns_of(each) async for each in collections.texts(job.request.collection_id)}
    ratings = ratings_in_campaign(annotations, question, speakers, turns)
    return FetchedRatings(campaign_id, rated, level, ratings, await campaigns.shown_texts(campaign_id))


async def _of_chats(collections: Collections, collection_id: UUID, rated: str, level: CorrelationLevel) -> list[Rating]:
    chats = await collections.chat_ratings(collection_id)
    known = {name for chat in chats for held in chat.conversations for name in held.scores}
    source = "the chats of this collection"
    if rated not in known:
        raise NoSuchRating(rated=rated, source=source, known=_listed("there are", sorted(known)))
    if level == "turn":
        raise NoRatingsOfTurns(rated=rated, source=source, known="people rate whole chats")
    return ratings_of_chats(chats, rated)


def _question(
    campaign: CampaignOut, questions: dict[str, MeasuredQuestion], rated: str, level: CorrelationLevel
) -> MeasuredQuestion:
    source = f"campaigns by the protocol '{campaign.protocol}'"
    if rated not in questions:
        raise NoSuchRating(rated=rated, source=source, known=_listed("there are", [*questions]))
    question = questions[rated]
    if level == "turn" and question.per != "turn":
        of_turns = [name for name, each in questions.items() if each.per == "turn"]
        known = _listed("ratings of turns are", of_turns) if of_turns else "its questions are about whole dialogues"
        raise NoRatingsOfTurns(rated=rated, source=source, known=known)
    return question


def _listed(words: str, names: Sequence[str]) -> str:
    return f"{words} {', '.join(names)}" if names else "there are none"


async def correlate(database: Database, job: ScoreJob, found: FetchedRatings) -> CorrelationsOut:
    """Correlate the scores of each dimension with ratings; compare with length, and with how much people agree."""
    contexts = await read_contexts(database, job.id)
    rated = rated_in_turns if found.level == "turn" else rated_in_dialogues
    items = rated(contexts, found.ratings, clusters_of(contexts, found.shown))
    shown = rated_as_systems(items) if found.level == "system" else items
    return await asyncio.to_thread(_correlations, job, found, shown)


def _correlations(job: ScoreJob, found: FetchedRatings, items: Sequence[RatedItem]) -> CorrelationsOut:
    given = [
        (number, annotator, mean)
        for number, item in enumerate(items)
        for annotator, mean in item.annotator_means.items()
    ]
    ratings = annotator_ratings(
        [number for number, _, _ in given],
        [annotator for _, annotator, _ in given],
        [mean for _, _, mean in given],
        n_items=len(items),
    )
    dimensions = []
    for number, each in enumerate(job.dimensions or ()):
        beside = beside_length(
            [item.scores[number] for item in items],
            ratings,
            [item.length for item in items],
            dialogue=[item.cluster for item in items],
            confidence_level=job.request.confidence_level,
        )
        dimensions.append(
            DimensionCorrelationsOut(
                dimension=each.dimension,
                spearman=CorrelationOut.of(beside.spearman),
                kendall=CorrelationOut.of(beside.kendall),
                length_spearman=CorrelationOut.of(beside.length),
                given_length=CorrelationOut.of(beside.given_length),
                lead_over_length=CorrelationOut.of(beside.lead),
            )
        )
    return CorrelationsOut(
        score_set_id=job.id,
        campaign_id=found.campaign_id,
        rated=found.rated,
        level=found.level,
        confidence_level=job.request.confidence_level,
        dimensions=tuple(dimensions),
        ceiling=_ceiling(items, job.request.seed),
    )


def _ceiling(items: Sequence[RatedItem], seed: int) -> SplitHalfOut:
    means = [list(each.annotator_means.values()) for each in items]
    width = max(map(len, means), default=0)
    found = split_half([[*own, *[math.nan] * (width - len(own))] for own in means] or [[math.nan]], seed=seed)
    return SplitHalfOut.of(found, splits=found.n_splits)
