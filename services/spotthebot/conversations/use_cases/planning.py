"""Planning a collection: what it would cost, its conversations, its first jobs."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from uuid import UUID

from spotthebot.contracts.bots import BotOut, BotStatus
from spotthebot.contracts.conversations import (
    BipartiteIn,
    CollectionId,
    CollectionState,
    ConversationId,
    ConversationState,
    Ending,
    EstimateOut,
    ImportIn,
    Participant,
    ParticipantKind,
    PartnerOut,
    PartnerSetIn,
    PartnerSetOut,
    PartnerSetRef,
    PlannedIn,
)
from spotthebot.conversations import store
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.domain.conversations import Conversation
from spotthebot.conversations.domain.errors import (
    BotRetired,
    NoSuchCorpus,
    NoSuchPartnerSet,
    PlaysItself,
    SameNames,
    SplitIsEmpty,
    UnknownCorpusInPlan,
    UnknownPartnerSet,
)
from spotthebot.conversations.domain.estimating import Speaker, estimate
from spotthebot.conversations.domain.planning import PlannedConversation, Sides, count_conversations, plan_conversations
from spotthebot.conversations.use_cases.overseeing import queue_runners
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_ids
from spotthebot.kit.jobs import Jobs

_AT_ONCE = 16
"""Questions about bots that `bots` is asked at the same time."""


@dataclass(frozen=True)
class Cast:
    """Who takes part: the bots, which in bipartite are the targets, and their partners."""

    bots: tuple[BotOut, ...]
    partners: tuple[BotOut, ...]
    pinned: dict[UUID, PartnerOut]
    """Which version of a partner its set holds."""

    def sides(self, bots: Sequence[BotOut]) -> list[Participant]:
        return [self._side(bot) for bot in bots]

    def _side(self, bot: BotOut) -> Participant:
        kept = self.pinned.get(bot.id)
        return Participant(
            kind=ParticipantKind.BOT,
            name=kept.name if kept else bot.name,
            bot_id=bot.id,
            version=kept.version if kept else bot.version,
            configuration_sha256=kept.configuration_sha256 if kept else bot.configuration_sha256,
        )


async def start_collection(
    session: WriteSession, jobs: Jobs, bots: Bots, plan: PlannedIn, *, batch: int
) -> store.collections.Collection:
    """Plan a collection's conversations and queue the jobs that hold them, all in one transaction."""
    cast = await _cast(session, bots, plan)
    count_conversations(plan, len(cast.partners))
    openings = await _dialogues(session, plan.opening.corpus_id, plan.opening.split) if plan.opening else []
    by_people = await _dialogues(session, plan.humans.corpus_id, plan.humans.split) if plan.humans else []
    planned = await asyncio.to_thread(
        plan_conversations, plan, cast.sides(cast.bots), cast.sides(cast.partners), openings, by_people
    )
    collection_id = await store.collections.add_collection(
        session,
        name=plan.name,
        domain=plan.domain,
        mode=plan.mode,
        plan=plan.model_dump(mode="json"),
        state=CollectionState.COLLECTING,
        bots=[bot.id for bot in chain(cast.bots, cast.partners)],
        priority=plan.priority,
    )
    numbers = await store.conversations.number_pairs(session, collection_id, [each.participants for each in planned])
    conversations = await asyncio.to_thread(_conversations, collection_id, planned, plan, numbers)
    await store.planned.add_planned(session, conversations)
    held = [each for each in conversations if each.turns]
    await store.collections.count_in(
        session,
        collection_id,
        conversations=len(conversations),
        complete=len(held),
        turns=sum(len(each.turns) for each in held),
        turns_wanted=sum(each.turns_wanted for each in conversations),
    )
    await queue_runners(session, jobs, waiting=len(conversations) - len(held), batch=batch)
    return await store.collections.get_collection(session, collection_id)


async def estimate_collection(session: ReadSession, bots: Bots, plan: PlannedIn) -> EstimateOut:
    """Say what a collection would cost, with all the checks of a start, and change nothing."""
    cast = await _cast(session, bots, plan)
    request = count_conversations(plan, len(cast.partners))
    for pool in (plan.opening, plan.humans):
        if pool is not None:
            await _dialogues(session, pool.corpus_id, pool.split)
    by_people = plan.humans.conversations if plan.humans else 0
    return estimate(
        [_speaker(bot) for bot in cast.bots],
        [_speaker(bot) for bot in cast.partners],
        conversations=request,
        by_people=by_people,
        exchanges=plan.exchanges,
    )


async def open_import(session: WriteSession, request: ImportIn) -> store.collections.Collection:
    """Open a collection that conversations held elsewhere can be uploaded to."""
    collection_id = await store.collections.add_collection(
        session,
        name=request.name,
        domain=request.domain,
        mode=request.mode,
        plan=request.model_dump(mode="json"),
        state=CollectionState.COMPLETE,
    )
    return await store.collections.get_collection(session, collection_id)


async def create_partner_set(session: WriteSession, bots: Bots, request: PartnerSetIn) -> PartnerSetOut:
    """Keep bots, as they are now, as the next version of a partner set."""
    found = await _find(bots, request.bots)
    _names_differ(found)
    partners = [
        PartnerOut(bot_id=bot.id, name=bot.name, version=bot.version, configuration_sha256=bot.configuration_sha256)
        for bot in found
    ]
    return await store.partner_sets.add_partner_set(
        session, name=request.name, description=request.description, partners=partners
    )


async def find_sides(bots: Bots, ids: Sequence[UUID]) -> list[Participant]:
    """Return bots that can be asked as they are now; raises UnknownBot, BotRetired, SameNames."""
    found = await _find(bots, ids)
    _names_differ(found)
    return Cast(found, (), {}).sides(found)


async def _cast(session: ReadSession, bots: Bots, plan: PlannedIn) -> Cast:
    pinned: dict[UUID, PartnerOut] = {}
    partner_ids: tuple[UUID, ...] = ()
    if isinstance(plan, BipartiteIn):
        if isinstance(plan.partners, PartnerSetRef):
            pinned = {each.bot_id: each for each in await _partners(session, plan.partners)}
            partner_ids = tuple(pinned)
        else:
            partner_ids = plan.partners
    found = await _find(bots, (*plan.bots, *partner_ids))
    targets, partners = found[: len(plan.bots)], found[len(plan.bots) :]
    for partner in partners:
        if partner.id in plan.bots:
            raise PlaysItself(name=partner.name)
    _names_differ(found)
    return Cast(targets, partners, pinned)


async def _partners(session: ReadSession, request: PartnerSetRef) -> tuple[PartnerOut, ...]:
    try:
        return (await store.partner_sets.get_partner_set(session, request.set, request.version)).partners
    except NoSuchPartnerSet:
        raise UnknownPartnerSet(name=request.set, version=request.version) from None


async def _find(bots: Bots, ids: Sequence[UUID]) -> tuple[BotOut, ...]:
    """Return bots that can be asked; raises UnknownBot or BotRetired for one that can't."""
    free = asyncio.Semaphore(_AT_ONCE)

    async def find(bot_id: UUID) -> BotOut:
        async with free:
            return await bots.get(bot_id)

    found = await asyncio.gather(*map(find, ids), return_exceptions=True)
    for bot in found:
        if isinstance(bot, BaseException):
            raise bot
    known = tuple(bot for bot in found if not isinstance(bot, BaseException))
    for bot in known:
        if bot.status in {BotStatus.RETIRED, BotStatus.SUSPENDED}:
            raise BotRetired(name=bot.name, status=bot.status)
    return known


def _names_differ(bots: Sequence[BotOut]) -> None:
    seen: set[str] = set()
    for bot in bots:
        if bot.name in seen:
            raise SameNames(name=bot.name)
        seen.add(bot.name)


def _speaker(bot: BotOut) -> Speaker:
    latency = bot.probe.latency if bot.probe else None
    return Speaker(bot.name, latency.p50_ms / 1000 if latency else None, bot.limits)


async def _dialogues(session: ReadSession, corpus_id: UUID, split: str) -> list[tuple[str, ...]]:
    try:
        corpus = await store.corpora.get_corpus(session, corpus_id)
    except NoSuchCorpus as error:
        raise UnknownCorpusInPlan(corpus_id=corpus_id) from error
    rows = await store.corpora.list_dialogues(session, corpus_id, split=split)
    if not rows:
        raise SplitIsEmpty(corpus=corpus.name, split=split)
    return [tuple(row.turns) for row in rows]


def _conversations(
    collection_id: CollectionId,
    planned: Sequence[PlannedConversation],
    plan: PlannedIn,
    numbers: Mapping[Sides, int],
) -> list[Conversation]:
    return [
        _conversation(collection_id, each_id, each, plan, numbers[each.participants])
        for each_id, each in zip(new_ids(len(planned)), planned, strict=True)
    ]


def _conversation(
    collection_id: CollectionId, conversation_id: UUID, planned: PlannedConversation, plan: PlannedIn, pair: int
) -> Conversation:
    return Conversation(
        id=ConversationId(conversation_id),
        collection_id=collection_id,
        external_id=None,
        state=ConversationState.COMPLETE if planned.turns else ConversationState.RUNNING,
        failure=None,
        participants=planned.participants,
        opening=planned.opening,
        opening_shown=plan.opening is not None and plan.opening.shown,
        turns=planned.turns,
        turns_wanted=len(planned.turns) or 2 * plan.exchanges,
        seed=planned.seed,
        domain=plan.domain,
        pair=pair,
        round=planned.round,
        ended_by=Ending.EXCHANGES if planned.turns else None,
    )
