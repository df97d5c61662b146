"""What can be done with bots."""

import asyncio
from uuid import UUID

from spotthebot.bots import store
from spotthebot.bots.domain.bots import Bot, fingerprint_configuration, fingerprint_dialogues
from spotthebot.bots.domain.builtin import BuiltinModel, build
from spotthebot.bots.domain.dialogue import Context
from spotthebot.bots.domain.errors import TeamKeyWithoutTeam
from spotthebot.bots.model import LoadedBots
from spotthebot.contracts.access import Role
from spotthebot.contracts.bots import BotIn, RepliesIn, RepliesOut
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database import ReadSession, WriteSession


async def register_bot(session: WriteSession, loaded: LoadedBots, principal: Principal, wanted: BotIn) -> Bot:
    """Register a bot for the caller's team, after seeing that what it learns from is there and teaches something."""
    if principal.role == Role.TEAM and principal.team is None:
        raise TeamKeyWithoutTeam
    dialogues = await loaded.training_dialogues(wanted.protocol)
    model = BuiltinModel(wanted.protocol.model)
    await asyncio.to_thread(build, model, seed=wanted.protocol.seed, dialogues=dialogues)
    training_sha256 = fingerprint_dialogues(dialogues) if dialogues else None
    return await store.add_bot(
        session,
        wanted,
        team=principal.team,
        training_sha256=training_sha256,
        configuration_sha256=fingerprint_configuration(wanted.protocol, training_sha256),
    )


async def reply(
    session: ReadSession, loaded: LoadedBots, principal: Principal, bot_id: UUID, wanted: RepliesIn
) -> RepliesOut:
    """Ask a bot that the caller may see for one reply to each context."""
    bot = await store.get_bot(session, bot_id, principal)
    contexts = [Context(turns=context.turns, seed=context.seed) for context in wanted.contexts]
    replies = await loaded.replies(bot, contexts)
    return RepliesOut(bot_id=bot.id, configuration_sha256=bot.configuration_sha256, replies=tuple(replies))
