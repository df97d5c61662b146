"""Ratings of a score set's conversations, by a campaign's annotators or by people who chatted with the bots."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.measures import MeasuredQuestion, measured_questions, shown_turns_of
from spotthebot.contracts.fed.correlations import CorrelationLevel
from spotthebot.fed.clients import Campaigns, Collections
from spotthebot.fed.domain.errors import NoRatingsOfTurns, NoSuchRating, OtherCampaign
from spotthebot.fed.domain.ratings import Rating, ratings_in_campaign, ratings_of_chats
from spotthebot.fed.domain.score_sets import ScoreJob


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
