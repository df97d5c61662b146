"""The only SQL over corpora and their dialogues."""

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.contracts.conversations import CorpusChangesIn, CorpusId, CorpusIn, CorpusVisibility
from spotthebot.conversations.domain.corpora import (
    Corpus,
    Dialogue,
    DialogueOutcome,
    SplitStatistics,
    StoredDialogue,
    count_by_split,
)
from spotthebot.conversations.domain.errors import CorpusNameTaken, NoSuchCorpus
from spotthebot.conversations.tables import CorpusRow, DialogueRow, SplitRow
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_id, new_ids


async def add_corpus(session: WriteSession, request: CorpusIn) -> Corpus:
    """Store an empty corpus; raises CorpusNameTaken."""
    corpus_id = new_id()
    statement = insert(CorpusRow).values(id=corpus_id, **request.model_dump())
    added = await session.scalar(statement.on_conflict_do_nothing().returning(CorpusRow.id))
    if added is None:
        raise CorpusNameTaken(name=request.name)
    return await get_corpus(session, corpus_id)


async def change_corpus(session: WriteSession, corpus_id: UUID, changes: CorpusChangesIn) -> Corpus:
    """Change who may learn from a corpus; raises NoSuchCorpus."""
    if values := changes.model_dump(exclude_unset=True):
        await session.execute(update(CorpusRow).where(CorpusRow.id == corpus_id).values(**values))
    return await get_corpus(session, corpus_id)


async def get_corpus(session: ReadSession, corpus_id: UUID) -> Corpus:
    row = await session.get(CorpusRow, corpus_id)
    if row is None:
        raise NoSuchCorpus(corpus_id=corpus_id)
    return (await _with_splits(session, [row]))[0]


async def list_corpora(session: ReadSession, *, name: str | None, after: UUID | None, limit: int) -> list[Corpus]:
    statement = select(CorpusRow).order_by(CorpusRow.id).limit(limit)
    if name is not None:
        statement = statement.where(CorpusRow.name == name)
    if after is not None:
        statement = statement.where(CorpusRow.id > after)
    return await _with_splits(session, list(await session.scalars(statement)))


async def add_dialogues(session: WriteSession, corpus_id: UUID, dialogues: Sequence[Dialogue]) -> list[DialogueOutcome]:
    """Store the dialogues whose keys are new, in order, and count them; returns the outcome of each."""
    if not dialogues:
        return []
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
        for key, number in sorted(first.items())  # in one order, so that two uploads cannot lock each other out
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
        splits[row.corpus_id][row.split] = SplitStatistics(row.dialogues, row.utterances, row.exchanges, row.words)
    return [
        Corpus(
            id=CorpusId(row.id),
            name=row.name,
            domain=row.domain,
            origin=row.origin,
            licence=row.licence,
            owner=row.owner,
            visibility=CorpusVisibility(row.visibility),
            splits=splits[row.id],
            created_at=row.created_at,
        )
        for row in rows
    ]
