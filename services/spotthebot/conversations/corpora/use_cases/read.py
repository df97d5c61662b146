"""Reads the dialogues of a file that arrives in pieces, in batches, with constant memory."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from spotthebot.contracts.conversations.corpora import CorpusFormat, Upload, UploadOut
from spotthebot.conversations.corpora.domain.corpora import Dialogue, DialogueOutcome
from spotthebot.conversations.corpora.domain.formats.lines import Reader
from spotthebot.conversations.corpora.domain.formats.readers import reader_of
from spotthebot.conversations.corpora.domain.formats.records import Outcome, ReadDialogue, RejectedLine, Skipped
from spotthebot.conversations.corpora.domain.formats.splits import Shares, shares_of
from spotthebot.conversations.corpora.errors import NoSplitNamed, SplitOrSplits

_DIALOGUES_PER_BATCH = 500
_CHARACTERS_PER_BATCH = 4_000_000
_SHOWN = 100
_NAME_SPLITS = frozenset({CorpusFormat.JSONL, CorpusFormat.DAILYDIALOG})
"""The formats whose lines may name a split."""
Store = Callable[[Sequence[Dialogue]], Awaitable[Sequence[DialogueOutcome]]]
"""Takes a batch of dialogues, and returns the outcome of each."""


async def check_upload(upload: Upload, pieces: AsyncIterator[bytes]) -> UploadOut:
    """Return the result that an upload to an empty corpus would have; stores nothing. Raises as `read_upload` does."""
    first: dict[str, int] = {}

    def outcome(dialogue: Dialogue) -> DialogueOutcome:
        turns = hash(dialogue.turns)
        if dialogue.key not in first:
            first[dialogue.key] = turns
            return DialogueOutcome.STORED
        return DialogueOutcome.KNOWN if first[dialogue.key] == turns else DialogueOutcome.OTHER_TURNS

    async def count(dialogues: Sequence[Dialogue]) -> Sequence[DialogueOutcome]:
        return [outcome(each) for each in dialogues]

    return await read_upload(upload, pieces, count)


async def read_upload(upload: Upload, pieces: AsyncIterator[bytes], add: Store) -> UploadOut:
    """Pass the dialogues of a file to `add` in batches; return the number of each outcome.

    Raises SplitOrSplits, NoSplitNamed, BadShares, NotUtf8, NotThisFormat.
    """
    shares = _shares(upload)
    reader = reader_of(upload.form, bots_too=upload.bots_too)
    batch = _Batch(upload, shares, add)
    async for piece in pieces:
        await batch.take(await asyncio.to_thread(_fed, reader, piece))
    await batch.take(reader.close())
    await batch.store()
    if batch.without_split and not batch.stored and not batch.already_there:
        raise NoSplitNamed(reason=f"none of its {batch.without_split} dialogues names its split")
    return batch.account()


def _shares(upload: Upload) -> Shares | None:
    shares = shares_of(upload.splits) if upload.splits is not None else None
    if shares is not None and upload.split is not None:
        raise SplitOrSplits
    if shares is None and upload.split is None and upload.form not in _NAME_SPLITS:
        raise NoSplitNamed(reason=f"a file in the form '{upload.form}' names no splits")
    return shares


def _fed(reader: Reader[Outcome], piece: bytes) -> list[Outcome]:
    return list(reader.feed(piece))


@dataclass
class _Batch:
    upload: Upload
    shares: Shares | None
    add: Store
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
        outcomes = await self.add([each for _, each in self.waiting])
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
        return UploadOut.of(self, rejected={"count": self.rejected, "first": first})

    def _add(self, found: ReadDialogue) -> None:
        split = self.upload.split or (self.shares.split_of(found.key) if self.shares else found.split)
        if split is None:
            self.without_split += 1
            reason = "names no split: name one by `split`, or several by `splits` (NAME:SHARE,NAME:SHARE)"
            self._reject(RejectedLine(found.line, reason))
            return
        self.waiting.append((found.line, Dialogue(found.key, split, found.turns, found.persona, found.metadata)))
        self.characters += sum(map(len, found.turns))

    def _reject(self, line: RejectedLine) -> None:
        self.rejected += 1
        if len(self.shown) < _SHOWN:
            self.shown.append(line)
