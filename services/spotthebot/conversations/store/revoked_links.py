"""The only SQL over links into chats that were revoked."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import exists, select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.conversations.tables import RevokedLinkRow
from spotthebot.kit.database import ReadSession, WriteSession


async def add_link(session: WriteSession, collection_id: UUID, link: str) -> datetime:
    """Note that a link is revoked, and return since when; one that was revoked before keeps its time."""
    values = {"collection_id": collection_id, "link": link}
    await session.execute(insert(RevokedLinkRow).values(values).on_conflict_do_nothing())
    row = await session.get_one(RevokedLinkRow, (collection_id, link))
    return row.revoked_at


async def is_revoked(session: ReadSession, collection_id: UUID, link: str) -> bool:
    """Whether a link was revoked."""
    statement = select(exists().where(RevokedLinkRow.collection_id == collection_id, RevokedLinkRow.link == link))
    return bool(await session.scalar(statement))
