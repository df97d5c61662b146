"""Entry links, and the annotators who entered by them."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from sqlalchemy import exists, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.domain.entry_links import EntryLink
from spotthebot.annotation.tables import EntryLinkRow, EntryRow
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_id


async def add_link(session: WriteSession, link: EntryLink) -> None:
    await session.execute(
        insert(EntryLinkRow).values(
            id=link.id,
            campaign_id=link.campaign_id,
            frontend=link.frontend,
            annotator=link.annotator,
            expires_at=link.expires_at,
            max_annotators=link.max_annotators,
        )
    )


async def find_link(session: ReadSession, link_id: UUID, frontend: str) -> EntryLink | None:
    """Return a link that a frontend may use: one for all frontends, or its own."""
    row = await session.scalar(
        select(EntryLinkRow).where(
            EntryLinkRow.id == link_id, or_(EntryLinkRow.frontend.is_(None), EntryLinkRow.frontend == frontend)
        )
    )
    if row is None:
        return None
    return EntryLink(row.id, row.campaign_id, row.frontend, row.annotator, row.expires_at, row.max_annotators)


async def has_entered(session: ReadSession, link_id: UUID, annotator_id: UUID) -> bool:
    """Say whether an annotator entered by a link before."""
    entered = exists().where(EntryRow.link_id == link_id, EntryRow.annotator_id == annotator_id)
    return bool(await session.scalar(select(entered)))


async def count_annotator(session: WriteSession, link_id: UUID) -> bool:
    """Count one more annotator who enters by a link; False where it is for as many as have entered."""
    counted = await session.scalar(
        update(EntryLinkRow)
        .where(
            EntryLinkRow.id == link_id,
            or_(EntryLinkRow.max_annotators.is_(None), EntryLinkRow.annotators < EntryLinkRow.max_annotators),
        )
        .values(annotators=EntryLinkRow.annotators + 1)
        .returning(EntryLinkRow.id)
    )
    return counted is not None


async def add_entry(
    session: WriteSession, link_id: UUID, annotator_id: UUID, parameters: Mapping[str, str], at: datetime
) -> None:
    """Keep with which parameters an annotator entered; the same again changes nothing."""
    values = {
        "id": new_id(),
        "link_id": link_id,
        "annotator_id": annotator_id,
        "parameters": dict(parameters),
        "entered_at": at,
    }
    await session.execute(insert(EntryRow).values(values).on_conflict_do_nothing())


async def latest_parameters(session: ReadSession, annotator_id: UUID, *, until: datetime) -> Mapping[str, str]:
    """Return the panel's parameters with which an annotator entered last before a moment; none where they did not.

    Who enters by a link of their own comes without any, and is still at work for the assignment of before.
    """
    statement = (
        select(EntryRow.parameters)
        .where(EntryRow.annotator_id == annotator_id, EntryRow.entered_at <= until, EntryRow.parameters != {})
        .order_by(EntryRow.entered_at.desc(), EntryRow.id.desc())
        .limit(1)
    )
    return await session.scalar(statement) or {}
