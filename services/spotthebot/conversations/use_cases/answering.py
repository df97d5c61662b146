"""Having a bot answer a person: within its limits, under one key however often it is asked, and at last not at all."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from spotthebot.contracts.bots import ReplyFailure
from spotthebot.contracts.conversations import ConversationState
from spotthebot.conversations import store
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.domain.chats import ASKED_AGAIN, BROKEN_OFF, answer
from spotthebot.conversations.domain.conversations import Conversation, Reply
from spotthebot.conversations.domain.errors import UnknownBot
from spotthebot.conversations.domain.stepping import Step
from spotthebot.conversations.use_cases.asking import places_wanted
from spotthebot.conversations.use_cases.chatting import move_on, tell_turn
from spotthebot.kit.client import PeerRefused, PeerUnavailable
from spotthebot.kit.database import Database
from spotthebot.kit.ids import new_id

_LOOK_AGAIN_SECONDS = 0.05


class Answering:
    """One job that has a bot say the next turn of a person's conversation."""

    def __init__(self, database: Database, bots: Bots, job_id: int) -> None:
        self._database = database
        self._bots = bots
        self._job_id = job_id

    async def run(self, chat_id: UUID, conversation_id: UUID, turns: int) -> None:
        """Have the bot say the turn at this position, unless it is there already, and tell the person."""
        async with self._database.write() as session:
            await store.places.free(session, self._job_id)  # what an attempt that died had taken
        while True:
            async with self._database.read() as session:
                conversation = await store.conversations.get_conversation(session, conversation_id)
            if conversation.state is not ConversationState.RUNNING or len(conversation.turns) != turns:
                return
            step, wait = answer(conversation, await self._ask(conversation))
            if not await self._keep(chat_id, step) or wait is None:
                return
            await asyncio.sleep(wait)

    async def _ask(self, conversation: Conversation) -> Reply:
        bot_id = conversation.next_bot
        if bot_id is None:
            message = f"in conversation {conversation.id} no bot speaks next"
            raise RuntimeError(message)
        try:
            async with self._place(bot_id):
                (reply,) = await self._bots.reply(bot_id, [conversation])
                return reply
        except (PeerUnavailable, PeerRefused, UnknownBot) as error:
            return Reply(None, ReplyFailure.UNREACHABLE, error.detail, 0.0)

    @asynccontextmanager
    async def _place(self, bot_id: UUID) -> AsyncIterator[None]:
        """Wait for a place at a bot, ahead of the runners."""
        request = await places_wanted(self._bots, bot_id, 1)
        place = new_id()
        try:
            while True:
                async with self._database.write() as session:
                    if await store.places.take_next(session, place, bot_id, request, job_id=self._job_id):
                        break
                await asyncio.sleep(_LOOK_AGAIN_SECONDS)
            yield
        finally:
            async with self._database.write() as session:
                await store.places.give_back(session, {place: 1})

    async def _keep(self, chat_id: UUID, step: Step) -> bool:
        """Write what a reply made of the conversation and tell the person; returns whether it was still to be done."""
        async with self._database.write() as session:
            chat = await store.chats.lock_chat(session, chat_id)
            written = await store.waves.write(session, [step])
            if step.after.id not in written.conversations:
                return False
            if step.text is not None:
                await tell_turn(session, chat, step.after)
            else:
                again = step.after.state is ConversationState.RUNNING
                number, message = len(chat.conversations), ASKED_AGAIN if again else BROKEN_OFF
                told = {"number": number, "again": again, "message": message}
                await store.chats.add_event(session, chat_id, "failed", told)
            if step.after.state is not ConversationState.RUNNING:
                await move_on(session, chat)
        return True
