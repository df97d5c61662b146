"""Who takes part in a collection: its bots, and in bipartite-play their partners, as `bots` has them now."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.contracts.bots import BotOut
from spotthebot.contracts.conversations import (
    BipartiteIn,
    Participant,
    ParticipantKind,
    PartnerSetRef,
    PlannedIn,
)
from spotthebot.conversations import store
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.domain.availability import TAKES_NO_PART
from spotthebot.conversations.domain.errors import (
    BotRetired,
    NoSuchPartnerSet,
    PlaysItself,
    SameNames,
    UnknownPartnerSet,
)
from spotthebot.conversations.domain.partner_sets import Partner
from spotthebot.kit.database import ReadSession

_REQUESTS_AT_ONCE = 16
"""Requests to `bots` at the same time."""


@dataclass(frozen=True)
class Participants:
    """The bots of a collection, which in bipartite-play are the targets, and their partners."""

    bots: tuple[BotOut, ...]
    partners: tuple[BotOut, ...] = ()
    pinned: dict[UUID, Partner] | None = None
    """The versions of partners that their partner set holds, by bot."""

    def sides(self, bots: Sequence[BotOut]) -> list[Participant]:
        """Return these bots as sides of conversations, in the versions in which they will speak."""
        return [self._side(bot) for bot in bots]

    def _side(self, bot: BotOut) -> Participant:
        pinned = (self.pinned or {}).get(bot.id)
        return Participant(
            kind=ParticipantKind.BOT,
            name=pinned.name if pinned else bot.name,
            bot_id=bot.id,
            version=pinned.version if pinned else bot.version,
            configuration_sha256=pinned.configuration_sha256 if pinned else bot.configuration_sha256,
        )


async def find_participants(session: ReadSession, bots: Bots, plan: PlannedIn) -> Participants:
    """Return the participants of a plan; raises UnknownBot, BotRetired, SameNames, PlaysItself, UnknownPartnerSet."""
    pinned: dict[UUID, Partner] = {}
    partner_ids: tuple[UUID, ...] = ()
    if isinstance(plan, BipartiteIn):
        if isinstance(plan.partners, PartnerSetRef):
            pinned = {each.bot_id: each for each in await _list_partners(session, plan.partners)}
            partner_ids = tuple(pinned)
        else:
            partner_ids = plan.partners
    found = await find_bots(bots, (*plan.bots, *partner_ids))
    targets, partners = found[: len(plan.bots)], found[len(plan.bots) :]
    for partner in partners:
        if partner.id in plan.bots:
            raise PlaysItself(name=partner.name)
    check_names(found)
    return Participants(targets, partners, pinned)


async def find_bots(bots: Bots, ids: Sequence[UUID]) -> tuple[BotOut, ...]:
    """Return bots that take requests; raises UnknownBot, or BotRetired for a retired or suspended one."""
    slots = asyncio.Semaphore(_REQUESTS_AT_ONCE)

    async def find(bot_id: UUID) -> BotOut:
        async with slots:
            return await bots.get(bot_id)

    found = await asyncio.gather(*map(find, ids), return_exceptions=True)
    for bot in found:
        if isinstance(bot, BaseException):
            raise bot
    known = tuple(bot for bot in found if not isinstance(bot, BaseException))
    for bot in known:
        if bot.status in TAKES_NO_PART:
            raise BotRetired(name=bot.name, status=bot.status)
    return known


def check_names(bots: Sequence[BotOut]) -> None:
    """Raise SameNames if two bots have one name."""
    seen: set[str] = set()
    for bot in bots:
        if bot.name in seen:
            raise SameNames(name=bot.name)
        seen.add(bot.name)


async def _list_partners(session: ReadSession, request: PartnerSetRef) -> tuple[Partner, ...]:
    try:
        return (await store.partner_sets.get_partner_set(session, request.set, request.version)).partners
    except NoSuchPartnerSet:
        raise UnknownPartnerSet(name=request.set, version=request.version) from None
