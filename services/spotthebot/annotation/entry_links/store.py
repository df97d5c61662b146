"""Entry links, and the annotators who entered by them."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import exists, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.annotators.tables import AnnotatorRow
from spotthebot.annotation.entry_links.domain.entry_links import EntryLink, LinkState, Worker
from spotthebot.annotation.entry_links.errors import NoSuchEntryLink
from spotthebot.annotation.entry_links.tables import EntryLinkRow, EntryRow
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id


async def add_link(session: WriteSession, link: EntryLink) -> None:
    await session.execute(insert(EntryLinkRow).values(asdict(link)))


async def find_link(session: ReadSession, link_id: UUID, frontend: str) -> EntryLink | None:
    """Return a link that a frontend may use: a link for all frontends, or its own."""
    row = await session.scalar(
        select(EntryLinkRow).where(
            EntryLinkRow.id == link_id, or_(EntryLinkRow.frontend.is_(None), EntryLinkRow.frontend == frontend)
        )
    )
    return None if row is None else from_row(EntryLink, row)


async def get_link(session: ReadSession, link_id: UUID) -> EntryLink:
    return from_row(EntryLink, await session.get_one(EntryLinkRow, link_id))


async def lock_link(session: WriteSession, campaign_id: UUID, link_id: UUID) -> EntryLink:
    """Return a link into a campaign, locked against new entries until this transaction ends.

    Raises NoSuchEntryLink.
    """
    statement = select(EntryLinkRow).where(EntryLinkRow.campaign_id == campaign_id, EntryLinkRow.id == link_id)
    row = await session.scalar(statement.with_for_update(key_share=True))
    if row is None:
        raise NoSuchEntryLink(link_id=link_id)
    return from_row(EntryLink, row)


async def list_links(
    session: ReadSession, campaign_id: UUID, *, newest_first: bool, after: UUID | None, limit: int
) -> list[LinkState]:
    """Return the links into a campaign, each with the number of people who entered by it; oldest first by default."""
    order = EntryLinkRow.id.desc() if newest_first else EntryLinkRow.id
    statement = select(EntryLinkRow).where(EntryLinkRow.campaign_id == campaign_id).order_by(order).limit(limit)
    if after is not None:
        statement = statement.where(EntryLinkRow.id < after if newest_first else EntryLinkRow.id > after)
    return [from_row(LinkState, row, link=from_row(EntryLink, row)) for row in await session.scalars(statement)]


async def revoke_link(session: WriteSession, link_id: UUID, at: datetime) -> None:
    """Store that a link was revoked."""
    await session.execute(update(EntryLinkRow).where(EntryLinkRow.id == link_id).values(revoked_at=at))


async def lock_entered(
    session: WriteSession, campaign_id: UUID, frontend: str, external_id: str, link_id: UUID
) -> UUID | None:
    """Return an annotator who entered a campaign by a link, and serialise their requests; None if there is none."""
    entered = exists().where(EntryRow.link_id == link_id, EntryRow.annotator_id == AnnotatorRow.id)
    statement = select(AnnotatorRow.id).where(
        AnnotatorRow.campaign_id == campaign_id,
        AnnotatorRow.frontend == frontend,
        AnnotatorRow.external_id == external_id,
        entered,
    )
    found: UUID | None = await session.scalar(statement.with_for_update(key_share=True))
    return found


async def has_entered(session: ReadSession, link_id: UUID, annotator_id: UUID) -> bool:
    """Return whether an annotator entered by a link before."""
    entered = exists().where(EntryRow.link_id == link_id, EntryRow.annotator_id == annotator_id)
    return bool(await session.scalar(select(entered)))


async def count_annotator(session: WriteSession, link_id: UUID) -> bool:
    """Count one more annotator who enters by a link; return False if the link is full."""
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
    """Store the parameters with which an annotator entered; a repeat changes nothing."""
    values = {
        "id": new_id(),
        "link_id": link_id,
        "annotator_id": annotator_id,
        "parameters": dict(parameters),
        "entered_at": at,
    }
    await session.execute(insert(EntryRow).values(values).on_conflict_do_nothing())


async def latest_parameters(session: ReadSession, annotator_id: UUID, *, until: datetime) -> Mapping[str, str]:
    """Return the panel's parameters of an annotator's last entry before a moment; empty without an entry.

    Entries by a personal link carry no parameters and are skipped: the annotator still works for the panel's earlier
    assignment.
    """
    statement = (
        select(EntryRow.parameters)
        .where(EntryRow.annotator_id == annotator_id, EntryRow.entered_at <= until, EntryRow.parameters != {})
        .order_by(EntryRow.entered_at.desc(), EntryRow.id.desc())
        .limit(1)
    )
    return await session.scalar(statement) or {}


WORKERS: Final = """
    WITH workers AS (
        SELECT a.id, a.external_id, a.kind, a.frontend, (
            SELECT l.id FROM annotation.entries AS e JOIN annotation.entry_links AS l ON l.id = e.link_id
            WHERE e.annotator_id = a.id AND l.annotator IS NULL ORDER BY e.entered_at LIMIT 1
        ) AS link
        FROM annotation.annotators AS a WHERE a.campaign_id = :campaign_id
    )
"""
"""The annotators of a campaign with their workforces: the frontend, and the first shared link by which they entered."""


async def list_workers(session: ReadSession, campaign_id: UUID, *, after: UUID | None, limit: int) -> list[Worker]:
    """Return the annotators of a campaign with their workforces, oldest first."""
    page = "SELECT * FROM workers WHERE CAST(:after AS uuid) IS NULL OR id > :after ORDER BY id LIMIT :limit"
    rows = await session.execute(
        text(f"{WORKERS} {page}"), {"campaign_id": campaign_id, "after": after, "limit": limit}
    )
    return [from_row(Worker, row, kind=AnnotatorKind(row.kind)) for row in rows]
