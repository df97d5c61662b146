"""What people say of the conversations of a score set: annotators of a campaign, or those who chatted with the bots."""

from collections.abc import Sequence
from uuid import UUID

from spotthebot.contracts.annotation import CampaignOut
from spotthebot.contracts.fed.correlations import CorrelationLevel
from spotthebot.fed.clients import Campaigns, Collections
from spotthebot.fed.domain.errors import NoRatingsOfTurns, NoSuchRating, OtherCampaign
from spotthebot.fed.domain.rated_questions import RatedQuestion, rated_questions
from spotthebot.fed.domain.ratings import Rating, ShownTurns, ratings_in_campaign, ratings_of_chats
from spotthebot.fed.domain.score_sets import ScoreJob


async def fetch_ratings(
    campaigns: Campaigns,
    collections: Collections,
    job: ScoreJob,
    campaign_id: UUID | None,
    *,
    rated: str,
    level: CorrelationLevel,
) -> list[Rating]:
    """Return what people answered to the question `rated`, whatever bots it is about.

    Raises NoSuchCampaign, OtherCampaign, NoSuchRating, NoRatingsOfTurns.
    """
    if campaign_id is None:
        return await _of_chats(collections, job.request.collection_id, rated, level)
    campaign = await campaigns.get(campaign_id)
    if job.request.collection_id not in campaign.collections:
        raise OtherCampaign(campaign=campaign.name, reason="it shows another collection")
    questions = rated_questions(await campaigns.protocol(campaign))
    question = _question(campaign, questions, rated, level)
    annotations = [each async for each in campaigns.annotations(campaign_id)]
    speakers = {
        each.id: (each.participants[0].name, each.participants[1].name)
        async for each in collections.speakers(job.request.collection_id)
    }
    shown = {}
    if question.per == "turn":
        shown = {
            each.id: ShownTurns(
                sides="".join(turn.speaker for turn in each.turns),
                opening=len(each.opening),
                opening_shown=len(each.opening) if each.opening_shown else 0,
            )
            async for each in collections.texts(job.request.collection_id)
        }
    return ratings_in_campaign(annotations, question, speakers, shown)


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
