"""Pages of conversations: the collections, a search in one collection, and one conversation with all its data."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from spotthebot.clients import Conflict, NotFound, PeerFailed, PeerUnavailable
from spotthebot.contracts.analytics.costs import ChatTimesOut
from spotthebot.contracts.annotation.annotations import AnnotationOut
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.conversations.chats import ChatRatingOut
from spotthebot.contracts.conversations.conversations import ConversationOut
from spotthebot.contracts.conversations.quality import QualityOut
from spotthebot.contracts.fed.score_jobs import ScoreJobOut, ScoreJobState
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.clients import Services
from spotthebot.web.conversations.domain import (
    AnnotationTable,
    BotScores,
    Excerpt,
    annotation_table,
    bubbles,
    excerpt,
    pieces,
    scores_by_bot,
    widest,
)
from spotthebot.web.conversations.errors import NotInThisCollection
from spotthebot.web.conversations.forms import ENDINGS, FLAGS, LONGEST_TEXT, Filters
from spotthebot.web.deps import Pages, Reader, ServicesOfVisitor
from spotthebot.web.marks.pages import campaigns_over, marks_over
from spotthebot.web.resources import resources_of

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_COLLECTIONS: Final = 25
_CONVERSATIONS: Final = 25
_FOUND: Final = 3
"""The conversations of each collection that a search over all shows."""
_SPEAKERS: Final = 1000
_ANNOTATIONS: Final = 200
_RATINGS: Final = 50


@dataclass(frozen=True)
class AnnotatedCampaign:
    """A campaign and its annotations of the conversation."""

    campaign: CampaignOut
    annotations: Sequence[tuple[AnnotationOut, bool]]
    table: AnnotationTable


@dataclass(frozen=True)
class Scores:
    """FED scores of the conversation from one job, and the other jobs that scored it."""

    jobs: Sequence[ScoreJobOut]
    shown: ScoreJobOut | None
    bots: Sequence[BotScores]


@router.get("/conversations")
async def list_collections(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Reader, cursor: str | None = None
) -> Response:
    """Show the list of collections, newest first; with a text, the conversations in them that say it."""
    filters = Filters.read({"text": request.query_params.get("text", "")})
    client = await services.conversations()
    page = await client.list_collections(order="newest_first", cursor=cursor, page_size=_COLLECTIONS).page()
    saying = [
        client.list_conversations(each.id, text=filters.text, page_size=_FOUND).page()
        for each in (page.items if filters.text else ())
    ]
    found = zip(page.items, await asyncio.gather(*saying), strict=False)
    return pages.page(
        request,
        "conversations/collections.html.jinja",
        page=page,
        is_first=cursor is None,
        filters=filters,
        found=[
            (each, [(one, _excerpt(one, filters)) for one in held.items], held.next_cursor is not None)
            for each, held in found
            if held.items or held.next_cursor
        ],
        longest_text=LONGEST_TEXT,
    )


@router.get("/conversations/{collection_id}")
async def list_conversations(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Reader,
    collection_id: UUID,
    cursor: str | None = None,
) -> Response:
    """Show the conversations of a collection that match the reader's filters."""
    filters = Filters.read(request.query_params)
    client = await services.conversations()
    matching = filters.matching()
    collection, page, quality, speakers = await asyncio.gather(
        client.get_collection(collection_id),
        client.list_conversations(collection_id, cursor=cursor, page_size=_CONVERSATIONS, **matching).page(),
        _quality(services, collection_id),
        _speakers(services, collection_id, filters.participant),
    )
    marks = await marks_over(services, await campaigns_over(services, collection_id))
    held = [(each, _excerpt(each, filters)) for each in page.items]
    return pages.page(
        request,
        "conversations/collection.html.jinja",
        collection=collection,
        held=held,
        next_query=filters.query(cursor=page.next_cursor) if page.next_cursor else None,
        is_first=cursor is None,
        filters=filters,
        speakers=speakers,
        marks=marks,
        endings=ENDINGS,
        flags=FLAGS,
        counts=_flag_counts(quality),
        longest_text=LONGEST_TEXT,
    )


@router.get("/conversations/{collection_id}/ratings")
async def list_ratings(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Reader,
    collection_id: UUID,
    cursor: str | None = None,
) -> Response:
    """Show people's ratings of their chats with bots."""
    client = await services.conversations()
    collection, page, times = await asyncio.gather(
        client.get_collection(collection_id),
        client.list_chat_ratings(collection_id, cursor=cursor, page_size=_RATINGS).page(),
        _times(services, collection_id),
    )
    return pages.page(
        request,
        "conversations/ratings.html.jinja",
        collection=collection,
        page=page,
        questions=_questions(page.items),
        times=times,
        is_first=cursor is None,
    )


@router.get("/conversations/{collection_id}/{conversation_id}")
async def read_conversation(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Reader,
    collection_id: UUID,
    conversation_id: UUID,
    scores: UUID | None = None,
) -> Response:
    """Show one conversation with its measurements, its annotations and its FED scores."""
    filters = Filters.read(request.query_params)
    client = await services.conversations()
    matching = filters.matching()
    collection, stored, conversation, beside = await asyncio.gather(
        client.get_collection(collection_id),
        client.get_conversation(conversation_id),
        client.get_exported_conversation(conversation_id),
        client.get_neighbours(collection_id, conversation_id, **matching),
    )
    if stored.collection_id != collection_id:
        raise NotInThisCollection
    over = await campaigns_over(services, collection_id)
    campaigns, fed_scores, marks = await asyncio.gather(
        _annotations(services, stored, over), _scores(services, stored, scores), marks_over(services, over)
    )
    annotations = [each for campaign in campaigns or () for each in campaign.annotations]
    return pages.page(
        request,
        "conversations/conversation.html.jinja",
        collection=collection,
        stored=stored,
        conversation=conversation,
        bubbles=bubbles(conversation, annotations),
        beside=beside,
        filters=filters,
        pieces=pieces,
        fed_url=resources_of(request).settings.fed_url,
        campaigns=campaigns,
        marks=marks,
        scores=fed_scores,
        widest=widest(fed_scores.bots) if fed_scores else 0.0,
    )


def _excerpt(conversation: ConversationOut, filters: Filters) -> Excerpt:
    return excerpt([turn.text for turn in (*conversation.opening, *conversation.turns)], filters.text)


async def _annotations(
    services: Services, conversation: ConversationOut, campaigns: Sequence[CampaignOut] | None
) -> list[AnnotatedCampaign] | None:
    """Return the annotations from each campaign over the collection. None if the service does not answer."""
    if campaigns is None:
        return None
    client = await services.annotation()
    try:
        found = await asyncio.gather(
            *(
                client.list_annotations(each.id, conversation_id=conversation.id, page_size=_ANNOTATIONS).page()
                for each in campaigns
            )
        )
    except (PeerUnavailable, PeerFailed):
        return None
    annotated = []
    shown = len(conversation.opening) if conversation.opening_shown else 0
    for campaign, page in zip(campaigns, found, strict=True):
        sided = [(each, each.conversation_id != conversation.id) for each in page.items]
        annotated.append(AnnotatedCampaign(campaign, sided, annotation_table(sided, shown_opening=shown)))
    return annotated


async def _scores(services: Services, conversation: ConversationOut, asked: UUID | None) -> Scores | None:
    """Return the scores from the job `asked`, or from the newest job. None if the service does not answer."""
    client = await services.fed()
    try:
        listed = await client.list_score_jobs(collection_id=conversation.collection_id).page()
        jobs = [each for each in reversed(listed.items) if each.state is ScoreJobState.COMPLETE]
        shown = next((each for each in jobs if each.id == asked), jobs[0] if jobs else None)
        if shown is None:
            return Scores(jobs, None, [])
        contexts = await client.list_scores(shown.id, conversation_id=conversation.id).page()
    except (PeerUnavailable, PeerFailed):
        return None
    return Scores(jobs, shown, scores_by_bot(contexts.items, opening=len(conversation.opening)))


async def _speakers(services: Services, collection_id: UUID, asked: str | None) -> list[str]:
    """Return the names of the speakers in the collection's first pairs, and the name `asked`."""
    pairs = await (await services.conversations()).list_pairs(collection_id, page_size=_SPEAKERS).page()
    return sorted({name for pair in pairs.items for name in pair.participants} | ({asked} if asked else set()))


async def _times(services: Services, collection_id: UUID) -> ChatTimesOut | None:
    """Return how long people chat. None without chats, or if the service does not answer."""
    try:
        return await (await services.analytics()).get_chat_times(collection_id)
    except (Conflict, NotFound, PeerUnavailable, PeerFailed):
        return None


async def _quality(services: Services, collection_id: UUID) -> QualityOut | None:
    try:
        return await (await services.conversations()).get_quality(collection_id)
    except NotFound:  # never checked
        return None


def _flag_counts(quality: QualityOut | None) -> dict[str, int]:
    """Return the number of conversations with each quality flag; empty before the first quality check."""
    summary = quality.summary if quality else None
    if summary is None:
        return {}
    return {
        "exact_duplicate": summary.exact_duplicates.conversations,
        "near_duplicate": summary.near_duplicates.conversations,
        "profanity": summary.profanity.conversations,
        "personal_data": summary.personal_data.conversations,
    }


def _questions(ratings: Sequence[ChatRatingOut]) -> list[str]:
    """Return the names of the questions in these ratings."""
    return sorted({name for each in ratings for held in each.conversations for name in held.scores})
