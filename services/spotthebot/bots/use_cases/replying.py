"""Asking a bot for replies."""

from uuid import UUID

from spotthebot.bots import store
from spotthebot.bots.asking import not_asked
from spotthebot.bots.domain.bots import Bot, BotVersion
from spotthebot.bots.domain.dialogue import Context
from spotthebot.bots.domain.errors import BotNotAsked
from spotthebot.bots.domain.replies import Reply
from spotthebot.bots.use_cases.workshop import Workshop
from spotthebot.contracts.bots import BotStatus, ContextIn, RepliesIn, RepliesOut, ReplyFailure, ReplyOut
from spotthebot.kit.access.keys import Principal


async def reply(workshop: Workshop, principal: Principal, bot_id: UUID, request: RepliesIn) -> RepliesOut:
    """Ask a bot that the caller may see for one reply to each context; no database connection is held meanwhile."""
    async with workshop.database.read() as session:
        bot = await store.get_bot(session, bot_id, principal)
        version = bot.version
        if request.version is not None and request.version != version.number:
            version = await store.get_version(session, bot_id, request.version)
        model = await workshop.model_of(session, bot, version)
    contexts = [_context(each) for each in request.contexts]
    if bot.status in {BotStatus.SUSPENDED, BotStatus.RETIRED}:
        raise BotNotAsked(name=bot.name, status=bot.status)
    if bot.status is BotStatus.FAILING:
        detail = f"The bot is failing and is asked again after a probe: {bot.status_reason}"
        replies = [not_asked(ReplyFailure.CIRCUIT_OPEN, detail)] * len(contexts)
    else:
        line = workshop.lines.line(bot, version, model)
        if line.circuit.is_open:  # and the database says that a probe has closed it since
            line.circuit.close()
        replies = await line.replies(contexts)
    return _to_out(bot, version, replies)


def _context(request: ContextIn) -> Context:
    return Context(
        turns=request.turns,
        seed=request.seed,
        conversation_id=request.conversation_id,
        speaker=request.speaker,
        domain=request.domain,
        persona=request.persona,
    )


def _to_out(bot: Bot, version: BotVersion, replies: list[Reply]) -> RepliesOut:
    return RepliesOut(
        bot_id=bot.id,
        version=version.number,
        configuration_sha256=version.configuration_sha256,
        replies=tuple(
            ReplyOut(
                text=each.text,
                failure=each.failure,
                detail=each.detail,
                attempts=each.attempts,
                latency_ms=each.latency_ms,
            )
            for each in replies
        ),
    )
