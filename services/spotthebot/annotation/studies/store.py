"""The only SQL over studies."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ARRAY, Select, Uuid, cast, delete, func, select, union, update
from sqlalchemy.dialects.postgresql import aggregate_order_by, insert

from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.packages.tables import ItemRow
from spotthebot.annotation.studies.domain import Study, Task
from spotthebot.annotation.studies.errors import NoSuchStudy, StudyNameLooksAlike, StudyNameTaken
from spotthebot.annotation.studies.tables import StudyCampaignRow, StudyRow
from spotthebot.contracts.annotation.campaigns import CampaignState
from spotthebot.contracts.annotation.studies import StudyIn
from spotthebot.contracts.names import find_look_alike
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id

_NAMES_LOCK: Final = "studies/names"
_CAMPAIGNS = (
    select(func.array_agg(aggregate_order_by(StudyCampaignRow.campaign_id, StudyCampaignRow.position)))
    .where(StudyCampaignRow.study_id == StudyRow.id)
    .scalar_subquery()
)
_STUDIES: Select[Any] = select(
    *StudyRow.__table__.columns, func.coalesce(_CAMPAIGNS, cast([], ARRAY(Uuid))).label("campaigns")
)


async def add_study(session: WriteSession, request: StudyIn) -> Study:
    """Store a study; raises StudyNameTaken and StudyNameLooksAlike."""
    study_id = new_id()
    await _check_name(session, study_id, request.name)
    await session.execute(insert(StudyRow).values(id=study_id, **_columns(request)))
    await _add_campaigns(session, study_id, request.campaigns)
    return await get_study(session, study_id)


async def replace_study(session: WriteSession, study_id: UUID, request: StudyIn) -> Study:
    """Replace everything that a study's request says; raises NoSuchStudy, StudyNameTaken and StudyNameLooksAlike."""
    await _check_name(session, study_id, request.name)
    statement = update(StudyRow).where(StudyRow.id == study_id).values(**_columns(request))
    if await session.scalar(statement.returning(StudyRow.id)) is None:
        raise NoSuchStudy(study_id=study_id)
    await session.execute(delete(StudyCampaignRow).where(StudyCampaignRow.study_id == study_id))
    await _add_campaigns(session, study_id, request.campaigns)
    return await get_study(session, study_id)


async def delete_study(session: WriteSession, study_id: UUID) -> None:
    """Delete a study; its campaigns stay. Raises NoSuchStudy."""
    statement = delete(StudyRow).where(StudyRow.id == study_id)
    if await session.scalar(statement.returning(StudyRow.id)) is None:
        raise NoSuchStudy(study_id=study_id)


async def get_study(session: ReadSession, study_id: UUID) -> Study:
    row = (await session.execute(_STUDIES.where(StudyRow.id == study_id))).one_or_none()
    if row is None:
        raise NoSuchStudy(study_id=study_id)
    return _study(row)


async def list_studies(session: ReadSession, *, name: str | None, after: UUID | None, limit: int) -> list[Study]:
    """List studies by id, oldest first."""
    statement = _STUDIES.order_by(StudyRow.id).limit(limit)
    if name is not None:
        statement = statement.where(StudyRow.name == name)
    if after is not None:
        statement = statement.where(StudyRow.id > after)
    return [_study(row) for row in await session.execute(statement)]


async def lock_tasks(session: WriteSession, campaigns: Sequence[UUID]) -> dict[UUID, Task]:
    """Return campaigns as tasks of one study, by id, and keep them from being deleted until this transaction ends.

    Campaigns that do not exist are left out.
    """
    found = select(CampaignRow.id, CampaignRow.name, CampaignRow.state).where(CampaignRow.id.in_(campaigns))
    locked = found.order_by(CampaignRow.id).with_for_update(read=True, key_share=True)
    rows = (await session.execute(locked)).all()
    shares = await _find_shared(session, campaigns)
    return {row.id: Task(row.name, CampaignState(row.state), shares.get(row.id)) for row in rows}


async def _find_shared(session: ReadSession, campaigns: Sequence[UUID]) -> dict[UUID, bool]:
    """Return for each campaign with items whether it shows a conversation that another of these campaigns shows."""
    shown = union(
        *(
            select(ItemRow.campaign_id, conversation.label("conversation_id")).where(
                ItemRow.campaign_id.in_(campaigns), conversation.is_not(None)
            )
            for conversation in (ItemRow.conversation_id, ItemRow.right_conversation_id)
        )
    ).subquery()
    showing = func.count().over(partition_by=shown.c.conversation_id)
    counted = select(shown.c.campaign_id, (showing > 1).label("is_shared")).subquery()
    statement = select(counted.c.campaign_id, func.bool_or(counted.c.is_shared)).group_by(counted.c.campaign_id)
    return {campaign_id: is_shared for campaign_id, is_shared in await session.execute(statement)}  # noqa: C416 - typed


async def _check_name(session: WriteSession, study_id: UUID, name: str) -> None:
    """Check the name against all other studies, and keep other requests from naming a study until the commit."""
    await session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(_NAMES_LOCK, 0))))
    others = (await session.scalars(select(StudyRow.name).where(StudyRow.id != study_id))).all()
    if name in others:
        raise StudyNameTaken(name=name)
    if (other := find_look_alike(name, others)) is not None:
        raise StudyNameLooksAlike(name=name, other=other)


async def _add_campaigns(session: WriteSession, study_id: UUID, campaigns: Sequence[UUID]) -> None:
    rows = [
        {"study_id": study_id, "campaign_id": each, "position": position} for position, each in enumerate(campaigns)
    ]
    if rows:
        await session.execute(insert(StudyCampaignRow), rows)


def _columns(request: StudyIn) -> dict[str, Any]:
    return request.model_dump(exclude={"campaigns"}) | {"chats": [*request.chats], "scores": [*request.scores]}


def _study(row: Any) -> Study:  # noqa: ANN401 - SQLAlchemy's row
    return from_row(Study, row, campaigns=tuple(row.campaigns), chats=tuple(row.chats), scores=tuple(row.scores))
