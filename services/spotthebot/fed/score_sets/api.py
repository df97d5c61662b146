"""`/v1/score-sets`: the results of score jobs. A set has the id of its job."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from spotthebot.contracts.fed.score_jobs import ContextScoresOut, RejectedOut, ScoreSetOut
from spotthebot.fed.deps import Reader
from spotthebot.fed.score_sets import store as score_sets_store
from spotthebot.fed.score_sets.use_cases import baselines_of, export_scores, get_complete, get_score_set, scores_out
from spotthebot.kit.exports.formats import ExportFormat
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.sessions import Pool, Reading

router = APIRouter(prefix="/v1/score-sets/{set_id}", tags=["score sets"], route_class=CheckedRoute)

_FORMATS = (ExportFormat.NDJSON, ExportFormat.CSV, ExportFormat.PARQUET)
_BINARY = {"schema": {"type": "string", "format": "binary"}}
FileFormat = Literal[ExportFormat.NDJSON, ExportFormat.CSV, ExportFormat.PARQUET]


@router.get("", operation_id="get_score_set")
async def get_summary(session: Reading, _caller: Reader, set_id: UUID) -> ScoreSetOut:
    """Return each dimension's bots, best first, with intervals and rank ranges, and its length baseline."""
    return await get_score_set(session, set_id)


@router.get("/scores", operation_id="list_scores")
async def list_scores(
    session: Reading,
    _caller: Reader,
    set_id: UUID,
    paging: Paging,
    bot: Annotated[str | None, Query(max_length=100)] = None,
    conversation_id: Annotated[UUID | None, Query(description="Those of one conversation.")] = None,
) -> Page[ContextScoresOut]:
    """List the scores of a set by context.

    `bot` and `conversation_id` select the scores of one bot or one conversation.
    """
    baselines = baselines_of(await get_complete(session, set_id))
    rows = await score_sets_store.list_contexts(
        session,
        set_id,
        after=paging.after,
        limit=paging.limit + 1,
        bot=bot,
        conversation_id=conversation_id,
    )
    return page_of(rows, paging, key=lambda row: row.id, to_out=lambda row: scores_out(row.context, baselines))


@router.get("/rejected", operation_id="list_rejected_conversations")
async def list_rejected(session: Reading, _caller: Reader, set_id: UUID, paging: Paging) -> Page[RejectedOut]:
    """List the conversations that could not be scored, with the reasons."""
    await score_sets_store.get_job(session, set_id)
    rows = await score_sets_store.list_rejected(session, set_id, after=paging.after, limit=paging.limit + 1)
    return page_of(
        rows,
        paging,
        key=lambda row: row.conversation_id,
        to_out=lambda row: RejectedOut(conversation_id=row.conversation_id, reason=row.reason),
    )


@router.get(
    "/export",
    operation_id="export_scores",
    response_class=StreamingResponse,
    responses={200: {"description": "The file.", "content": {form.media_type: _BINARY for form in _FORMATS}}},
)
async def download_export(
    session: Reading,
    _caller: Reader,
    database: Pool,
    set_id: UUID,
    form: Annotated[FileFormat, Query(alias="format")] = ExportFormat.NDJSON,
) -> StreamingResponse:
    """Return all scores in one file: a row for each dimension of each context, with the fields of `ExportedScore`."""
    return StreamingResponse(
        await export_scores(session, database, set_id, form),
        media_type=form.media_type,
        headers={"Content-Disposition": f'attachment; filename="scores-{set_id}.{form.suffix}"'},
    )
