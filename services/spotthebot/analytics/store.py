"""The only SQL of `analytics`: answers that were computed, and analyses with their steps."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import Select, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.analytics.domain.analyses import ACTIVE, LongAnalysis
from spotthebot.analytics.domain.errors import NoSuchAnalysis
from spotthebot.analytics.tables import AnalysisRow, AnalysisStepRow, ResultRow
from spotthebot.contracts.analytics import AnalysisIn, AnalysisState, Counts, Plan, Stability
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_id

MAX_KEPT = 1000
"""Answers of one campaign; the oldest make room, and are computed again when somebody asks."""
_REQUEST: TypeAdapter[AnalysisIn] = TypeAdapter(AnalysisIn)


async def find_result(session: ReadSession, key: bytes) -> bytes | None:
    return (await session.scalars(select(ResultRow.body).where(ResultRow.key == key))).one_or_none()


async def put_result(session: WriteSession, key: bytes, campaign_id: UUID, revision: str, body: bytes) -> bytes:
    """Keep an answer, forget those of earlier revisions and the oldest; return the one that came first."""
    mine = ResultRow.campaign_id == campaign_id
    await session.execute(delete(ResultRow).where(mine, ResultRow.revision != revision))
    newest_first = select(ResultRow.key).where(mine).order_by(ResultRow.created_at.desc(), ResultRow.key)
    await session.execute(delete(ResultRow).where(ResultRow.key.in_(newest_first.offset(MAX_KEPT - 1))))
    values = {"key": key, "campaign_id": campaign_id, "revision": revision, "body": body}
    await session.execute(insert(ResultRow).values(values).on_conflict_do_nothing())
    return (await session.scalars(select(ResultRow.body).where(ResultRow.key == key))).one()


async def add_analysis(session: WriteSession, request: AnalysisIn, *, version: str) -> LongAnalysis:
    analysis_id = new_id()
    values = {
        "id": analysis_id,
        "kind": request.kind,
        "campaign_id": getattr(request, "campaign_id", None),
        "request": request.model_dump(mode="json"),
        "state": AnalysisState.QUEUED,
        "steps": 0,
        "version": version,
    }
    await session.execute(insert(AnalysisRow).values(values))
    return await get_analysis(session, analysis_id)


async def get_analysis(session: ReadSession, analysis_id: UUID, *, lock: bool = False) -> LongAnalysis:
    statement = select(AnalysisRow).where(AnalysisRow.id == analysis_id)
    found = await _analyses(session, statement.with_for_update() if lock else statement)
    if not found:
        raise NoSuchAnalysis(analysis_id=analysis_id)
    return found[0]


async def list_analyses(
    session: ReadSession, *, campaign_id: UUID | None, after: UUID | None, limit: int
) -> list[LongAnalysis]:
    statement = select(AnalysisRow).order_by(AnalysisRow.id).limit(limit)
    if campaign_id is not None:
        statement = statement.where(AnalysisRow.campaign_id == campaign_id)
    if after is not None:
        statement = statement.where(AnalysisRow.id > after)
    return await _analyses(session, statement)


async def find_stability(session: ReadSession, campaign_id: UUID) -> LongAnalysis | None:
    """Return the campaign's latest finished analysis of stability."""
    mine = (AnalysisRow.campaign_id == campaign_id, AnalysisRow.kind == "stability")
    statement = select(AnalysisRow).where(*mine, AnalysisRow.state == AnalysisState.COMPLETE)
    found = await _analyses(session, statement.order_by(AnalysisRow.id.desc()).limit(1))
    return found[0] if found else None


async def begin_analysis(
    session: WriteSession, analysis_id: UUID, *, steps: int, counts: Counts | None, sha256: str | None
) -> dict[int, Any]:
    """Mark as running and return the steps that are stored; those over other data than these are forgotten."""
    row = (await session.scalars(select(AnalysisRow).where(AnalysisRow.id == analysis_id).with_for_update())).one()
    if row.data_sha256 != sha256:
        await session.execute(delete(AnalysisStepRow).where(AnalysisStepRow.analysis_id == analysis_id))
    row.state, row.steps, row.data_sha256 = AnalysisState.RUNNING, steps, sha256
    row.counts = None if counts is None else counts.model_dump(mode="json")
    done = select(AnalysisStepRow).where(AnalysisStepRow.analysis_id == analysis_id).order_by(AnalysisStepRow.step)
    return {each.step: each.result for each in await session.scalars(done)}


async def put_step(session: WriteSession, analysis_id: UUID, step: int, result: Mapping[str, Any]) -> None:
    values = {"analysis_id": analysis_id, "step": step, "result": result}
    await session.execute(insert(AnalysisStepRow).values(values).on_conflict_do_nothing())


async def is_active(session: ReadSession, analysis_id: UUID) -> bool:
    state = (await session.scalars(select(AnalysisRow.state).where(AnalysisRow.id == analysis_id))).one_or_none()
    return state in ACTIVE


async def end_analysis(
    session: WriteSession,
    analysis_id: UUID,
    state: AnalysisState,
    *,
    failure: str | None = None,
    result: Mapping[str, Any] | None = None,
) -> None:
    """End an analysis unless it has ended."""
    await session.execute(
        update(AnalysisRow)
        .where(AnalysisRow.id == analysis_id, AnalysisRow.state.in_(ACTIVE))
        .values(state=state, failure=failure, result=result, finished_at=datetime.now(UTC))
    )


async def _analyses(session: ReadSession, statement: Select[AnalysisRow]) -> list[LongAnalysis]:
    rows = list(await session.scalars(statement))
    counted = (
        select(AnalysisStepRow.analysis_id, func.count().label("done"))
        .where(AnalysisStepRow.analysis_id.in_([row.id for row in rows]))
        .group_by(AnalysisStepRow.analysis_id)
    )
    done = {each.analysis_id: each.done for each in await session.execute(counted)}
    return [_analysis(row, done.get(row.id, 0)) for row in rows]


def _analysis(row: AnalysisRow, done: int) -> LongAnalysis:
    is_stability = row.kind == "stability"
    return LongAnalysis(
        id=row.id,
        request=_REQUEST.validate_python(row.request),
        campaign_id=row.campaign_id,
        state=AnalysisState(row.state),
        failure=row.failure,
        done=done,
        steps=row.steps,
        counts=None if row.counts is None else Counts.model_validate(row.counts),
        data_sha256=row.data_sha256,
        version=row.version,
        created_at=row.created_at,
        finished_at=row.finished_at,
        stability=Stability.model_validate(row.result) if row.result and is_stability else None,
        plan=Plan.model_validate(row.result) if row.result and not is_stability else None,
    )
