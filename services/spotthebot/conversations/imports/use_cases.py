"""Imports conversations. An export is stored in batches as it arrives, with constant memory.

The first conversation of an import decides the import's mode, so that an export of the import equals the imported file.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from spotthebot.contracts.batches import StoredOut
from spotthebot.contracts.conversations.collections import CollectionState, ImportIn
from spotthebot.contracts.conversations.conversations import ConversationIn, ConversationState, Ending, ParticipantKind
from spotthebot.contracts.conversations.exports import ExportedConversation, ImportedOut
from spotthebot.contracts.conversations.ids import ConversationId
from spotthebot.conversations.chats.domain.people import pseudonym_of, require_kind
from spotthebot.conversations.chats.errors import OtherInteractorKind
from spotthebot.conversations.chats.store import ratings as ratings_store
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.domain import Collection, ExportSource
from spotthebot.conversations.conversations.domain import Conversation
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.corpora import store as corpora_store
from spotthebot.conversations.corpora.domain.formats.lines import Reader
from spotthebot.conversations.corpora.domain.formats.records import RejectedLine
from spotthebot.conversations.corpora.domain.held_out import PeoplesConversation
from spotthebot.conversations.exports import store as exports_store
from spotthebot.conversations.imports import store
from spotthebot.conversations.imports.domain import ExportLines, ReadExport
from spotthebot.conversations.imports.errors import HeldOtherwise, NotAnImport
from spotthebot.conversations.quality.store import checks as checks_store
from spotthebot.conversations.quality.use_cases.requests import request_check
from spotthebot.kit.database.sessions import Database, WriteSession
from spotthebot.kit.ids import first_id_at, new_ids
from spotthebot.kit.jobs.queue import Jobs

_AT_ONCE = 500
_CHARACTERS_AT_ONCE = 4_000_000
_SHOWN = 100
_BEFORE_ALL = UUID(int=0)


async def import_export(
    database: Database, jobs: Jobs, collection_id: UUID, pieces: AsyncIterator[bytes]
) -> ImportedOut:
    """Store the conversations of an export that arrives in pieces, and request their quality check.

    Returns the outcome of every line. Raises NoSuchCollection, NotAnImport, HeldOtherwise, NotUtf8.
    """
    async with database.read() as session:
        source = await collections_store.get_source(session, collection_id)
    if source.mode != "import":
        raise NotAnImport(name=source.name)
    lines = ExportLines(source.domain, source.held_as, is_cancelled=source.is_cancelled)
    reader = Reader(lines)
    batch = _Batch(database, source, lines)
    async for piece in pieces:
        await batch.take(await asyncio.to_thread(_fed, reader, piece))
    await batch.take(reader.close())
    await batch.store()
    async with database.write() as session:
        if batch.stored or (batch.already_there and not await checks_store.is_done(session, source.id)):
            await request_check(session, jobs, source.id)
    return batch.account()


def _fed(reader: Reader[ReadExport], piece: bytes) -> list[ReadExport | RejectedLine]:
    return list(reader.feed(piece))


@dataclass
class _Batch:
    database: Database
    source: ExportSource
    lines: ExportLines
    read: int = 0
    stored: int = 0
    already_there: int = 0
    rejected: int = 0
    shown: list[RejectedLine] = field(default_factory=list)
    waiting: dict[str, ReadExport] = field(default_factory=dict)
    characters: int = 0
    last: UUID = _BEFORE_ALL

    async def take(self, outcomes: Iterable[ReadExport | RejectedLine]) -> None:
        for outcome in outcomes:
            self.read += 1
            if isinstance(outcome, RejectedLine):
                self._reject(outcome)
                continue
            if outcome.conversation.id in self.waiting:
                await self.store()  # so that the second of two conversations with one id finds the first
            self.waiting[outcome.conversation.id] = outcome
            self.characters += sum(len(turn.text) + len(turn.raw or "") for turn in outcome.conversation.turns)
            if len(self.waiting) >= _AT_ONCE or self.characters > _CHARACTERS_AT_ONCE:
                await self.store()

    async def store(self) -> None:
        if not self.waiting:
            return
        async with self.database.write() as session:
            await self._reject_other_kinds(session)
            stored = await self._add(session) if self.waiting else frozenset()
            left = [each for key, each in self.waiting.items() if key not in stored]
            known = await self._known(session, [each.conversation.id for each in left])
        self.stored += len(stored)
        for each in left:
            if _content(known[each.conversation.id]) == _content(self._with_pseudonym(each.conversation)):
                self.already_there += 1
            else:
                reason = f"the id '{each.conversation.id}' stands for another conversation already, which stays"
                self._reject(RejectedLine(each.line, reason))
        self.waiting.clear()
        self.characters = 0

    def account(self) -> ImportedOut:
        first = sorted(self.shown, key=lambda each: each.line)
        return ImportedOut.of(self, rejected={"count": self.rejected, "first": first})

    async def _reject_other_kinds(self, session: WriteSession) -> None:
        """Reject conversations whose interactor has another kind in the collection, or in a line before."""
        rated = [(key, each, each.conversation.rating) for key, each in self.waiting.items()]
        names = {rating.interactor for _, _, rating in rated if rating is not None}
        if not names:
            return
        kinds = await ratings_store.lock_kinds(session, self.source.id, names)
        for key, each, rating in rated:
            if rating is None:
                continue
            name, kind = rating.interactor, rating.interactor_kind
            try:
                require_kind(name, kind, known=kinds.setdefault(name, kind))
            except OtherInteractorKind as refused:
                self._reject(RejectedLine(each.line, f"rating.interactor: {refused}"))
                del self.waiting[key]

    async def _add(self, session: WriteSession) -> frozenset[str]:
        """Store the waiting conversations in the order of the file; return the exported ids of new conversations."""
        request = [each.conversation for each in self.waiting.values()]
        # Locks the collection's pairs, so that concurrent uploads wait for each other.
        pairs = await conversations_store.number_pairs(session, self.source.id, [each.participants for each in request])
        held_as = await store.claim_mode(session, self.source.id, request[0].mode)
        if held_as != request[0].mode:
            raise HeldOtherwise(name=self.source.name, held_as=held_as)
        ids = self._next_ids(len(request))
        given = list(zip(ids, request, strict=True))
        stored = await store.add_exported(session, self.source.id, given, pairs)
        new = [each for row_id, each in given if row_id in stored]
        if new:  # also if nobody returns to finish the upload
            await checks_store.request_check(session, self.source.id)
        turns = sum(len(each.turns) for each in new)
        by_state = {state: sum(each.state is state for each in new) for state in ConversationState}
        await collections_store.count_in(
            session,
            self.source.id,
            conversations=len(new),
            complete=by_state[ConversationState.COMPLETE],
            failed=by_state[ConversationState.FAILED],
            cancelled=by_state[ConversationState.CANCELLED],
            turns=turns,
            turns_planned=turns,
        )
        await corpora_store.hold_out(session, [each for each in map(_by_people, new) if each is not None])
        return frozenset(each.id for each in new)

    async def _known(self, session: WriteSession, ids: list[str]) -> dict[str, ExportedConversation]:
        rows = await exports_store.list_rows(session, self.source, after=None, limit=len(ids), ids=ids)
        return {row.conversation.id: row.conversation for row in rows}

    def _with_pseudonym(self, conversation: ExportedConversation) -> ExportedConversation:
        """Return a conversation as this collection exports it, with the pseudonym of the person who rated it."""
        rating = conversation.rating
        if rating is None:
            return conversation
        name = pseudonym_of(rating.interactor, rating.interactor_kind, self.source.pseudonym_key)
        return conversation.model_copy(update={"rating": rating.model_copy(update={"interactor": name})})

    def _next_ids(self, count: int) -> list[UUID]:
        """Make ids that are above the ids of the previous batch, so that ids are in the order of the file."""
        ids = new_ids(count)
        while ids[0] <= self.last:  # within one millisecond the order is random
            ids = new_ids(count)
        self.last = ids[-1]
        return ids

    def _reject(self, line: RejectedLine) -> None:
        self.rejected += 1
        if len(self.shown) < _SHOWN:
            self.shown.append(line)


def _content(conversation: ExportedConversation) -> ExportedConversation:
    """Return the fields in which a repeated conversation must equal the stored conversation.

    The collection's name may differ, and flags are computed again.
    """
    return conversation.model_copy(update={"collection": "", "mode": "import", "quality_flags": None})


def _by_people(conversation: ExportedConversation) -> PeoplesConversation | None:
    """Return the conversation if a person takes part in it, else None.

    A conversation with a bot is a chat, which began with its first turn.
    """
    kinds = {side.kind for side in conversation.participants}
    if ParticipantKind.HUMAN not in kinds:
        return None
    turns = [turn.text for turn in (*conversation.opening, *conversation.turns)]
    said_at = next((turn.said_at for turn in conversation.turns), None)
    if ParticipantKind.BOT not in kinds or said_at is None:
        return PeoplesConversation(turns)
    return PeoplesConversation(turns, since=first_id_at(said_at))


async def open_import(session: WriteSession, request: ImportIn) -> Collection:
    """Open a collection for uploads of conversations."""
    collection_id = await collections_store.add_collection(
        session,
        name=request.name,
        domain=request.domain,
        mode=request.mode,
        plan=request.model_dump(mode="json"),
        state=CollectionState.CANCELLED if request.cancelled else CollectionState.COMPLETE,
    )
    return await collections_store.get_collection(session, collection_id)


async def import_conversations(
    session: WriteSession, collection_id: UUID, uploaded: Sequence[ConversationIn]
) -> StoredOut:
    """Store uploaded conversations as complete; known conversations stay unchanged."""
    collection = await collections_store.get_collection(session, collection_id)
    if collection.mode != "import":
        raise NotAnImport(name=collection.name)
    pairs = await conversations_store.number_pairs(session, collection.id, [each.participants for each in uploaded])
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
            turns_planned=len(each.turns),
            seed=0,
            domain=collection.domain,
            pair=pairs[each.participants],
            ended_by=Ending.EXCHANGES,
            personas=each.personas,
        )
        for each_id, each in zip(new_ids(len(uploaded)), uploaded, strict=True)
    ]
    stored = frozenset(await conversations_store.add_conversations(session, conversations))
    turns = sum(len(each.turns) for each in conversations if each.id in stored)
    await collections_store.count_in(
        session, collection.id, conversations=len(stored), complete=len(stored), turns=turns, turns_planned=turns
    )
    await corpora_store.hold_out(
        session,
        [PeoplesConversation(each.history) for each in conversations if each.id in stored and each.has_person],
    )
    return StoredOut(stored=len(stored), already_there=len(uploaded) - len(stored))
