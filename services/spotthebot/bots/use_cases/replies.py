"""Replies: one bot version is asked for one reply to each context."""

from uuid import UUID

from spotthebot.bots import store
from spotthebot.bots.bot_client import not_asked
from spotthebot.bots.domain.bot_status import GETS_NO_QUESTIONS
from spotthebot.bots.domain.dialogue import Context
from spotthebot.bots.domain.errors import BotNotAsked, TemperatureNotTaken
from spotthebot.bots.domain.replies import Replies
from spotthebot.bots.use_cases.context import BotsContext
from spotthebot.contracts.bots import (
    BotStatus,
    ContextIn,
    OpenAIProtocol,
    RepliesIn,
    ReplyFailure,
    TransformersProtocol,
    TritonProtocol,
)
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.errors import FieldError

_HAS_TEMPERATURE = (OpenAIProtocol, TritonProtocol, TransformersProtocol)
_USUAL_TEMPERATURE = 1.0


async def reply(
    context: BotsContext, principal: Principal, bot_id: UUID, request: RepliesIn, *, temperature: float | None = None
) -> Replies:
    """Ask a bot that the caller may see for one reply to each context; no database connection is held meanwhile.

    Raises BotNotAsked for a suspended or retired bot, TemperatureNotTaken for a bot that has no temperature, where it
    is not 1. A failing bot gets no request.
    """
    bot = await context.get_bot(bot_id, principal)
    version, model = bot.version, None
    number = request.version or version.number
    if number != version.number or isinstance(version.protocol, TransformersProtocol):
        async with context.database.read() as session:
            if number != version.number:
                version = await store.versions.get_version(session, bot_id, number)
            model = await context.model_of(session, bot, version)
    if not isinstance(version.protocol, _HAS_TEMPERATURE):
        if temperature not in {None, _USUAL_TEMPERATURE}:
            fault = FieldError("/temperature", "not taken by this bot")
            raise TemperatureNotTaken(name=bot.name, kind=version.protocol.kind, fields=(fault,))
        temperature = None
    questions = [_question(each, temperature) for each in request.contexts]
    if bot.status in GETS_NO_QUESTIONS:
        raise BotNotAsked(name=bot.name, status=bot.status)
    if bot.status is BotStatus.FAILING:
        detail = f"The bot is failing and is asked again after a probe: {bot.status_reason}"
        replies = [not_asked(ReplyFailure.CIRCUIT_OPEN, detail)] * len(questions)
    else:
        client = context.clients.get(bot, version, model)
        if client.circuit.is_open:  # and the database says that a probe has closed it since
            client.circuit.close()
        replies = await client.replies(questions)
    return Replies(bot.id, version.number, version.configuration_sha256, tuple(replies))


def _question(request: ContextIn, temperature: float | None) -> Context:
    return Context(
        turns=request.turns,
        seed=request.seed,
        conversation_id=request.conversation_id,
        speaker=request.speaker,
        domain=request.domain,
        persona=request.persona,
        temperature=temperature,
    )
