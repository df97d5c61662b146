"""The only SQL over the marking of collections: what is asked for, how far it is, the account."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.contracts.conversations import AccountOut, MarkingState, TrainingSplit
from spotthebot.conversations.domain.errors import NotMarked
from spotthebot.conversations.domain.quality.noted import RULES
from spotthebot.conversations.tables import CollectionRow, MarkingRow, MarkRow
from spotthebot.kit.database import ReadSession, WriteSession


@dataclass(frozen=True)
class Marking:
    """How far the marking of a collection is."""

    collection_id: UUID
    state: MarkingState
    failure: str | None
    training: TrainingSplit | None
    conversations: int
    marked: int
    requested_at: datetime
    marked_at: datetime | None
    account: AccountOut | None


@dataclass(frozen=True)
class Request:
    """What a job was asked for; a later request has another `requested_at`."""

    collection_id: UUID
    requested_at: datetime
    training: TrainingSplit | None


async def request(session: WriteSession, collection_id: UUID) -> None:
    """Note that a collection is to be marked, against what it was held against before."""
    await _request(session, collection_id, {})


async def request_against(session: WriteSession, collection_id: UUID, training: TrainingSplit | None) -> None:
    """Note that a collection is to be marked, and against which training split."""
    against = {"training_corpus_id": training and training.corpus_id, "training_split": training and training.split}
    await _request(session, collection_id, against)


async def begin(session: WriteSession, collection_id: UUID) -> Request:
    """Return what is asked for, and note that it is being done."""
    statement = (
        update(MarkingRow)
        .where(MarkingRow.collection_id == collection_id)
        .values(state=MarkingState.MARKING, failure=None)
        .returning(MarkingRow)
    )
    row = (await session.scalars(statement)).one_or_none()
    if row is None:
        raise NotMarked(collection_id=collection_id)
    return Request(collection_id, row.requested_at, _training(row))


async def move_to(session: WriteSession, done: Request, state: MarkingState, failure: str | None = None) -> None:
    """Note how far it is, unless something else was asked for meanwhile: that waits."""
    await session.execute(
        update(MarkingRow)
        .where(MarkingRow.collection_id == done.collection_id, MarkingRow.requested_at == done.requested_at)
        .values(state=state, failure=failure)
    )


async def finish(session: WriteSession, done: Request, account: AccountOut) -> None:
    """Store the account."""
    await session.execute(
        update(MarkingRow)
        .where(MarkingRow.collection_id == done.collection_id)
        .values(account=account.model_dump(mode="json"), marked_at=func.now())
    )
    await move_to(session, done, MarkingState.DONE)


async def get(session: ReadSession, collection_id: UUID) -> Marking:
    """Return how far the marking is; raises NotMarked where none was asked for."""
    marked = (
        select(func.count()).where(MarkRow.collection_id == collection_id, MarkRow.rules == RULES).scalar_subquery()
    )
    statement = select(MarkingRow, CollectionRow.complete, marked).join(CollectionRow)
    found = (await session.execute(statement.where(MarkingRow.collection_id == collection_id))).one_or_none()
    if found is None:
        raise NotMarked(collection_id=collection_id)
    row, complete, count = found
    return Marking(
        collection_id=row.collection_id,
        state=MarkingState(row.state),
        failure=row.failure,
        training=_training(row),
        conversations=complete,
        marked=count,
        requested_at=row.requested_at,
        marked_at=row.marked_at,
        account=AccountOut.model_validate(row.account) if row.account is not None else None,
    )


async def _request(session: WriteSession, collection_id: UUID, against: dict[str, Any]) -> None:
    values = {"state": MarkingState.WAITING, "requested_at": func.clock_timestamp(), "failure": None, **against}
    statement = insert(MarkingRow).values(collection_id=collection_id, **values)
    await session.execute(statement.on_conflict_do_update(index_elements=[MarkingRow.collection_id], set_=values))


def _training(row: MarkingRow) -> TrainingSplit | None:
    if row.training_corpus_id is None or row.training_split is None:
        return None
    return TrainingSplit(corpus_id=row.training_corpus_id, split=row.training_split)
