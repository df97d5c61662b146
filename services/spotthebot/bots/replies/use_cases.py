"""Replies: one bot version is asked for one reply to each context.

A chat in OpenAI's form names the bot as its model, and its messages are the turns.
"""

import time
from collections.abc import Sequence
from uuid import UUID

from pydantic import ValidationError

from spotthebot.bots.bot_client import BotClient
from spotthebot.bots.bots.domain import GETS_NO_QUESTIONS, Bot, BotVersion
from spotthebot.bots.bots.errors import SecretUnreadable
from spotthebot.bots.bots.store import bots as bots_store
from spotthebot.bots.bots.store import versions as versions_store
from spotthebot.bots.context import BotsContext
from spotthebot.bots.hosted_models.errors import ModelFilesChanged
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.bots.replies.errors import (
    BotNotAsked,
    BotNotNamed,
    MessagesNotAlternating,
    MessagesNotUsable,
    TemperatureNotTaken,
)
from spotthebot.contracts.bots.protocols import OpenAIProtocol, TransformersProtocol, TritonProtocol
from spotthebot.contracts.bots.registry import BotStatus
from spotthebot.contracts.bots.replies import ContextIn, RepliesIn, RepliesOut, ReplyFailure, ReplyOut
from spotthebot.inference.errors import HostingMissing
from spotthebot.inference.workers.worker import WorkerModel
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.errors import FieldError
from spotthebot.kit.text.validation import faults_of

_HAS_TEMPERATURE = (OpenAIProtocol, TritonProtocol, TransformersProtocol)
_USUAL_TEMPERATURE = 1.0


async def reply(context: BotsContext, bot: Bot, request: RepliesIn, *, temperature: float | None = None) -> RepliesOut:
    """Ask a bot that the caller may see for one reply to each context; no database connection is held meanwhile.

    Raises BotNotAsked for a suspended or retired bot, and TemperatureNotTaken for a temperature other than 1 if the
    bot's protocol has no temperature. A failing bot gets no request.
    """
    version, model, refusal = await _version_and_model(context, bot, request.version)
    if not isinstance(version.protocol, _HAS_TEMPERATURE):
        if temperature not in {None, _USUAL_TEMPERATURE}:
            fault = FieldError("/temperature", "this bot has no temperature: leave it out, or send 1")
            raise TemperatureNotTaken(name=bot.name, kind=version.protocol.kind, fields=(fault,))
        temperature = None
    questions = [Context(**dict(each), temperature=temperature) for each in request.contexts]
    if bot.status in GETS_NO_QUESTIONS:
        raise BotNotAsked(name=bot.name, status=bot.status)
    client = None
    if bot.status is not BotStatus.FAILING and refusal is None:
        client, refusal = _client(context, bot, version, model)
    if client is None:
        if refusal is not None:
            async with context.database.write() as session:
                await bots_store.open_circuit(session, bot.id, refusal, context.recovery)
        detail = f"The bot is failing and gets no questions until a probe passes: {refusal or bot.status_reason}"
        replies, is_open = [ReplyOut.failed(ReplyFailure.CIRCUIT_OPEN, detail)] * len(questions), True
    else:
        client.pause.begin(time.monotonic(), bot.pause_seconds)
        client.pause.in_doubt |= bot.status is BotStatus.PROBING or bot.pause_seconds > 0
        if client.circuit.is_open:  # and the database says that a probe has closed it since
            client.circuit.close()
        replies = await client.replies(questions)
        is_open = client.circuit.is_open
    context.reply_metrics.observe(bot, replies, circuit_open=is_open)
    return RepliesOut(
        bot_id=bot.id,
        version=version.number,
        configuration_sha256=version.configuration_sha256,
        replies=tuple(replies),
    )


async def _version_and_model(
    context: BotsContext, bot: Bot, number: int | None
) -> tuple[BotVersion, WorkerModel | None, str | None]:
    """Return a bot's version and its model; for the present version also the reason if the model is missing."""
    version = bot.version
    if number in {None, version.number} and not isinstance(version.protocol, TransformersProtocol):
        return version, None, None
    async with context.database.read() as session:
        if number not in {None, version.number}:
            version = await versions_store.get_version(session, bot.id, number or 0)
        try:
            return version, await context.model_of(session, bot, version), None
        except ModelFilesChanged as changed:
            if version.number != bot.version.number:
                raise
            return version, None, changed.detail


def _client(
    context: BotsContext, bot: Bot, version: BotVersion, model: WorkerModel | None
) -> tuple[BotClient | None, str | None]:
    """Return a version's client, or the reason why no client can be made."""
    try:
        return context.clients.get(bot, version, model), None
    except (SecretUnreadable, HostingMissing) as error:
        return None, error.detail


async def get_named_bot(context: BotsContext, principal: Principal, name: str) -> Bot:
    """Return the only bot with this id or name that the caller may see; raises BotNotNamed, NoSuchBot."""
    try:
        return await context.get_bot(UUID(name), principal)
    except ValueError:
        found = await bots_store.list_bots(context.database, principal, name=name, after=None, limit=2)
    if len(found) != 1:
        how_many = "no bot is" if not found else "several bots are"
        raise BotNotNamed(name=name, how_many=how_many)
    return found[0]


def turns_of(messages: Sequence[tuple[str, str]]) -> tuple[str | None, tuple[str, ...]]:
    """Return the persona and the turns of (role, text) messages. System messages form the persona.

    Consecutive messages of one role become one turn. Raises MessagesNotAlternating if the last message is the
    assistant's.
    """
    persona = "\n\n".join(text for role, text in messages if role in {"system", "developer"})
    turns: list[tuple[str, str]] = []
    for role, text in messages:
        if role in {"system", "developer"}:
            continue
        if turns and turns[-1][0] == role:
            turns[-1] = (role, f"{turns[-1][1]}\n{text}")
        else:
            turns.append((role, text))
    if turns and turns[-1][0] == "assistant":
        raise MessagesNotAlternating
    return persona or None, tuple(text for _, text in turns)


def context_of(messages: Sequence[tuple[str, str]], seed: int) -> ContextIn:
    """Return the context for (role, text) messages; raises MessagesNotAlternating, MessagesNotUsable."""
    persona, turns = turns_of(messages)
    try:
        return ContextIn(turns=turns, persona=persona, seed=seed)
    except ValidationError as error:  # messages of one role become one turn, which may be longer than each
        raise MessagesNotUsable(reason=faults_of(error)[0]) from error
