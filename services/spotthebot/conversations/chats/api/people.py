"""The people who chat in a collection, for administrators: their consent, work and pay, payment files, erasure."""

from collections.abc import Callable
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from spotthebot.contracts.conversations.chat_entries import ChatPersonOut
from spotthebot.contracts.terms import PaymentFile, SubmittedTexts
from spotthebot.conversations.chats.domain.people import ChatPerson, pseudonym_of
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.store import people as people_store
from spotthebot.conversations.chats.use_cases import erase
from spotthebot.conversations.chats.use_cases.payments import payment_file
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.deps import Admin, AdminReader
from spotthebot.kit.database.sessions import ReadSession
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.core.times import Now
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1", tags=["chats"], route_class=IdempotentRoute)
_CSV = "text/csv"
_TEXT = {"type": "string"}


@router.get("/collections/{collection_id}/chat-people", operation_id="list_chat_people")
async def list_chat_people(
    session: Reading, _caller: AdminReader, collection_id: UUID, paging: Paging
) -> Page[ChatPersonOut]:
    """List the people who chat in a collection, or whose ratings were imported: their consent, work and pay."""
    to_out = await _people_of(session, collection_id)
    rows = await people_store.list_people(session, collection_id, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda person: person.id, to_out=to_out)


@router.post("/collections/{collection_id}/chat-people/{person_id}/erase", operation_id="erase_chat_person")
async def erase_chat_person(
    session: Writing,
    caller: Admin,
    now: Now,
    collection_id: UUID,
    person_id: UUID,
    submitted_texts: Annotated[
        SubmittedTexts, Query(description="What becomes of what the person said in the chats.")
    ] = SubmittedTexts.ERASE,
) -> ChatPersonOut:
    """Erase a person from a collection of chats, imported or not; their ratings stay. An erasure can't be undone."""
    erased = await erase.erase_chat_person(
        session, collection_id, person_id, submitted_texts, key_id=caller.key_id, now=now
    )
    return (await _people_of(session, collection_id))(erased)


@router.get(
    "/collections/{collection_id}/chat-payments/file",
    operation_id="download_chat_payments",
    response_class=Response,
    responses={200: {"description": "The file.", "content": {_CSV: {"schema": _TEXT}}}},
)
async def download_chat_payments(
    session: Reading,
    _caller: AdminReader,
    collection_id: UUID,
    kind: Annotated[PaymentFile, Query()],
    *,
    first_is_reward: Annotated[
        bool, Query(description="Whether the panel pays each person's first rated chat itself, as its reward.")
    ] = False,
) -> Response:
    """Return a file by which people who chat are paid: ids to approve, amounts beside the reward, or all payments."""
    collection = await chats_store.get_chat_collection(session, collection_id)
    content = await payment_file(session, collection, kind, first_is_reward=first_is_reward)
    headers = {"Content-Disposition": f'attachment; filename="{kind.value}.csv"'}
    return Response(content, media_type=_CSV, headers=headers)


async def _people_of(session: ReadSession, collection_id: UUID) -> Callable[[ChatPerson], ChatPersonOut]:
    """Return the function that makes the answer about a person of a collection."""
    plan = await chats_store.find_plan(session, collection_id)
    key = (await collections_store.get_source(session, collection_id)).pseudonym_key

    def to_out(person: ChatPerson) -> ChatPersonOut:
        return ChatPersonOut.of(
            person,
            person=person.interactor,
            interactor=pseudonym_of(person.interactor, person.kind, key),
            pay=None if plan is None else plan.pay_for(person.chats_rated),
            currency=None if plan is None else plan.currency,
        )

    return to_out
