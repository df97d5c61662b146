"""Starting a collection: its conversations and its first jobs, and the estimate of its cost.

A collection has at most 500,000 conversations, three times as many as the published bipartite-play. They are planned in
one transaction, within seconds.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from uuid import UUID

from spotthebot.contracts.bots.protocols import BuiltinProtocol
from spotthebot.contracts.bots.registry import BotOut
from spotthebot.contracts.conversations.collections import CollectionState, EstimateOut, PlannedIn
from spotthebot.contracts.conversations.conversations import ConversationState, Ending
from spotthebot.contracts.conversations.ids import CollectionId, ConversationId
from spotthebot.contracts.conversations.openings import HumanPool, PersonaPool
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.domain import Collection, Sides
from spotthebot.conversations.conversations.domain import Conversation
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.corpora import store as corpora_store
from spotthebot.conversations.corpora.domain.held_out import PeoplesConversation
from spotthebot.conversations.corpora.errors import NoSuchCorpus, SplitIsEmpty, UnknownCorpusInPlan
from spotthebot.conversations.participants.use_cases import Participants, find_participants
from spotthebot.conversations.plans import store
from spotthebot.conversations.plans.domain import (
    PlannedConversation,
    Source,
    Speaker,
    count_conversations,
    estimate,
    list_human_dialogues,
    list_openings,
    plan_conversations,
)
from spotthebot.conversations.plans.errors import LearnedFromPeople, NoPersonas
from spotthebot.conversations.turn_loop.use_cases.maintenance import queue_runners
from spotthebot.kit.database.sessions import Database, ReadSession, WriteSession
from spotthebot.kit.ids import new_ids
from spotthebot.kit.jobs.queue import Jobs


async def start_collection(
    session: WriteSession, jobs: Jobs, plan: PlannedIn, participants: Participants, *, batch: int
) -> Collection:
    """Plan a collection's conversations and queue the jobs that run them, all in one transaction."""
    count_conversations(plan, len(participants.partners))
    if plan.humans is not None:
        _check_learners(plan.humans, chain(participants.bots, participants.partners))
    await corpora_store.lock_corpora(
        session, [pool.corpus_id for pool in (plan.opening, plan.humans) if pool and pool.corpus_id]
    )
    openings = await _list_openings(session, plan)
    human_dialogues = await list_dialogues(session, plan.humans.corpus_id, plan.humans.split) if plan.humans else []
    planned = await asyncio.to_thread(
        plan_conversations,
        plan,
        participants.sides(participants.bots),
        participants.sides(participants.partners),
        openings,
        human_dialogues,
    )
    collection_id = await collections_store.add_collection(
        session,
        name=plan.name,
        domain=plan.domain,
        mode=plan.mode,
        plan=plan.model_dump(mode="json"),
        state=CollectionState.COLLECTING,
        bots=[bot.id for bot in chain(participants.bots, participants.partners)],
        priority=plan.priority,
    )
    numbers = await conversations_store.number_pairs(session, collection_id, [each.participants for each in planned])
    conversations = await asyncio.to_thread(_conversations, collection_id, planned, plan, numbers)
    await store.add_planned(session, conversations)
    by_people = [each for each in conversations if each.turns]
    await collections_store.count_in(
        session,
        collection_id,
        conversations=len(conversations),
        complete=len(by_people),
        turns=sum(len(each.turns) for each in by_people),
        turns_planned=sum(each.turns_planned for each in conversations),
    )
    await queue_runners(session, jobs, waiting=len(conversations) - len(by_people), batch=batch)
    await corpora_store.hold_out(session, [PeoplesConversation(each.history) for each in by_people])
    return await collections_store.get_collection(session, collection_id)


def _check_learners(people: HumanPool, bots: Iterable[BotOut]) -> None:
    """Raise LearnedFromPeople if a bot learned from the human dialogues, which the collection will hold out."""
    for bot in bots:
        match bot.protocol:
            case BuiltinProtocol(corpus_id=people.corpus_id, split=people.split):
                raise LearnedFromPeople(name=bot.name, split=people.split)


async def _list_openings(session: ReadSession, plan: PlannedIn) -> list[Source]:
    if plan.opening is None or plan.opening.corpus_id is None:
        return []
    return list_openings(plan.opening, await list_dialogues(session, plan.opening.corpus_id, plan.opening.split))


async def check_personas(session: WriteSession, personas: PersonaPool) -> None:
    """Lock the corpus; raise UnknownCorpusInPlan, SplitIsEmpty, NoPersonas unless the split has personas."""
    await corpora_store.lock_corpora(session, [personas.corpus_id])
    if not any(each.personas for each in await list_dialogues(session, personas.corpus_id, personas.split)):
        raise NoPersonas(split=personas.split)


async def list_dialogues(session: ReadSession, corpus_id: UUID, split: str) -> list[Source]:
    """Return a split's dialogues; raises UnknownCorpusInPlan, SplitIsEmpty."""
    try:
        corpus = await corpora_store.get_corpus(session, corpus_id)
    except NoSuchCorpus as error:
        raise UnknownCorpusInPlan(corpus_id=corpus_id) from error
    rows = await corpora_store.list_dialogues(session, corpus_id, split=split)
    if not rows:
        raise SplitIsEmpty(corpus=corpus.name, split=split)
    return [Source(row.turns, row.persona) for row in rows]


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
        turns_planned=len(planned.turns) or 2 * plan.exchanges,
        seed=planned.seed,
        domain=plan.domain,
        pair=pair,
        round=planned.round,
        ended_by=Ending.EXCHANGES if planned.turns else None,
        personas=planned.personas,
    )


async def estimate_collection(database: Database, bots: Bots, plan: PlannedIn) -> EstimateOut:
    """Return the estimated cost of a collection; raises every error that starting it would raise."""
    participants = await find_participants(database, bots, plan)
    conversations = count_conversations(plan, len(participants.partners))
    too_short = 0
    async with database.read() as session:
        await _list_openings(session, plan)
        if plan.humans is not None:
            dialogues = await list_dialogues(session, plan.humans.corpus_id, plan.humans.split)
            too_short = len(dialogues) - len(list_human_dialogues(plan, plan.humans, dialogues))
    return estimate(
        [_speaker(bot) for bot in participants.bots],
        [_speaker(bot) for bot in participants.partners],
        conversations=conversations,
        by_people=plan.humans.conversations if plan.humans else 0,
        too_short=too_short,
        exchanges=plan.exchanges,
        warnings=participants.warnings(plan.domain),
    )


def _speaker(bot: BotOut) -> Speaker:
    latency = bot.probe.latency if bot.probe else None
    return Speaker(bot.name, latency.p50_ms / 1000 if latency else None, bot.limits)
