"""A bot's reply in a chat: within the bot's limits, under one key however often it is requested, with few retries."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import time_ns
from uuid import UUID

from spotthebot.clients import PEER_TROUBLE
from spotthebot.contracts.bots.replies import ReplyFailure
from spotthebot.contracts.conversations.conversations import ConversationState
from spotthebot.conversations.chats.domain import BROKEN_OFF, DELAYED, step_in_chat
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.use_cases.converse import add_turn_event, continue_chat
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.conversations.domain import Conversation, Reply, Step, fail
from spotthebot.conversations.conversations.errors import UnknownBot
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.conversations.store import turns as turns_store
from spotthebot.conversations.conversations.use_cases import record_commits, record_requests
from spotthebot.conversations.turn_loop.store import concurrency_slots as concurrency_slots_store
from spotthebot.conversations.turn_loop.use_cases.bot_requests import slots_needed
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.ids import new_id

_POLL_SECONDS = 0.05


class ChatReply:
    """One job that has a bot say the next turn of a person's conversation."""

    def __init__(self, database: Database, bots: Bots, job_id: int) -> None:
        self._database = database
        self._bots = bots
        self._job_id = job_id

    async def run(self, chat_id: UUID, conversation_id: UUID, turns: int) -> None:
        """Request the turn at this position, unless it is there already, and add it to the chat's events."""
        async with self._database.write() as session:
            await concurrency_slots_store.release_job(session, self._job_id)  # those of an attempt that died
        while True:
            async with self._database.read() as session:
                conversation = await conversations_store.get_conversation(session, conversation_id)
            if conversation.state is not ConversationState.RUNNING or len(conversation.turns) != turns:
                return
            since = time_ns()
            step, wait = step_in_chat(conversation, await self._request(conversation))
            record_requests([step], since)
            if not await _commit(self._database, chat_id, step) or wait is None:
                return
            await asyncio.sleep(wait)

    async def _request(self, conversation: Conversation) -> Reply:
        bot_id = conversation.next_bot
        if bot_id is None:
            message = f"in conversation {conversation.id} no bot speaks next"
            raise RuntimeError(message)
        try:
            async with self._slot(bot_id):
                (reply,) = await self._bots.reply(bot_id, [conversation])
                return reply
        except (*PEER_TROUBLE, UnknownBot) as error:
            return Reply(None, ReplyFailure.UNREACHABLE, error.detail, 0.0)

    @asynccontextmanager
    async def _slot(self, bot_id: UUID) -> AsyncIterator[None]:
        """Wait for a concurrency slot at a bot, ahead of the runners."""
        request = await slots_needed(self._bots, bot_id, 1)
        slot_id = new_id()
        try:
            while True:
                async with self._database.write() as session:
                    if await concurrency_slots_store.acquire_next(
                        session, slot_id, bot_id, request, job_id=self._job_id
                    ):
                        break
                await asyncio.sleep(_POLL_SECONDS)
            yield
        finally:
            async with self._database.write() as session:
                await concurrency_slots_store.release(session, {slot_id: 1})


async def break_off(database: Database, chat_id: UUID, conversation_id: UUID, turns: int, reason: str) -> None:
    """Fail a conversation whose turn at this position can't be had, and go on with the chat."""
    async with database.read() as session:
        conversation = await conversations_store.get_conversation(session, conversation_id)
    if conversation.state is ConversationState.RUNNING and len(conversation.turns) == turns:
        await _commit(database, chat_id, fail(conversation, reason))


async def _commit(database: Database, chat_id: UUID, step: Step) -> bool:
    """Commit a step and add its event to the chat; returns whether the step was still due."""
    since = time_ns()
    async with database.write() as session:
        chat = await chats_store.lock_chat(session, chat_id)
        committed = await turns_store.commit_steps(session, [step])
        if step.after.id not in committed.conversations:
            return False
        if step.text is not None:
            await add_turn_event(session, chat, step.after)
        else:
            again = step.after.state is ConversationState.RUNNING
            number, message = len(chat.conversations), DELAYED if again else BROKEN_OFF
            data = {"number": number, "again": again, "message": message}
            await chats_store.add_event(session, chat_id, "failed", data)
        if step.after.state is not ConversationState.RUNNING:
            await continue_chat(session, chat)
    record_commits([step], committed.conversations, since)
    return True
