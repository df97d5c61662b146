"""What people say of the conversations of a score set: annotators of a campaign, or those who chatted with the bots."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.fed.correlations import CorrelationLevel
from spotthebot.fed.clients import Campaigns, Collections
from spotthebot.fed.domain.errors import NoRatingsOfTurns, NoSuchRating, OtherCampaign
from spotthebot.fed.domain.rated_questions import RatedQuestion, rated_questions
from spotthebot.fed.domain.ratings import Rating, ShownTurns, ratings_in_campaign, ratings_of_chats
from spotthebot.fed.domain.score_sets import ScoreJob


@dataclass(frozen=True)
class FetchedRatings:
    """What people answered to the question `rated`, whatever bots it is about.

    `shown` has what stands for the text of conversations, as far as annotators see it: equal where they see the same.
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
    """Return what people answered; raises NoSuchCampaign, OtherCampaign, NoSuchRating, NoRatingsOfTurns."""
    if campaign_id is None:
        of_chats = await _of_chats(collections, job.request.collection_id, rated, level)
        return FetchedRatings(None, rated, level, of_chats, {})
    campaign = await campaigns.get(campaign_id)
    if job.request.collection_id not in campaign.collections:
        raise OtherCampaign(campaign=campaign.name, reason="it does not show the collection that was scored")
    questions = rated_questions(await campaigns.protocol(campaign))
    question = _question(campaign, questions, rated, level)
    annotations = [each async for each in campaigns.annotations(campaign_id)]
    speakers = {
        each.id: (each.participants[0].name, each.participants[1].name)
        async for each in collections.speakers(job.request.collection_id)
    }
    turns = {}
    if question.per == "turn":
        turns = {
            each.id: ShownTurns(
                sides="".join(turn.speaker for turn in each.turns),
                opening=len(each.opening),
                opening_shown=len(each.opening) if each.opening_shown else 0,
            )
            async for each in collections.texts(job.request.collection_id)
        }
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
    campaign: CampaignOut, questions: dict[str, RatedQuestion], rated: str, level: CorrelationLevel
) -> RatedQuestion:
    source = f"campaigns by the protocol '{campaign.protocol}'"
    if rated not in questions:
        raise NoSuchRating(rated=rated, source=source, known=_listed("there are", [*questions]))
    question = questions[rated]
    if level == "turn" and question.per != "turn":
        of_turns = [each.name for each in questions.values() if each.per == "turn"]
        known = _listed("ratings of turns are", of_turns) if of_turns else "its questions are about whole dialogues"
        raise NoRatingsOfTurns(rated=rated, source=source, known=known)
    return question


def _listed(words: str, names: Sequence[str]) -> str:
    return f"{words} {', '.join(names)}" if names else "there are none"
