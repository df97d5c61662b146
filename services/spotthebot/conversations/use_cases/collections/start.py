"""Starting a collection: its conversations and the first jobs that run them."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from uuid import UUID

from spotthebot.contracts.bots import BotOut, BuiltinProtocol
from spotthebot.contracts.conversations import (
    CollectionId,
    CollectionState,
    ConversationId,
    ConversationState,
    Ending,
    HumanPool,
    PlannedIn,
)
from spotthebot.conversations import store
from spotthebot.conversations.domain.collections import Collection
from spotthebot.conversations.domain.conversations import Conversation
from spotthebot.conversations.domain.errors import LearnedFromPeople, NoSuchCorpus, SplitIsEmpty, UnknownCorpusInPlan
from spotthebot.conversations.domain.held_out import PeoplesConversation
from spotthebot.conversations.domain.plans import PlannedConversation, Sides, count_conversations, plan_conversations
from spotthebot.conversations.use_cases.collections.participants import Participants
from spotthebot.conversations.use_cases.turn_loop.maintenance import queue_runners
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_ids
from spotthebot.kit.jobs import Jobs


async def start_collection(
    session: WriteSession, jobs: Jobs, plan: PlannedIn, participants: Participants, *, batch: int
) -> Collection:
    """Plan a collection's conversations and queue the jobs that run them, all in one transaction."""
    count_conversations(plan, len(participants.partners))
    if plan.humans is not None:
        _check_learners(plan.humans, chain(participants.bots, participants.partners))
    await store.corpora.lock_corpora(session, [pool.corpus_id for pool in (plan.opening, plan.humans) if pool])
    openings = await list_dialogues(session, plan.opening.corpus_id, plan.opening.split) if plan.opening else []
    human_dialogues = await list_dialogues(session, plan.humans.corpus_id, plan.humans.split) if plan.humans else []
    planned = await asyncio.to_thread(
        plan_conversations,
        plan,
        participants.sides(participants.bots),
        participants.sides(participants.partners),
        openings,
        human_dialogues,
    )
    collection_id = await store.collections.add_collection(
        session,
        name=plan.name,
        domain=plan.domain,
        mode=plan.mode,
        plan=plan.model_dump(mode="json"),
        state=CollectionState.COLLECTING,
        bots=[bot.id for bot in chain(participants.bots, participants.partners)],
        priority=plan.priority,
    )
    numbers = await store.conversations.number_pairs(session, collection_id, [each.participants for each in planned])
    conversations = await asyncio.to_thread(_conversations, collection_id, planned, plan, numbers)
    await store.planned.add_planned(session, conversations)
    by_people = [each for each in conversations if each.turns]
    await store.collections.count_in(
        session,
        collection_id,
        conversations=len(conversations),
        complete=len(by_people),
        turns=sum(len(each.turns) for each in by_people),
        turns_planned=sum(each.turns_planned for each in conversations),
    )
    await queue_runners(session, jobs, waiting=len(conversations) - len(by_people), batch=batch)
    await store.held_out.hold_out(session, [PeoplesConversation(each.history) for each in by_people])
    return await store.collections.get_collection(session, collection_id)


def _check_learners(people: HumanPool, bots: Iterable[BotOut]) -> None:
    """Raise LearnedFromPeople for a bot whose next reply would be refused: what it learned is held out from now on."""
    for bot in bots:
        match bot.protocol:
            case BuiltinProtocol(corpus_id=people.corpus_id, split=people.split):
                raise LearnedFromPeople(name=bot.name, split=people.split)


async def list_dialogues(session: ReadSession, corpus_id: UUID, split: str) -> list[tuple[str, ...]]:
    """Return the turns of a split's dialogues; raises UnknownCorpusInPlan, SplitIsEmpty."""
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
        turns_planned=len(planned.turns) or 2 * plan.exchanges,
        seed=planned.seed,
        domain=plan.domain,
        pair=pair,
        round=planned.round,
        ended_by=Ending.EXCHANGES if planned.turns else None,
    )
