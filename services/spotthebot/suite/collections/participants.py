"""What should be known of a collection's bots before it starts: which fail, and which are for other domains."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from spotthebot.contracts.bots import BotOut, BotStatus
from spotthebot.contracts.conversations import BipartiteIn, PartnerSetRef, PlannedIn
from spotthebot.suite.progress import say
from spotthebot.suite.runtime.session import Clients


@dataclass(frozen=True)
class BotWarning:
    """A sentence about a bot that takes part; the conversations of one that `is_failing` wait from the start."""

    sentence: str
    is_failing: bool


Approve = Callable[[list[BotWarning]], Awaitable[None]]
"""Takes the warnings before a collection starts; raises where it must not."""


async def print_warnings(warnings: list[BotWarning]) -> None:
    """Print each warning, and let the collection start."""
    for each in warnings:
        say(f"Warning: {each.sentence}")


async def find_warnings(clients: Clients, request: PlannedIn) -> list[BotWarning]:
    """Return what is remarkable of the bots of a planned collection, in the order of the plan."""
    found = []
    async for bot in _participants(clients, request):
        if bot.status is BotStatus.FAILING:
            reason = (bot.status_reason or "it does not reply").rstrip(".")
            sentence = f"The bot '{bot.name}' is failing ({reason}): its conversations wait until it recovers."
            found.append(BotWarning(sentence, is_failing=True))
        if request.domain not in bot.domains:
            domains = ", ".join(bot.domains)
            sentence = f"The bot '{bot.name}' is registered for {domains}; the collection is about {request.domain}."
            found.append(BotWarning(sentence, is_failing=False))
    return found


async def _participants(clients: Clients, request: PlannedIn) -> AsyncIterator[BotOut]:
    ids = [*request.bots]
    if isinstance(request, BipartiteIn):
        if isinstance(request.partners, PartnerSetRef):
            partners = await clients.conversations.get_partner_set(request.partners.set, request.partners.version)
            ids += [each.bot_id for each in partners.partners]
        else:
            ids += request.partners
    for bot_id in ids:
        yield await clients.bots.get_bot(bot_id)
