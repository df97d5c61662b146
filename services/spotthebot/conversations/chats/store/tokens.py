"""The only SQL over chat tokens. Each chat has one token; only its hash is stored.

A token has the form of an API key, so that one rule blanks tokens and keys in logs. A new token ends the previous one.
"""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Uuid, bindparam, select, update

from spotthebot.conversations.chats.errors import ChatTokenExpired, NoSuchChat, NoSuchChatToken
from spotthebot.conversations.chats.tables import ChatRow
from spotthebot.kit.access.keys import make_key, parse_key, same_secret
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.database.statements import Runner, Statement

_ROLE = "chat"
_BEGINNING = f"stb_{_ROLE}_"
_BY_ID = Statement(
    select(ChatRow.token_sha256, ChatRow.token_expires_at).where(ChatRow.id == bindparam("chat_id", type_=Uuid))
)


def is_chat_token(text: str) -> bool:
    """Return whether a text begins as every chat token does. The token need not be valid."""
    return text.startswith(_BEGINNING)


async def replace_token(session: WriteSession, chat_id: UUID, expires_at: datetime) -> str:
    """Replace a chat's token and return the new token; raises NoSuchChat."""
    token, digest = make_key(_ROLE, chat_id)
    statement = update(ChatRow).where(ChatRow.id == chat_id).values(token_sha256=digest, token_expires_at=expires_at)
    if await session.scalar(statement.returning(ChatRow.id)) is None:
        raise NoSuchChat(chat_id=chat_id)
    return token


async def check_token(runner: Runner, text: str, chat: str, now: datetime) -> tuple[UUID, datetime]:
    """Check the token of a chat named in a path; return the chat's id and the time at which the token expires.

    Raises ChatTokenExpired. Raises NoSuchChatToken for an unknown token, and for the token of another chat.
    """
    parsed = parse_key(text)
    if parsed is None or str(parsed[0]) != chat.lower():
        raise NoSuchChatToken
    chat_id = parsed[0]
    rows = await runner.fetch(_BY_ID, {"chat_id": chat_id})
    if not rows or rows[0].token_sha256 is None or not same_secret(parsed[1], rows[0].token_sha256):
        raise NoSuchChatToken
    expires_at: datetime = rows[0].token_expires_at
    if expires_at <= now:
        raise ChatTokenExpired
    return chat_id, expires_at
