"""What can be done with corpora, collections and conversations."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from spotthebot.contracts.access import Role
from spotthebot.contracts.conversations import (
    AllPlayAllIn,
    CollectionId,
    ConversationId,
    ConversationIn,
    ConversationState,
    ImportIn,
    Participant,
    ParticipantKind,
    StoredOut,
)
from spotthebot.conversations import store
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.domain.conversations import Conversation, Reply
from spotthebot.conversations.domain.errors import (
    BotsAway,
    NoSuchBot,
    NoSuchCorpus,
    NotAnImport,
    SameNames,
    SplitIsEmpty,
    UnknownBot,
    UnknownCorpusInPlan,
)
from spotthebot.conversations.domain.planning import PlannedConversation, plan_all_play_all
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database import Database, ReadSession, WriteSession
from spotthebot.kit.ids import new_ids
from spotthebot.kit.jobs import Jobs

HOLD_CONVERSATIONS = "conversations:hold_conversations"


async def start_collection(
    session: WriteSession, jobs: Jobs, bots: Bots, plan: AllPlayAllIn, *, batch: int
) -> store.Collection:
    """Plan a collection's conversations and queue the jobs that hold them, all in one transaction."""
    participants = await _participants(bots, plan.bots)
    openings = await _dialogues(session, plan.opening.corpus_id, plan.opening.split) if plan.opening else []
    by_people = await _dialogues(session, plan.humans.corpus_id, plan.humans.split) if plan.humans else []
    planned = plan_all_play_all(plan, participants, openings, by_people)
    collection_id = await store.add_collection(
        session, name=plan.name, domain=plan.domain, mode=plan.mode, plan=plan.model_dump(mode="json")
    )
    conversations = [
        _conversation(collection_id, each_id, each, plan)
        for each_id, each in zip(new_ids(len(planned)), planned, strict=True)
    ]
    await store.add_conversations(session, conversations)
    running = [str(each.id) for each in conversations if each.state is ConversationState.RUNNING]
    for start in range(0, len(running), batch):
        await jobs.defer(session, HOLD_CONVERSATIONS, {"conversation_ids": running[start : start + batch]})
    return await store.get_collection(session, collection_id)


async def open_import(session: WriteSession, wanted: ImportIn) -> store.Collection:
    """Open a collection that conversations held elsewhere can be uploaded to."""
    collection_id = await store.add_collection(
        session, name=wanted.name, domain=wanted.domain, mode=wanted.mode, plan=wanted.model_dump(mode="json")
    )
    return await store.get_collection(session, collection_id)


async def import_conversations(
    session: WriteSession, collection_id: UUID, uploaded: Sequence[ConversationIn]
) -> StoredOut:
    """Store uploaded conversations as complete; those that are there already are left as they are."""
    collection = await store.get_collection(session, collection_id)
    if collection.mode != "import":
        raise NotAnImport(name=collection.name)
    conversations = [
        Conversation(
            id=ConversationId(each_id),
            collection_id=collection.id,
            external_id=each.external_id,
            state=ConversationState.COMPLETE,
            failure=None,
            participants=each.participants,
            opening=(),
            opening_shown=False,
            turns=tuple(turn.text for turn in each.turns),
            turns_wanted=len(each.turns),
            seed=0,
            domain=collection.domain,
        )
        for each_id, each in zip(new_ids(len(uploaded)), uploaded, strict=True)
    ]
    stored = len(await store.add_conversations(session, conversations))
    return StoredOut(stored=stored, already_there=len(uploaded) - stored)


async def list_conversations_of_bot(
    session: ReadSession, bots: Bots, principal: Principal, bot_id: UUID, *, after: UUID | None, limit: int
) -> list[Conversation]:
    """Return a bot's conversations; a team may name its own bots, and gets no other bot's name or id.

    Raises NoSuchBot for a bot that is not there, or not the team's.
    """
    try:
        bot = await bots.get(bot_id)
    except UnknownBot:
        raise NoSuchBot(bot_id=bot_id) from None
    if principal.role == Role.TEAM and (bot.team is None or bot.team != principal.team):
        raise NoSuchBot(bot_id=bot_id)
    conversations = await store.list_conversations_of_bot(session, bot_id, after=after, limit=limit)
    return [each.seen_by(bot_id) for each in conversations] if principal.role == Role.TEAM else conversations


async def hold_conversations(database: Database, bots: Bots, ids: Sequence[UUID]) -> None:
    """Step conversations forward together, wave by wave, until all have ended.

    Each wave is committed before the next is asked for, so a job that is run again goes on at the last turn. Where no
    bot of a wave can be asked at the moment, BotsAway says so: nothing is lost by trying again later.
    """
    while True:
        async with database.read() as reading:
            running = await store.list_running(reading, ids)
        if not running:
            return
        replies = await _ask(bots, running)
        said = [(conversation, reply) for conversation, reply in replies if not reply.later]
        if not said:
            raise BotsAway(waiting=len(replies), reason=replies[0][1].failure)
        async with database.write() as writing:
            await store.add_replies(writing, said)


async def fail_conversations(database: Database, ids: Sequence[UUID], reason: str) -> None:
    """End those conversations that still run, for a reason that another attempt would not mend."""
    async with database.write() as session:
        running = await store.list_running(session, ids)
        await store.add_replies(session, [(each, Reply(None, reason[:1000], 0.0)) for each in running])


async def _ask(bots: Bots, conversations: Sequence[Conversation]) -> list[tuple[Conversation, Reply]]:
    by_bot: dict[tuple[UUID, int | None], list[Conversation]] = defaultdict(list)
    for conversation in conversations:
        if conversation.next_bot is not None:
            by_bot[conversation.next_bot, conversation.next_version].append(conversation)
    answers = await asyncio.gather(*(bots.reply(bot_id, waiting) for (bot_id, _), waiting in by_bot.items()))
    return [
        pair
        for waiting, replies in zip(by_bot.values(), answers, strict=True)
        for pair in zip(waiting, replies, strict=True)
    ]


async def _participants(bots: Bots, ids: Sequence[UUID]) -> list[Participant]:
    found = await asyncio.gather(*(bots.get(bot_id) for bot_id in ids))
    names = [bot.name for bot in found]
    for name in names:
        if names.count(name) > 1:
            raise SameNames(name=name)
    return [
        Participant(
            kind=ParticipantKind.BOT,
            name=bot.name,
            bot_id=bot.id,
            version=bot.version,
            configuration_sha256=bot.configuration_sha256,
        )
        for bot in found
    ]


async def _dialogues(session: ReadSession, corpus_id: UUID, split: str) -> list[tuple[str, ...]]:
    try:
        corpus = await store.get_corpus(session, corpus_id)
    except NoSuchCorpus as error:
        raise UnknownCorpusInPlan(corpus_id=corpus_id) from error
    rows = await store.list_dialogues(session, corpus_id, split=split)
    if not rows:
        raise SplitIsEmpty(corpus=corpus.name, split=split)
    return [tuple(row.turns) for row in rows]


def _conversation(
    collection_id: CollectionId, conversation_id: UUID, planned: PlannedConversation, plan: AllPlayAllIn
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
    )
