"""The only SQL over chat tokens: each chat has one, of which a hash is kept."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Uuid, bindparam, select, update

from spotthebot.conversations.chats.errors import ChatTokenExpired, NoSuchChat, NoSuchChatToken
from spotthebot.conversations.chats.tables import ChatRow
from spotthebot.kit.access.keys import make_key, parse_key, same_secret
from spotthebot.kit.database.lookups import Lookups
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.database.statements import Statement

_ROLE = "chat"
_BEGINNING = f"stb_{_ROLE}_"
_BY_ID = Statement(
    select(ChatRow.token_sha256, ChatRow.token_expires_at).where(ChatRow.id == bindparam("chat_id", type_=Uuid))
)


def is_chat_token(text: str) -> bool:
    """Tell tokens of chats from API keys, whose form they share, so that logs blank both."""
    return text.startswith(_BEGINNING)


async def replace_token(session: WriteSession, chat_id: UUID, expires_at: datetime) -> str:
    """Give a chat a new token in place of its old one, and return its text; raises NoSuchChat."""
    token, digest = make_key(_ROLE, chat_id)
    statement = update(ChatRow).where(ChatRow.id == chat_id).values(token_sha256=digest, token_expires_at=expires_at)
    if await session.scalar(statement.returning(ChatRow.id)) is None:
        raise NoSuchChat(chat_id=chat_id)
    return token


async def check_token(lookups: Lookups, text: str, chat: str, now: datetime) -> tuple[UUID, datetime]:
    """Return the id of the chat that a path names, and when its token expires.

    Raises ChatTokenExpired, and NoSuchChatToken for a token that is another chat's as well.
    """
    parsed = parse_key(text)
    if parsed is None or str(parsed[0]) != chat.lower():
        raise NoSuchChatToken
    chat_id = parsed[0]
    rows = await lookups.fetch(_BY_ID, {"chat_id": chat_id})
    if not rows or rows[0].token_sha256 is None or not same_secret(parsed[1], rows[0].token_sha256):
        raise NoSuchChatToken
    expires_at: datetime = rows[0].token_expires_at
    if expires_at <= now:
        raise ChatTokenExpired
    return chat_id, expires_at
