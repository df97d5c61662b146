"""A turn of a chat: its event, and the job that requests a bot's turn."""

from uuid import UUID

from spotthebot.conversations.chats.domain.chats import shown_turns
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.conversations.domain import Conversation
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.jobs.queue import Jobs

REPLY_IN_CHAT = "conversations:reply_in_chat"
CHATS = "chats"
"""The queue of jobs that people wait for, separate from the runners' queue."""


async def add_turn_event(session: WriteSession, chat_id: UUID, number: int, conversation: Conversation) -> None:
    """Add an event for the last turn of a chat's conversation `number`."""
    turns = shown_turns(conversation)
    data = {"number": number, "position": len(turns) - 1, **turns[-1].model_dump()}
    await chats_store.add_event(session, chat_id, "turn", data)


async def request_reply(
    session: WriteSession, jobs: Jobs, chat_id: UUID, number: int, conversation: Conversation
) -> None:
    """Queue the job that requests the bot's next turn in a chat's conversation `number`."""
    await chats_store.add_event(session, chat_id, "typing", {"number": number})
    arguments = {
        "chat_id": str(chat_id),
        "conversation_id": str(conversation.id),
        "turns": len(conversation.turns),
    }
    await jobs.defer(session, REPLY_IN_CHAT, arguments, queue=CHATS)
