"""Idle chats: a person who has given no turn for too long has abandoned the chat."""

from spotthebot.contracts.conversations.chats import ChatState
from spotthebot.conversations.chats.domain.chats import TRANSITIONS, Chat
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.kit.database.sessions import Database, WriteSession


async def abandon_idle_chats(database: Database, *, limit: int = 1000) -> None:
    """Abandon idle chats, each in its own transaction, so that locks are short."""
    async with database.read() as session:
        idle = await chats_store.list_idle(session, limit=limit)
    for chat_id in idle:
        async with database.write() as session:
            chat = await chats_store.lock_chat(session, chat_id)
            if ChatState.ABANDONED in TRANSITIONS[chat.state]:
                await abandon(session, chat)


async def abandon(session: WriteSession, chat: Chat) -> None:
    """Abandon a locked chat and cancel its running conversation."""
    await chats_store.cancel_conversation(session, chat.conversations[-1], "The chat was abandoned.")
    await chats_store.change_chat(session, chat.id, state=ChatState.ABANDONED)
    await chats_store.add_event(session, chat.id, "done", {"state": ChatState.ABANDONED})
