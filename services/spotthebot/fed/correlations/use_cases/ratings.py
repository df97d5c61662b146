"""Fetches people's ratings of bots: of a campaign's annotators, or of people who chatted with the bots."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.measures import MeasuredQuestion, ShownTurns, measured_questions, shown_turns_of
from spotthebot.contracts.fed.correlations import CorrelationLevel
from spotthebot.fed.clients import Campaigns, Collections
from spotthebot.fed.correlations.errors import NoRatingsOfTurns, NoSuchRating, OtherCampaign
from spotthebot.fed.ratings.domain import Rating, ratings_in_campaign, ratings_of_chats
from spotthebot.fed.score_sets.domain import ScoreJob

_OTHER: Final = (
    "it does not show the collection that was scored. To compare bots by scores and ratings of different"
    " conversations, use POST /v1/system-correlations"
)


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
        raise OtherCampaign(campaign=campaign.name, reason=_OTHER)
    questions = await _questions(campaigns, campaign)
    question = _question(campaign, questions, rated, level)
    (ratings,) = await _of_campaign(campaigns, collections, campaign, [question], [job.request.collection_id])
    return FetchedRatings(campaign_id, rated, level, ratings, await campaigns.shown_texts(campaign_id))


async def fetch_campaign(
    campaigns: Campaigns, collections: Collections, campaign_id: UUID, rated: Collection[str]
) -> dict[str, list[Rating]]:
    """Return the answers to each question of a campaign, about all bots; answers only to questions in `rated`.

    The questions that are not in `rated` have no answers. Raises NoSuchCampaign.
    """
    campaign = await campaigns.get(campaign_id)
    questions = await _questions(campaigns, campaign)
    chosen = [name for name in questions if name in rated]
    found = await _of_campaign(
        campaigns, collections, campaign, [questions[name] for name in chosen], campaign.collections
    )
    return {name: [] for name in questions} | dict(zip(chosen, found, strict=True))


async def fetch_chats(collections: Collections, collection_id: UUID) -> dict[str, list[Rating]]:
    """Return the ratings by people who chatted with bots, by question; raises NoSuchCollection, NoChats."""
    chats = await collections.chat_ratings(collection_id)
    names = {name for chat in chats for held in chat.conversations for name in held.scores}
    return {name: ratings_of_chats(chats, name) for name in sorted(names)}


async def _questions(campaigns: Campaigns, campaign: CampaignOut) -> dict[str, MeasuredQuestion]:
    protocol = await campaigns.protocol(campaign)
    return {} if protocol.unit.kind == "pair" else measured_questions(protocol)


async def _of_campaign(
    campaigns: Campaigns,
    collections: Collections,
    campaign: CampaignOut,
    questions: Sequence[MeasuredQuestion],
    shown: Sequence[UUID],
) -> list[list[Rating]]:
    """Return the answers to each question about conversations of the collections `shown`."""
    annotations = [each async for each in campaigns.annotations(campaign.id)]
    speakers: dict[UUID, tuple[str, str]] = {}
    turns: dict[UUID, ShownTurns] = {}
    for collection_id in shown:
        async for spoke in collections.speakers(collection_id):
            speakers[spoke.id] = spoke.participants[0].name, spoke.participants[1].name
        if any(each.per == "turn" for each in questions):
            turns |= {each.id: shown_turns_of(each) async for each in collections.texts(collection_id)}
    return [ratings_in_campaign(annotations, each, speakers, turns if each.per == "turn" else {}) for each in questions]


async def _of_chats(collections: Collections, collection_id: UUID, rated: str, level: CorrelationLevel) -> list[Rating]:
    found = await fetch_chats(collections, collection_id)
    source = "the chats of this collection"
    if rated not in found:
        raise NoSuchRating(rated=rated, source=source, known=listed("there are", [*found]))
    if level == "turn":
        raise NoRatingsOfTurns(rated=rated, source=source, known="people rate whole chats")
    return found[rated]


def _question(
    campaign: CampaignOut, questions: dict[str, MeasuredQuestion], rated: str, level: CorrelationLevel
) -> MeasuredQuestion:
    source = f"campaigns by the protocol '{campaign.protocol}'"
    if rated not in questions:
        raise NoSuchRating(rated=rated, source=source, known=listed("there are", [*questions]))
    question = questions[rated]
    if level == "turn" and question.per != "turn":
        of_turns = [name for name, each in questions.items() if each.per == "turn"]
        known = listed("ratings of turns are", of_turns) if of_turns else "its questions are about whole dialogues"
        raise NoRatingsOfTurns(rated=rated, source=source, known=known)
    return question


def listed(words: str, names: Sequence[str]) -> str:
    """Return names after words that introduce them; if there are none, a clause that says so."""
    return f"{words} {', '.join(names)}" if names else "there are none"
