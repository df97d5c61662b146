"""Entry links, and the annotators who entered by them."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from sqlalchemy import exists, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.annotators.tables import AnnotatorRow
from spotthebot.annotation.entry_links.domain.entry_links import EntryLink, LinkState
from spotthebot.annotation.entry_links.errors import NoSuchEntryLink
from spotthebot.annotation.entry_links.tables import EntryLinkRow, EntryRow
from spotthebot.kit.database.sessions import ReadSession, WriteSession
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
            signed_ids=link.signed_ids,
        )
    )


async def find_link(session: ReadSession, link_id: UUID, frontend: str) -> EntryLink | None:
    """Return a link that a frontend may use: one for all frontends, or its own."""
    row = await session.scalar(
        select(EntryLinkRow).where(
            EntryLinkRow.id == link_id, or_(EntryLinkRow.frontend.is_(None), EntryLinkRow.frontend == frontend)
        )
    )
    return None if row is None else _link(row)


async def get_link(session: ReadSession, link_id: UUID) -> EntryLink:
    return _link(await session.get_one(EntryLinkRow, link_id))


async def lock_link(session: WriteSession, campaign_id: UUID, link_id: UUID) -> EntryLink:
    """Return a link into a campaign, by which nobody new enters until this transaction ends.

    Raises NoSuchEntryLink.
    """
    statement = select(EntryLinkRow).where(EntryLinkRow.campaign_id == campaign_id, EntryLinkRow.id == link_id)
    row = await session.scalar(statement.with_for_update(key_share=True))
    if row is None:
        raise NoSuchEntryLink(link_id=link_id)
    return _link(row)


async def list_links(
    session: ReadSession, campaign_id: UUID, *, newest_first: bool, after: UUID | None, limit: int
) -> list[LinkState]:
    """Return the links into a campaign with how many people entered, oldest first unless asked otherwise."""
    order = EntryLinkRow.id.desc() if newest_first else EntryLinkRow.id
    statement = select(EntryLinkRow).where(EntryLinkRow.campaign_id == campaign_id).order_by(order).limit(limit)
    if after is not None:
        statement = statement.where(EntryLinkRow.id < after if newest_first else EntryLinkRow.id > after)
    return [LinkState(_link(row), row.annotators, row.created_at) for row in await session.scalars(statement)]


async def revoke_link(session: WriteSession, link_id: UUID, at: datetime) -> None:
    """Note that nobody may come by a link any more."""
    await session.execute(update(EntryLinkRow).where(EntryLinkRow.id == link_id).values(revoked_at=at))


async def lock_entered(
    session: WriteSession, campaign_id: UUID, frontend: str, external_id: str, link_id: UUID
) -> UUID | None:
    """Let one request of an annotator at a time pass, who entered a campaign by a link; None where nobody did."""
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


def _link(row: EntryLinkRow) -> EntryLink:
    return EntryLink(
        id=row.id,
        campaign_id=row.campaign_id,
        frontend=row.frontend,
        annotator=row.annotator,
        expires_at=row.expires_at,
        max_annotators=row.max_annotators,
        signed_ids=row.signed_ids,
        revoked_at=row.revoked_at,
    )
