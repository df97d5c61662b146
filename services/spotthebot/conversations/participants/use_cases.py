"""The participants of a collection: its bots, and in bipartite-play their partners.

Their versions are the present versions in the service `bots`.

A partner set keeps the fixed partners of bipartite-play, in their versions at the set's creation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.contracts.bots.registry import BotOut, BotStatus
from spotthebot.contracts.conversations.collections import BipartiteIn, BotWarningOut, PlannedIn, TargetVersion
from spotthebot.contracts.conversations.conversations import Participant, ParticipantKind
from spotthebot.contracts.conversations.partner_sets import PartnerSetIn, PartnerSetRef
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.collections.domain import check_looks
from spotthebot.conversations.participants import store
from spotthebot.conversations.participants.domain import Partner, PartnerSet
from spotthebot.conversations.participants.errors import (
    BotRetired,
    NoSuchPartnerSet,
    NoSuchVersion,
    NotATarget,
    PlaysItself,
    SameNames,
    UnknownPartnerSet,
)
from spotthebot.conversations.turn_loop.domain import TAKES_NO_PART
from spotthebot.kit.database.sessions import Database, ReadSession, WriteSession
from spotthebot.kit.text.characters import printable


@dataclass(frozen=True)
class Participants:
    """The bots of a collection, and in bipartite-play their partners; the bots are then the targets."""

    bots: tuple[BotOut, ...]
    partners: tuple[BotOut, ...] = ()
    pinned: dict[UUID, Partner] | None = None
    """The versions of partners in their partner set, and of targets that speak in a named version, by bot."""

    def sides(self, bots: Sequence[BotOut]) -> list[Participant]:
        """Return these bots as sides of conversations, with the version of each bot that will speak."""
        return [self._side(bot) for bot in bots]

    def warnings(self, domain: str) -> tuple[BotWarningOut, ...]:
        """Return warnings about bots that may not suit a collection of this domain, in the order of the bots."""
        return tuple(warning for bot in (*self.bots, *self.partners) for warning in _warnings(bot, domain))

    def _side(self, bot: BotOut) -> Participant:
        pinned = (self.pinned or {}).get(bot.id)
        return Participant(
            kind=ParticipantKind.BOT,
            name=pinned.name if pinned else bot.name,
            bot_id=bot.id,
            version=pinned.version if pinned else bot.version,
            configuration_sha256=pinned.configuration_sha256 if pinned else bot.configuration_sha256,
        )


def _warnings(bot: BotOut, domain: str) -> Iterator[BotWarningOut]:
    if bot.status is BotStatus.FAILING:
        reason = printable(bot.status_reason or "it does not reply").rstrip(".")
        detail = f"The bot '{bot.name}' is failing ({reason}): its conversations wait until it recovers."
        yield BotWarningOut(bot=bot.name, kind="failing", detail=detail)
    if bot.paused_until is not None:
        detail = (
            f"The bot '{bot.name}' is asked nothing before {bot.paused_until:%H:%M:%S} UTC: its server limits requests."
        )
        yield BotWarningOut(bot=bot.name, kind="paused", detail=detail)
    if domain not in bot.domains:
        domains = ", ".join(bot.domains)
        detail = f"The bot '{bot.name}' is registered for {domains}; the collection is about {domain}."
        yield BotWarningOut(bot=bot.name, kind="other_domain", detail=detail)


async def find_participants(database: Database, bots: Bots, plan: PlannedIn) -> Participants:
    """Return the participants of a plan, while no transaction is open.

    Raises UnknownBot, BotRetired, SameNames, NamesLookAlike, PlaysItself, NoSuchVersion, NotATarget, UnknownPartnerSet,
    PEER_TROUBLE.
    """
    pinned: dict[UUID, Partner] = {}
    partner_ids: tuple[UUID, ...] = ()
    if isinstance(plan, BipartiteIn):
        if isinstance(plan.partners, PartnerSetRef):
            async with database.read() as session:
                pinned = {each.bot_id: each for each in await _list_partners(session, plan.partners)}
            partner_ids = tuple(pinned)
        else:
            partner_ids = plan.partners
    found = await _find_bots(bots, (*plan.bots, *partner_ids))
    targets, partners = found[: len(plan.bots)], found[len(plan.bots) :]
    for partner in partners:
        if partner.id in plan.bots:
            raise PlaysItself(name=partner.name)
    _check_names(found)
    if isinstance(plan, BipartiteIn):
        pinned |= await _find_versions(bots, targets, plan.versions)
    return Participants(targets, partners, pinned)


async def _find_versions(
    bots: Bots, targets: Sequence[BotOut], versions: Sequence[TargetVersion]
) -> dict[UUID, Partner]:
    named = {bot.id: bot for bot in targets}
    found = {}
    for each in versions:
        if each.bot_id not in named:
            raise NotATarget(bot_id=each.bot_id)
        name, known = named[each.bot_id].name, await bots.list_versions(each.bot_id)
        if each.version not in known:
            raise NoSuchVersion(name=name, version=each.version, known=", ".join(map(str, known)))
        found[each.bot_id] = Partner(each.bot_id, name, each.version, known[each.version])
    return found


async def find_bots(bots: Bots, ids: Sequence[UUID]) -> Participants:
    """Return bots without partners; raises UnknownBot, BotRetired, SameNames, NamesLookAlike, PEER_TROUBLE."""
    found = await _find_bots(bots, ids)
    _check_names(found)
    return Participants(found)


async def _find_bots(bots: Bots, ids: Sequence[UUID]) -> tuple[BotOut, ...]:
    found = await bots.get_all(ids)
    for bot in found:
        if bot.status in TAKES_NO_PART:
            raise BotRetired(name=bot.name, status=bot.status)
    return found


def _check_names(bots: Sequence[BotOut]) -> None:
    seen: set[str] = set()
    for bot in bots:
        if bot.name in seen:
            raise SameNames(name=bot.name)
        seen.add(bot.name)
    check_looks(seen)


async def _list_partners(session: ReadSession, request: PartnerSetRef) -> tuple[Partner, ...]:
    try:
        return (await store.get_partner_set(session, request.set, request.version)).partners
    except NoSuchPartnerSet:
        raise UnknownPartnerSet(name=request.set, version=request.version) from None


async def create_partner_set(session: WriteSession, request: PartnerSetIn, participants: Participants) -> PartnerSet:
    """Store bots, in their present versions, as the next version of a partner set."""
    partners = [
        Partner(bot_id=bot.id, name=bot.name, version=bot.version, configuration_sha256=bot.configuration_sha256)
        for bot in participants.bots
    ]
    return await store.add_partner_set(session, name=request.name, description=request.description, partners=partners)
