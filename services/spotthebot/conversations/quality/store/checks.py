"""The only SQL over the quality checks of collections: their requests, progress and summaries."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.contracts.conversations.quality import QualityCheckState, QualitySummaryOut, TrainingSplit
from spotthebot.conversations.collections.tables import CollectionRow
from spotthebot.conversations.quality.domain.checks import UNFINISHED, CheckRequest, QualityCheck, sources_of
from spotthebot.conversations.quality.domain.flags import RULES
from spotthebot.conversations.quality.errors import NoQualityCheck
from spotthebot.conversations.quality.tables import QualityCheckRow, QualityFlagsRow
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession

_REQUESTS_SETTLE = timedelta(minutes=1)
"""A running import requests its check with every batch, and queues the job at its end."""


async def request_check(session: WriteSession, collection_id: UUID) -> None:
    """Request a check of a collection, with the training split of its previous check, if any."""
    await _request(session, collection_id, {})


async def request_check_against(session: WriteSession, collection_id: UUID, training: TrainingSplit | None) -> None:
    """Request a check of a collection, with a comparison with this training split, if any."""
    against = {"training_corpus_id": training and training.corpus_id, "training_split": training and training.split}
    await _request(session, collection_id, against)


async def start_check(session: WriteSession, collection_id: UUID) -> CheckRequest:
    """Return the latest request for a check, and mark the request as served by a job; raises NoQualityCheck."""
    statement = (
        update(QualityCheckRow)
        .where(
            QualityCheckRow.collection_id == collection_id,
            QualityCheckRow.state.in_(sources_of(QualityCheckState.FLAGGING)),
        )
        .values(state=QualityCheckState.FLAGGING, failure=None)
        .returning(QualityCheckRow)
    )
    row = (await session.scalars(statement)).one_or_none()
    if row is None:
        raise NoQualityCheck(collection_id=collection_id)
    return CheckRequest(collection_id, row.requested_at, _training(row))


async def move_check(session: WriteSession, request: CheckRequest, state: QualityCheckState) -> None:
    """Store the state of the check that serves a request, unless a later request waits."""
    await session.execute(
        update(QualityCheckRow)
        .where(
            QualityCheckRow.collection_id == request.collection_id,
            QualityCheckRow.requested_at == request.requested_at,
            QualityCheckRow.state.in_(sources_of(state)),
        )
        .values(state=state, failure=None)
    )


async def fail_check(session: WriteSession, collection_id: UUID, failure: str) -> None:
    """Store why the check of a job failed; a request that waits for another check keeps waiting."""
    await session.execute(
        update(QualityCheckRow)
        .where(
            QualityCheckRow.collection_id == collection_id,
            QualityCheckRow.state.in_(sources_of(QualityCheckState.FAILED)),
        )
        .values(state=QualityCheckState.FAILED, failure=failure[:1000])
    )


async def list_unfinished(session: ReadSession) -> list[UUID]:
    """Return the collections with an unfinished check that was requested at least a minute ago."""
    settled = func.clock_timestamp() - _REQUESTS_SETTLE
    statement = select(QualityCheckRow.collection_id).where(
        QualityCheckRow.state.in_(UNFINISHED), QualityCheckRow.requested_at < settled
    )
    return [*await session.scalars(statement.order_by(QualityCheckRow.requested_at))]


async def finish_check(session: WriteSession, request: CheckRequest, summary: QualitySummaryOut) -> None:
    """Store the summary of a completed check."""
    await session.execute(
        update(QualityCheckRow)
        .where(QualityCheckRow.collection_id == request.collection_id)
        .values(summary=summary.model_dump(mode="json"), checked_at=func.now())
    )
    await move_check(session, request, QualityCheckState.DONE)


async def is_done(session: ReadSession, collection_id: UUID) -> bool:
    """Return whether the latest request for a check of a collection was served."""
    state = await session.scalar(select(QualityCheckRow.state).where(QualityCheckRow.collection_id == collection_id))
    return state == QualityCheckState.DONE


async def get_check(session: ReadSession, collection_id: UUID) -> QualityCheck:
    """Return the progress of a collection's check; raises NoQualityCheck if none was requested."""
    flagged = (
        select(func.count())
        .where(QualityFlagsRow.collection_id == collection_id, QualityFlagsRow.rules == RULES)
        .scalar_subquery()
    )
    statement = select(QualityCheckRow, CollectionRow.complete, flagged).join(CollectionRow)
    found = (await session.execute(statement.where(QualityCheckRow.collection_id == collection_id))).one_or_none()
    if found is None:
        raise NoQualityCheck(collection_id=collection_id)
    row, complete, count = found
    return from_row(
        QualityCheck,
        row,
        state=QualityCheckState(row.state),
        training=_training(row),
        conversations=complete,
        flagged=count,
        summary=QualitySummaryOut.model_validate(row.summary) if row.summary is not None else None,
    )


async def _request(session: WriteSession, collection_id: UUID, against: dict[str, Any]) -> None:
    values = {"state": QualityCheckState.WAITING, "requested_at": func.clock_timestamp(), "failure": None, **against}
    statement = insert(QualityCheckRow).values(collection_id=collection_id, **values)
    await session.execute(statement.on_conflict_do_update(index_elements=[QualityCheckRow.collection_id], set_=values))


def _training(row: QualityCheckRow) -> TrainingSplit | None:
    if row.training_corpus_id is None:
        return None
    return TrainingSplit.model_validate({"corpus_id": row.training_corpus_id, "split": row.training_split})
