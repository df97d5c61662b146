"""Replies: one bot version is asked for one reply to each context."""

import time

from spotthebot.bots import store
from spotthebot.bots.bot_client import BotClient, not_asked
from spotthebot.bots.domain.bot_status import GETS_NO_QUESTIONS
from spotthebot.bots.domain.bots import Bot, BotVersion
from spotthebot.bots.domain.dialogue import Context
from spotthebot.bots.domain.errors import BotNotAsked, ModelFilesChanged, SecretUnreadable, TemperatureNotTaken
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
from spotthebot.inference.errors import HostingMissing
from spotthebot.inference.workers import WorkerModel
from spotthebot.kit.errors import FieldError

_HAS_TEMPERATURE = (OpenAIProtocol, TritonProtocol, TransformersProtocol)
_USUAL_TEMPERATURE = 1.0


async def reply(context: BotsContext, bot: Bot, request: RepliesIn, *, temperature: float | None = None) -> Replies:
    """Ask a bot that the caller sees for one reply to each context; no database connection is held meanwhile.

    Raises BotNotAsked for a suspended or retired bot, TemperatureNotTaken for a bot that has no temperature, where it
    is not 1. A failing bot gets no request.
    """
    version, model, refusal = await _version_and_model(context, bot, request.version)
    if not isinstance(version.protocol, _HAS_TEMPERATURE):
        if temperature not in {None, _USUAL_TEMPERATURE}:
            fault = FieldError("/temperature", "not taken by this bot")
            raise TemperatureNotTaken(name=bot.name, kind=version.protocol.kind, fields=(fault,))
        temperature = None
    questions = [_question(each, temperature) for each in request.contexts]
    if bot.status in GETS_NO_QUESTIONS:
        raise BotNotAsked(name=bot.name, status=bot.status)
    client = None
    if bot.status is not BotStatus.FAILING and refusal is None:
        client, refusal = _client(context, bot, version, model)
    if client is None:
        if refusal is not None:
            async with context.database.write() as session:
                await store.bots.open_circuit(session, bot.id, refusal, context.recovery)
        detail = f"The bot is failing and is asked again after a probe: {refusal or bot.status_reason}"
        replies, is_open = [not_asked(ReplyFailure.CIRCUIT_OPEN, detail)] * len(questions), True
    else:
        client.pause.begin(time.monotonic(), bot.pause_seconds)
        client.pause.in_doubt |= bot.status is BotStatus.PROBING or bot.pause_seconds > 0
        if client.circuit.is_open:  # and the database says that a probe has closed it since
            client.circuit.close()
        replies = await client.replies(questions)
        is_open = client.circuit.is_open
    context.reply_metrics.observe(bot, replies, circuit_open=is_open)
    return Replies(bot.id, version.number, version.configuration_sha256, tuple(replies))


async def _version_and_model(
    context: BotsContext, bot: Bot, number: int | None
) -> tuple[BotVersion, WorkerModel | None, str | None]:
    """Return a bot's version and its model; for its present version, why it has none any more."""
    version = bot.version
    if number in {None, version.number} and not isinstance(version.protocol, TransformersProtocol):
        return version, None, None
    async with context.database.read() as session:
        if number not in {None, version.number}:
            version = await store.versions.get_version(session, bot.id, number or 0)
        try:
            return version, await context.model_of(session, bot, version), None
        except ModelFilesChanged as changed:
            if version.number != bot.version.number:
                raise
            return version, None, changed.detail


def _client(
    context: BotsContext, bot: Bot, version: BotVersion, model: WorkerModel | None
) -> tuple[BotClient | None, str | None]:
    """Return a version's client, or why there is none, which is this bot's failure alone."""
    try:
        return context.clients.get(bot, version, model), None
    except (SecretUnreadable, HostingMissing) as error:
        return None, error.detail


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
