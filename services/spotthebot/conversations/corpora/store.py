"""The only SQL over corpora, their dialogues and held-out exchanges."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from uuid import UUID

from sqlalchemy import delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.contracts.conversations.corpora import CorpusChangesIn, CorpusIn, CorpusVisibility
from spotthebot.contracts.names import find_look_alike
from spotthebot.conversations.corpora.domain.corpora import (
    Corpus,
    Dialogue,
    DialogueOutcome,
    SplitStatistics,
    StoredDialogue,
    count_by_split,
)
from spotthebot.conversations.corpora.domain.held_out import HeldOutExchange, PeoplesConversation, held_out_exchanges
from spotthebot.conversations.corpora.errors import CorpusNameLooksAlike, CorpusNameTaken, NoSuchCorpus
from spotthebot.conversations.corpora.tables import CorpusRow, DialogueRow, SplitRow
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id, new_ids

_IS_THERE = CorpusRow.removed_at.is_(None)


async def add_corpus(session: WriteSession, request: CorpusIn) -> Corpus:
    """Store an empty corpus; raises CorpusNameTaken and CorpusNameLooksAlike."""
    if (other := find_look_alike(request.name, await session.scalars(select(CorpusRow.name)))) is not None:
        raise CorpusNameLooksAlike(name=request.name, other=other)
    corpus_id = new_id()
    statement = insert(CorpusRow).values(id=corpus_id, **request.model_dump())
    added = await session.scalar(statement.on_conflict_do_nothing().returning(CorpusRow.id))
    if added is None:
        raise CorpusNameTaken(name=request.name)
    return await get_corpus(session, corpus_id)


async def lock_corpora(session: WriteSession, ids: Collection[UUID]) -> None:
    """Lock corpora against removal until this transaction ends; ids that do not exist are ignored."""
    statement = select(CorpusRow.id).where(CorpusRow.id.in_(ids)).order_by(CorpusRow.id)
    await session.execute(statement.with_for_update(read=True, key_share=True))


async def change_corpus(session: WriteSession, corpus_id: UUID, changes: CorpusChangesIn) -> Corpus:
    """Change who may learn from a corpus; raises NoSuchCorpus."""
    if values := changes.model_dump(exclude_unset=True):
        await session.execute(update(CorpusRow).where(CorpusRow.id == corpus_id).values(**values))
    return await get_corpus(session, corpus_id)


async def get_corpus(session: ReadSession, corpus_id: UUID) -> Corpus:
    row = await session.scalar(select(CorpusRow).where(CorpusRow.id == corpus_id, _IS_THERE))
    if row is None:
        raise NoSuchCorpus(corpus_id=corpus_id)
    return (await _with_splits(session, [row]))[0]


async def list_corpora(session: ReadSession, *, name: str | None, after: UUID | None, limit: int) -> list[Corpus]:
    statement = select(CorpusRow).where(_IS_THERE).order_by(CorpusRow.id).limit(limit)
    if name is not None:
        statement = statement.where(CorpusRow.name == name)
    if after is not None:
        statement = statement.where(CorpusRow.id > after)
    return await _with_splits(session, list(await session.scalars(statement)))


async def add_dialogues(session: WriteSession, corpus_id: UUID, dialogues: Sequence[Dialogue]) -> list[DialogueOutcome]:
    """Store the dialogues with new keys, in order, and count them; return the outcome of each dialogue.

    Raises NoSuchCorpus, also if the corpus was removed since the upload began.
    """
    if not dialogues:
        return []
    await lock_corpora(session, [corpus_id])
    await get_corpus(session, corpus_id)
    first = {dialogue.key: number for number, dialogue in reversed(list(enumerate(dialogues)))}
    ids = new_ids(len(dialogues))
    rows = [
        {
            "id": ids[number],
            "corpus_id": corpus_id,
            "key": key,
            "split": dialogues[number].split,
            "turns": [*dialogues[number].turns],
            "persona": _list(dialogues[number].persona),
            "details": dialogues[number].metadata,
        }
        for key, number in sorted(first.items())  # in one order, so that two uploads can't deadlock
    ]
    statement = insert(DialogueRow).on_conflict_do_nothing().returning(DialogueRow.key)
    stored = set(await session.scalars(statement, rows))
    await _count(session, corpus_id, [dialogues[first[key]] for key in stored])
    known = await _turns_by_key(session, corpus_id, [each.key for each in dialogues if each.key not in stored])
    known |= {key: dialogues[first[key]].turns for key in stored}
    return [
        DialogueOutcome.STORED
        if dialogue.key in stored and first[dialogue.key] == number
        else DialogueOutcome.KNOWN
        if known[dialogue.key] == dialogue.turns
        else DialogueOutcome.OTHER_TURNS
        for number, dialogue in enumerate(dialogues)
    ]


async def mark_removed(session: WriteSession, corpus_id: UUID) -> Corpus:
    """Hide a corpus, free its name, and return the corpus as it was; raises NoSuchCorpus.

    Waits for the transactions that use the corpus (`lock_corpora`). Later transactions don't find the corpus.
    """
    locked = select(CorpusRow.id).where(CorpusRow.id == corpus_id).with_for_update()
    await session.execute(locked)
    corpus = await get_corpus(session, corpus_id)
    values = {"name": str(corpus_id), "removed_at": func.now()}
    await session.execute(update(CorpusRow).where(CorpusRow.id == corpus_id).values(**values))
    return corpus


async def list_removed(session: ReadSession) -> list[UUID]:
    """Return the ids of removed corpora that are not deleted yet."""
    return list(await session.scalars(select(CorpusRow.id).where(~_IS_THERE)))


async def delete_dialogues(session: WriteSession, corpus_id: UUID, limit: int) -> int:
    """Delete up to `limit` dialogues of a removed corpus and return their number.

    If no dialogues are left, delete the corpus.
    """
    row = DialogueRow
    some = select(row.id).join(CorpusRow).where(row.corpus_id == corpus_id, ~_IS_THERE).limit(limit)
    deleted = list(await session.scalars(delete(row).where(row.id.in_(some)).returning(row.id)))
    if not deleted:
        gone = select(CorpusRow.id).where(CorpusRow.id == corpus_id, ~_IS_THERE)
        await session.execute(delete(SplitRow).where(SplitRow.corpus_id.in_(gone)))
        await session.execute(delete(CorpusRow).where(CorpusRow.id.in_(gone)))
    return len(deleted)


async def list_dialogues(
    session: ReadSession, corpus_id: UUID, *, split: str | None, after: UUID | None = None, limit: int | None = None
) -> list[StoredDialogue]:
    """Return dialogues in the order of their upload."""
    statement = select(DialogueRow).where(DialogueRow.corpus_id == corpus_id).order_by(DialogueRow.id).limit(limit)
    if split is not None:
        statement = statement.where(DialogueRow.split == split)
    if after is not None:
        statement = statement.where(DialogueRow.id > after)
    return [_dialogue(row) for row in await session.scalars(statement)]


async def draw_personas(session: ReadSession, corpus_id: UUID, *, split: str) -> tuple[str, str] | None:
    """Return the two personas of a dialogue drawn by lot; None if no dialogue of the split has any."""
    row = DialogueRow
    some = select(row.persona).where(row.corpus_id == corpus_id, row.split == split, row.persona.is_not(None))
    found = await session.scalar(some.order_by(func.random()).limit(1))
    return None if found is None else (found[0], found[1])


def _dialogue(row: DialogueRow) -> StoredDialogue:
    persona = (row.persona[0], row.persona[1]) if row.persona is not None else None
    return StoredDialogue(row.key, row.split, tuple(row.turns), persona, row.details, id=row.id)


def _list(persona: tuple[str, str] | None) -> list[str] | None:
    return None if persona is None else [*persona]


async def _count(session: WriteSession, corpus_id: UUID, stored: Sequence[Dialogue]) -> None:
    for split, more in count_by_split(stored).items():
        counted = asdict(more)
        statement = insert(SplitRow).values(corpus_id=corpus_id, split=split, **counted)
        sums = {name: getattr(SplitRow, name) + statement.excluded[name] for name in counted}
        await session.execute(
            statement.on_conflict_do_update(index_elements=[SplitRow.corpus_id, SplitRow.split], set_=sums)
        )


async def _turns_by_key(session: ReadSession, corpus_id: UUID, keys: Sequence[str]) -> dict[str, tuple[str, ...]]:
    if not keys:
        return {}
    statement = select(DialogueRow.key, DialogueRow.turns).where(
        DialogueRow.corpus_id == corpus_id, DialogueRow.key.in_(keys)
    )
    return {key: tuple(turns) for key, turns in await session.execute(statement)}


async def _with_splits(session: ReadSession, rows: Sequence[CorpusRow]) -> list[Corpus]:
    splits: dict[UUID, dict[str, SplitStatistics]] = {row.id: {} for row in rows}
    statement = select(SplitRow).where(SplitRow.corpus_id.in_(splits)).order_by(SplitRow.split)
    for row in await session.scalars(statement):
        splits[row.corpus_id][row.split] = from_row(SplitStatistics, row)
    return [from_row(Corpus, row, visibility=CorpusVisibility(row.visibility), splits=splits[row.id]) for row in rows]


async def hold_out(session: WriteSession, conversations: Sequence[PeoplesConversation]) -> None:
    """Hold out the exchanges of people's conversations from learning bots.

    Call it last in a transaction: other transactions that hold out the same exchanges wait until this transaction ends.
    """
    exchanges = held_out_exchanges(conversations)  # in one order, so that two transactions can't deadlock
    if not exchanges:
        return
    await session.execute(
        text("""
            INSERT INTO conversations.held_out_exchanges AS h (hash, in_chat, since, suffices)
            SELECT * FROM unnest(
                CAST(:hashes AS bigint[]), CAST(:in_chat AS bool[]), CAST(:since AS uuid[]), CAST(:suffices AS bool[])
            )
            ON CONFLICT (hash, in_chat) DO UPDATE
            SET suffices = h.suffices OR excluded.suffices, since = LEAST(h.since, excluded.since)
            WHERE excluded.suffices AND NOT h.suffices OR excluded.since < h.since
        """),
        {
            "hashes": [each.number for each in exchanges],
            "in_chat": [each.in_chat for each in exchanges],
            "since": [each.since for each in exchanges],
            "suffices": [each.suffices for each in exchanges],
        },
    )


async def find_held_out(session: ReadSession, exchanges: Iterable[int]) -> Mapping[int, Sequence[HeldOutExchange]]:
    """Return the held-out exchanges with these 64-bit numbers (see `exchange_numbers`), by number."""
    rows = await session.execute(
        text("SELECT hash, since, suffices FROM conversations.held_out_exchanges WHERE hash = ANY(:hashes)"),
        {"hashes": list(exchanges)},
    )
    found: dict[int, list[HeldOutExchange]] = defaultdict(list)
    for row in rows:
        found[row.hash].append(HeldOutExchange(row.hash, row.since, row.suffices))
    return found


async def count_people(session: ReadSession) -> int:
    """Return the number of conversations in collections with people, without chats.

    The number grows whenever stored dialogues are held out. Chats do not count, because they hold out only dialogues
    that are stored after them.
    """
    counted = await session.scalar(
        text("""
            SELECT coalesce(sum(conversations), 0) FROM conversations.collections
            WHERE mode = 'import' OR jsonb_typeof(plan -> 'humans') = 'object'
        """)
    )
    return int(counted or 0)
