"""Annotators of campaigns, and the conversations that each was shown."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from sqlalchemy import Select, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.domain.annotators import Annotator
from spotthebot.annotation.domain.assignments import COUNTED
from spotthebot.annotation.domain.errors import NoSuchAnnotator
from spotthebot.annotation.tables import AnnotatorRow, AssignmentRow, ItemRow, SeenConversationRow
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_id, new_ids

_COUNTED = (
    select(func.count())
    .where(AssignmentRow.annotator_id == AnnotatorRow.id, AssignmentRow.state.in_(COUNTED))
    .correlate(AnnotatorRow)
    .scalar_subquery()
)
_ELSEWHERE = ""
"""The frontend of annotators who came with an import, or before frontends were told apart."""


async def lock_annotator(session: WriteSession, campaign_id: UUID, frontend: str, external_id: str) -> Annotator:
    """Return an annotator, made where there is none, and let one claim of theirs at a time pass.

    One from before frontends were known apart belongs to the first frontend that asks for them.
    """
    known = (
        select(AnnotatorRow.id, AnnotatorRow.frontend)
        .where(
            AnnotatorRow.campaign_id == campaign_id,
            AnnotatorRow.external_id == external_id,
            AnnotatorRow.frontend.in_([frontend, _ELSEWHERE]),
        )
        .order_by(AnnotatorRow.frontend.desc())
        .limit(1)
        .with_for_update()
    )
    found = (await session.execute(known)).first()
    if found is None:
        values = {"id": new_id(), "campaign_id": campaign_id, "frontend": frontend, "external_id": external_id}
        await session.execute(insert(AnnotatorRow).values(values).on_conflict_do_nothing())
        found = (await session.execute(known)).one()
    if found.frontend != frontend:
        await session.execute(update(AnnotatorRow).where(AnnotatorRow.id == found.id).values(frontend=frontend))
    return await get_annotator(session, campaign_id, found.id)


async def get_annotator(session: ReadSession, campaign_id: UUID, annotator_id: UUID) -> Annotator:
    statement = _annotators(campaign_id).where(AnnotatorRow.id == annotator_id)
    row = (await session.execute(statement)).first()
    if row is None:
        raise NoSuchAnnotator(annotator_id=annotator_id)
    return _annotator(*row)


async def list_annotators(
    session: ReadSession, campaign_id: UUID, *, after: UUID | None, limit: int
) -> list[Annotator]:
    """Return the annotators of a campaign, those who came first first."""
    statement = _annotators(campaign_id).order_by(AnnotatorRow.id).limit(limit)
    if after is not None:
        statement = statement.where(AnnotatorRow.id > after)
    return [_annotator(row, packages) for row, packages in await session.execute(statement)]


async def import_annotators(session: WriteSession, campaign_id: UUID, names: Iterable[str]) -> dict[str, UUID]:
    """Return the ids of annotators who worked elsewhere, made where they are new."""
    requested = sorted(set(names))
    rows = [
        {"id": row_id, "campaign_id": campaign_id, "frontend": _ELSEWHERE, "external_id": name}
        for row_id, name in zip(new_ids(len(requested)), requested, strict=True)
    ]
    await session.execute(insert(AnnotatorRow).on_conflict_do_nothing(), rows)
    found = select(AnnotatorRow.external_id, AnnotatorRow.id).where(
        AnnotatorRow.campaign_id == campaign_id,
        AnnotatorRow.frontend == _ELSEWHERE,
        AnnotatorRow.external_id.in_(requested),
    )
    return {name: row_id for name, row_id in await session.execute(found)}  # noqa: C416 - typed rows


async def mark_seen(session: WriteSession, annotator_id: UUID, package_id: UUID) -> None:
    """Note that an annotator is shown a package's conversations; the database refuses one that was shown before."""
    shown = select(literal(annotator_id), ItemRow.conversation_id).where(ItemRow.package_id == package_id)
    await session.execute(
        insert(SeenConversationRow).from_select(["annotator_id", "conversation_id"], shown.distinct())
    )


async def block(session: WriteSession, annotator_id: UUID, at: datetime, reason: str) -> bool:
    """Note that an annotator is blocked, unless they are; return whether they were not."""
    blocked = await session.scalar(
        update(AnnotatorRow)
        .where(AnnotatorRow.id == annotator_id, AnnotatorRow.blocked_at.is_(None))
        .values(blocked_at=at, blocked_reason=reason)
        .returning(AnnotatorRow.id)
    )
    return blocked is not None


async def unblock(session: WriteSession, annotator_id: UUID) -> bool:
    """Note that an annotator is no longer blocked; return whether they were."""
    unblocked = await session.scalar(
        update(AnnotatorRow)
        .where(AnnotatorRow.id == annotator_id, AnnotatorRow.blocked_at.is_not(None))
        .values(blocked_at=None, blocked_reason=None)
        .returning(AnnotatorRow.id)
    )
    return unblocked is not None


def _annotators(campaign_id: UUID) -> Select[AnnotatorRow, int]:
    return select(AnnotatorRow, _COUNTED).where(AnnotatorRow.campaign_id == campaign_id)


def _annotator(row: AnnotatorRow, packages: int) -> Annotator:
    return Annotator(
        id=row.id,
        campaign_id=row.campaign_id,
        frontend=row.frontend,
        external_id=row.external_id,
        packages=packages,
        created_at=row.created_at,
        blocked_at=row.blocked_at,
        blocked_reason=row.blocked_reason,
    )
