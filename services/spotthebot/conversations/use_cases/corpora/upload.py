"""Stores the dialogues of a file while it is uploaded, in batches: memory stays flat, stored batches stay."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from uuid import UUID

from spotthebot.contracts.conversations import CorpusFormat, RejectedLineOut, RejectedOut, UploadOut
from spotthebot.conversations import store
from spotthebot.conversations.domain.corpora import Dialogue, DialogueOutcome
from spotthebot.conversations.domain.errors import NoSplitNamed, SplitOrSplits
from spotthebot.conversations.domain.formats import Outcome, ReadDialogue, Reader, RejectedLine, Skipped, reader_of
from spotthebot.conversations.domain.formats.splits import Shares, shares_of
from spotthebot.kit.database import Database

_DIALOGUES_PER_BATCH = 500
_CHARACTERS_PER_BATCH = 4_000_000
_SHOWN = 100
_NAME_SPLITS = frozenset({CorpusFormat.JSONL, CorpusFormat.DAILYDIALOG})
"""The formats whose lines may name a split of their own."""


@dataclass(frozen=True)
class Upload:
    """The upload of a file to a corpus: `split` for all dialogues, or shares of several `splits`, or the file's own."""

    database: Database
    corpus_id: UUID
    form: CorpusFormat
    split: str | None
    splits: str | None
    bots_too: bool


async def store_upload(upload: Upload, pieces: AsyncIterator[bytes]) -> UploadOut:
    """Store the dialogues of a file that arrives in pieces; returns the number of each outcome.

    Raises NoSuchCorpus, SplitOrSplits, NoSplitNamed, BadShares, NotUtf8, NotThisFormat.
    """
    shares = shares_of(upload.splits) if upload.splits is not None else None
    if shares is not None and upload.split is not None:
        raise SplitOrSplits
    if shares is None and upload.split is None and upload.form not in _NAME_SPLITS:
        raise NoSplitNamed(reason=f"a file in the form '{upload.form}' names no splits")
    async with upload.database.read() as session:
        await store.corpora.get_corpus(session, upload.corpus_id)
    reader = reader_of(upload.form, bots_too=upload.bots_too)
    batch = _Batch(upload, shares)
    async for piece in pieces:
        await batch.take(await asyncio.to_thread(_fed, reader, piece))
    await batch.take(reader.close())
    await batch.store()
    if batch.without_split and not batch.stored and not batch.already_there:
        raise NoSplitNamed(reason=f"none of its {batch.without_split} dialogues names its split")
    return batch.account()


def _fed(reader: Reader[Outcome], piece: bytes) -> list[Outcome]:
    return list(reader.feed(piece))


@dataclass
class _Batch:
    upload: Upload
    shares: Shares | None
    read: int = 0
    stored: int = 0
    already_there: int = 0
    skipped: int = 0
    rejected: int = 0
    without_split: int = 0
    shown: list[RejectedLine] = field(default_factory=list)
    waiting: list[tuple[int, Dialogue]] = field(default_factory=list)
    characters: int = 0

    async def take(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            self.read += 1
            match outcome:
                case ReadDialogue():
                    self._add(outcome)
                case RejectedLine():
                    self._reject(outcome)
                case Skipped():
                    self.skipped += 1
            if len(self.waiting) >= _DIALOGUES_PER_BATCH or self.characters > _CHARACTERS_PER_BATCH:
                await self.store()

    async def store(self) -> None:
        async with self.upload.database.write() as session:
            outcomes = await store.corpora.add_dialogues(
                session, self.upload.corpus_id, [each for _, each in self.waiting]
            )
        for (line, dialogue), outcome in zip(self.waiting, outcomes, strict=True):
            match outcome:
                case DialogueOutcome.STORED:
                    self.stored += 1
                case DialogueOutcome.KNOWN:
                    self.already_there += 1
                case DialogueOutcome.OTHER_TURNS:
                    reason = f"the key '{dialogue.key}' stands for a dialogue with other turns already, which stays"
                    self._reject(RejectedLine(line, reason))
        self.waiting.clear()
        self.characters = 0

    def account(self) -> UploadOut:
        first = sorted(self.shown, key=lambda each: each.line)
        return UploadOut(
            read=self.read,
            stored=self.stored,
            already_there=self.already_there,
            skipped=self.skipped,
            rejected=RejectedOut(
                count=self.rejected,
                first=tuple(RejectedLineOut(line=each.line, reason=each.reason) for each in first),
            ),
        )

    def _add(self, found: ReadDialogue) -> None:
        split = self.upload.split or (self.shares.split_of(found.key) if self.shares else found.split)
        if split is None:
            self.without_split += 1
            reason = "names no split, and none was given: say `split=NAME` or `splits=NAME:SHARE,NAME:SHARE`"
            self._reject(RejectedLine(found.line, reason))
            return
        self.waiting.append((found.line, Dialogue(found.key, split, found.turns, found.persona, found.metadata)))
        self.characters += sum(map(len, found.turns))

    def _reject(self, line: RejectedLine) -> None:
        self.rejected += 1
        if len(self.shown) < _SHOWN:
            self.shown.append(line)
