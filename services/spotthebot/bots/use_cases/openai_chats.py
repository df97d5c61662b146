"""Chats in OpenAI's form: a bot by its name, and messages as turns."""

from collections.abc import Sequence
from uuid import UUID

from pydantic import ValidationError

from spotthebot.bots import store
from spotthebot.bots.domain.bots import Bot
from spotthebot.bots.domain.errors import BotNotNamed, MessagesNotAlternating, MessagesNotUsable
from spotthebot.bots.use_cases.context import BotsContext
from spotthebot.contracts.bots import ContextIn
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.validation import faults_of


async def get_named_bot(context: BotsContext, principal: Principal, name: str) -> Bot:
    """Return the one bot with this id or name that the caller may see; raises BotNotNamed, NoSuchBot."""
    try:
        return await context.get_bot(UUID(name), principal)
    except ValueError:
        found = await store.bots.list_bots(context.database.lookups, principal, name=name, after=None, limit=2)
    if len(found) != 1:
        how_many = "no bot is" if not found else "several bots are"
        raise BotNotNamed(name=name, how_many=how_many)
    return found[0]


def turns_of(messages: Sequence[tuple[str, str]]) -> tuple[str | None, tuple[str, ...]]:
    """Return persona and turns of (role, text) messages: system messages are the persona, the others alternate.

    Consecutive messages of one role become one turn. Raises MessagesNotAlternating if the last message is the
    assistant's own.
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
    """Return the context that (role, text) messages make; raises MessagesNotAlternating, MessagesNotUsable."""
    persona, turns = turns_of(messages)
    try:
        return ContextIn(turns=turns, persona=persona, seed=seed)
    except ValidationError as error:  # messages of one role become one turn, which may be longer than each
        raise MessagesNotUsable(reason=faults_of(error)[0]) from error
