"""A bot's reply in a chat: within the bot's limits, with one key for all retries, and few retries."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import time_ns
from uuid import UUID

from spotthebot.clients import PEER_TROUBLE
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyOut
from spotthebot.contracts.conversations.conversations import ConversationState
from spotthebot.conversations.chats.domain.chats import BROKEN_OFF, DELAYED, step_in_chat
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.use_cases.converse import continue_chat
from spotthebot.conversations.chats.use_cases.turns import add_turn_event
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.conversations.domain import Conversation, Step, fail
from spotthebot.conversations.conversations.errors import UnknownBot
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.conversations.store import turns as turns_store
from spotthebot.conversations.conversations.use_cases import record_commits, record_requests
from spotthebot.conversations.turn_loop.store import concurrency_slots as concurrency_slots_store
from spotthebot.conversations.turn_loop.use_cases.bot_requests import slots_needed
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.ids import new_id
from spotthebot.kit.jobs.queue import Jobs

_POLL_SECONDS = 0.05


class ChatReply:
    """A job that requests a bot's next turn in a person's conversation."""

    def __init__(self, database: Database, jobs: Jobs, bots: Bots, job_id: int) -> None:
        self._database = database
        self._jobs = jobs
        self._bots = bots
        self._job_id = job_id

    async def run(self, chat_id: UUID, conversation_id: UUID, turns: int) -> None:
        """Request the bot's turn after `turns` turns, unless the turn exists, and add an event for it."""
        async with self._database.write() as session:
            await concurrency_slots_store.release_job(session, self._job_id)  # slots of an attempt that died
        while True:
            async with self._database.read() as session:
                conversation = await conversations_store.get_conversation(session, conversation_id)
            if conversation.state is not ConversationState.RUNNING or len(conversation.turns) != turns:
                return
            since = time_ns()
            step, wait = step_in_chat(conversation, await self._request(conversation))
            record_requests([step], since)
            if not await _commit(self._database, self._jobs, chat_id, step) or wait is None:
                return
            await asyncio.sleep(wait)

    async def _request(self, conversation: Conversation) -> ReplyOut:
        bot_id = conversation.next_bot
        if bot_id is None:
            message = f"in conversation {conversation.id} no bot speaks next"
            raise RuntimeError(message)
        try:
            async with self._slot(bot_id):
                (reply,) = await self._bots.reply(bot_id, [conversation])
                return reply
        except (*PEER_TROUBLE, UnknownBot) as error:
            return ReplyOut.failed(ReplyFailure.UNREACHABLE, error.detail)

    @asynccontextmanager
    async def _slot(self, bot_id: UUID) -> AsyncIterator[None]:
        """Wait for a concurrency slot at a bot, with priority over runners, and hold it during the block."""
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


async def break_off(
    database: Database, jobs: Jobs, chat_id: UUID, conversation_id: UUID, *, turns: int, reason: str
) -> None:
    """Fail a conversation because the turn after `turns` turns can't be obtained, and continue the chat."""
    async with database.read() as session:
        conversation = await conversations_store.get_conversation(session, conversation_id)
    if conversation.state is ConversationState.RUNNING and len(conversation.turns) == turns:
        await _commit(database, jobs, chat_id, fail(conversation, reason))


async def _commit(database: Database, jobs: Jobs, chat_id: UUID, step: Step) -> bool:
    """Commit a step and add its event to the chat; return False if another process committed it first."""
    since = time_ns()
    async with database.write() as session:
        chat = await chats_store.lock_chat(session, chat_id)
        committed = await turns_store.commit_steps(session, [step])
        if step.after.id not in committed.conversations:
            return False
        if step.text is not None:
            await add_turn_event(session, chat_id, len(chat.conversations), step.after)
        else:
            again = step.after.state is ConversationState.RUNNING
            number, message = len(chat.conversations), DELAYED if again else BROKEN_OFF
            data = {"number": number, "again": again, "message": message}
            await chats_store.add_event(session, chat_id, "failed", data)
        if step.after.state is not ConversationState.RUNNING:
            await continue_chat(session, jobs, chat)
    record_commits([step], committed.conversations, since)
    return True
