"""The only SQL over links into chats: their use, and their revocation."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import distinct, exists, func, select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.conversations.chats.domain.chats import UsedLink
from spotthebot.conversations.chats.tables import ChatRow, RevokedLinkRow
from spotthebot.kit.database.sessions import ReadSession, WriteSession


async def revoke_link(session: WriteSession, collection_id: UUID, link: str) -> datetime:
    """Revoke a link and return the time of revocation; a repeat keeps the first time."""
    values = {"collection_id": collection_id, "link": link}
    await session.execute(insert(RevokedLinkRow).values(values).on_conflict_do_nothing())
    row = await session.get_one(RevokedLinkRow, (collection_id, link))
    return row.revoked_at


async def is_revoked(session: ReadSession, collection_id: UUID, link: str) -> bool:
    """Return whether a link was revoked."""
    statement = select(exists().where(RevokedLinkRow.collection_id == collection_id, RevokedLinkRow.link == link))
    return bool(await session.scalar(statement))


async def count_people(session: ReadSession, collection_id: UUID, link: str, *, but: str) -> int:
    """Return how many people began a chat by a link, not counting the person with the id `but`."""
    statement = select(func.count(distinct(ChatRow.interactor))).where(
        ChatRow.collection_id == collection_id, ChatRow.link == link, ChatRow.interactor != but
    )
    return await session.scalar(statement) or 0


async def list_links(session: ReadSession, collection_id: UUID, *, limit: int) -> list[UsedLink]:
    """Return the links that were used or revoked, the link that most people used first."""
    used = (
        select(
            ChatRow.link.label("link"),
            func.count(distinct(ChatRow.interactor)).label("people"),
            func.count().label("chats"),
        )
        .where(ChatRow.collection_id == collection_id, ChatRow.link.is_not(None))
        .group_by(ChatRow.link)
        .subquery()
    )
    revoked = select(RevokedLinkRow).where(RevokedLinkRow.collection_id == collection_id).subquery()
    link = func.coalesce(used.c.link, revoked.c.link)
    people = func.coalesce(used.c.people, 0)
    statement = (
        select(link, people, func.coalesce(used.c.chats, 0), revoked.c.revoked_at)
        .select_from(used.outerjoin(revoked, revoked.c.link == used.c.link, full=True))
        .order_by(people.desc(), link)
        .limit(limit)
    )
    return [UsedLink(*row) for row in await session.execute(statement)]
