"""`/v1/collections/{id}/quality-flags` and `/quality`: the quality of conversations, measured on their texts."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from spotthebot.contracts.conversations.quality import (
    FlagKind,
    PersonalDataOut,
    QualityCheckIn,
    QualityCheckOut,
    QualityFlagsOut,
    QualityOut,
)
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.deps import Admin, JobQueue, Reader
from spotthebot.conversations.quality.domain.checks import QualityCheck
from spotthebot.conversations.quality.domain.flags import QualityFlags
from spotthebot.conversations.quality.store import checks as checks_store
from spotthebot.conversations.quality.store import flags as flags_store
from spotthebot.conversations.quality.store import summaries as summaries_store
from spotthebot.conversations.quality.use_cases.requests import request_check_against
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1/collections/{collection_id}", tags=["quality"], route_class=IdempotentRoute)


@router.post("/quality-flags", status_code=202, operation_id="flag_conversations")
async def flag_conversations(
    session: Writing, _caller: Admin, jobs: JobQueue, collection_id: UUID, request: QualityCheckIn
) -> QualityCheckOut:
    """Flag the complete conversations in the background, and compare all of them again.

    A collection that finishes is checked without this request; it serves to compare it with a training split.
    """
    return _check_out(await request_check_against(session, jobs, collection_id, request))


@router.get("/quality-flags", operation_id="list_quality_flags")
async def list_quality_flags(
    session: Reading,
    _caller: Reader,
    collection_id: UUID,
    paging: Paging,
    only: Annotated[FlagKind | None, Query(description="Only conversations with this flag.")] = None,
) -> Page[QualityFlagsOut]:
    """List the flags of a collection's conversations, in the order of its plan."""
    await collections_store.get_collection(session, collection_id)
    rows = await flags_store.list_flags(session, collection_id, only=only, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda flags: flags.conversation_id, to_out=_flags_out)


@router.get("/quality", operation_id="get_quality")
async def get_quality(session: Reading, _caller: Reader, collection_id: UUID) -> QualityOut:
    """Return the summary of a collection's quality, and the progress of its check."""
    await collections_store.get_collection(session, collection_id)
    check = await checks_store.get_check(session, collection_id)
    repeated = await summaries_store.list_repeated_texts(session, collection_id)
    return QualityOut(check=_check_out(check), summary=check.summary, repeated_texts=repeated)


def _check_out(check: QualityCheck) -> QualityCheckOut:
    return QualityCheckOut(
        collection_id=check.collection_id,
        state=check.state,
        failure=check.failure,
        training=check.training,
        conversations=check.conversations,
        flagged=check.flagged,
        requested_at=check.requested_at,
        checked_at=check.checked_at,
    )


def _flags_out(flags: QualityFlags) -> QualityFlagsOut:
    return QualityFlagsOut(
        conversation_id=flags.conversation_id,
        exported_id=flags.exported_id,
        turns=flags.turns,
        words=flags.words,
        language=flags.language,
        language_probability=flags.language_probability,
        exact_duplicate_of=flags.exact_duplicate_of,
        near_duplicate_of=flags.near_duplicate_of,
        exact_duplicate_of_exported=flags.exact_duplicate_of_exported,
        near_duplicate_of_exported=flags.near_duplicate_of_exported,
        similarity=flags.similarity,
        exchanges=flags.exchanges,
        in_training=flags.in_training,
        profanity=tuple(flags.profanity),
        personal_data=tuple(PersonalDataOut.model_validate(each) for each in flags.personal_data),
    )
