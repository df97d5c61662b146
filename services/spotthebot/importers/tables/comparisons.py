"""Votes between two bots and ratings of single bots, from a table to the statistics' input."""

import ast
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from spotthebot.analytics.stats import Games, Ratings, Unit
from spotthebot.contracts.names import fault_of_name
from spotthebot.contracts.repeated_texts import RepeatedTexts, find_repeated_texts
from spotthebot.importers.published_dump.fields import FieldFault
from spotthebot.importers.tables.cells import TableRow, shown
from spotthebot.importers.tables.columns import BOT_OF, VALUE_OF, ColumnMapping
from spotthebot.importers.tables.numbers import ANY_NUMBER, Numbers, Scale
from spotthebot.importers.tables.rejections import Tally
from spotthebot.importers.tables.synonyms import names_of, plain
from spotthebot.importers.tables.texts import Texts
from spotthebot.importers.tables.values import ValueWords
from spotthebot.importers.tables.winners import Winners, WinnersAre

_LONGEST_LIST: Final = 1000
_OF_BOTS: Final = frozenset({"side_a", "side_b", "bot"})
_IDS: Final = ("conversation", "annotator")


class Vote(NamedTuple):
    """Which of two bots an annotator preferred for an item: 1 the first, -1 the second, 0 neither.

    The annotator is empty where the table names none.
    """

    item: str
    bots: tuple[str, str]
    annotator: str
    outcome: int
    turn: str


class Rating(NamedTuple):
    """How an annotator rated a bot's part in an item, in one dimension."""

    item: str
    bot: str
    annotator: str
    dimension: str
    value: float


@dataclass(frozen=True)
class Reading:
    """How the cells of a table are read: what words mean, and what the user says of numbers and winners."""

    words: ValueWords
    decimal: str | None = None
    scale: Scale = ANY_NUMBER
    winners: WinnersAre | None = None


@dataclass
class Comparisons:
    """What a table of votes or ratings holds: votes, ratings by dimension, and how its rows were read."""

    reading: Reading
    texts: Texts
    names_items: bool = True
    """Whether a column says what was compared; else each row is an item of its own."""
    tally: Tally = field(default_factory=Tally)
    votes: list[Vote] = field(default_factory=list)
    winners: Winners | None = None
    ratings: dict[str, list[Rating]] = field(default_factory=dict)
    numbers: Mapping[str, Numbers] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    """Rows without a rating of a dimension that have one of another."""

    @property
    def annotators(self) -> set[str]:
        """The annotators that the table names; none where it has no column of them."""
        rated = {rating.annotator for ratings in self.ratings.values() for rating in ratings}
        return (rated | {vote.annotator for vote in self.votes}) - {""}

    @cached_property
    def clusters(self) -> Mapping[str, str]:
        """What each item counts as: the first item of its text."""
        rated = {rating.item for ratings in self.ratings.values() for rating in ratings}
        return self.texts.clusters(rated | {vote.item for vote in self.votes})

    @property
    def repeated_texts(self) -> tuple[RepeatedTexts, ...]:
        """The pairs of bots whose items, of those with votes, repeat one another's text."""
        voted = {(min(vote.bots), max(vote.bots), vote.item) for vote in self.votes}
        return find_repeated_texts(((one, other), self.clusters[item]) for one, other, item in voted)


class CellReader:
    """Reads the cells of rows by field; raises FieldFault."""

    def __init__(self, mapping: ColumnMapping) -> None:
        self.columns = mapping.columns
        self.dimensions = {name: name.removeprefix(VALUE_OF) for name in self.columns if name.startswith(VALUE_OF)}
        self.bots = {name: name.removeprefix(BOT_OF) for name in self.columns if name.startswith(BOT_OF)}
        self._seen = set[tuple[str, ...]]()

    def cell(self, row: TableRow, name: str) -> str:
        """Return an id or a name, which must be there."""
        value = row.id(self.columns[name]) if name in _IDS else row.named(self.columns[name])
        if not value:
            raise FieldFault(reason=f"it names no {name}")
        if name in _OF_BOTS and (fault := fault_of_name(value)) is not None:
            raise FieldFault(reason=f"its {name} {value!a} {fault}")
        return value

    def optional(self, row: TableRow, name: str) -> str:
        """Return an id or a name; empty where there is none."""
        return row.named(self.columns[name]) if name in self.columns else ""

    def item(self, row: TableRow) -> str:
        """Return what was compared; without a column of conversations each row is one of its own."""
        return self.cell(row, "conversation") if "conversation" in self.columns else f"line {row.line}"

    def annotator(self, row: TableRow) -> str:
        """Return the annotator, of FastChat's list of a model and its prompt the model; empty without such a column."""
        if "annotator" not in self.columns:
            return ""
        value = self.cell(row, "annotator")
        if value[0] not in "[(" or (listed := _list_of(value)) is None:
            return value
        if not names_of("prompted_annotators") & set(plain(self.columns["annotator"]).split("_")) or not listed:
            raise FieldFault(reason=f"its annotator '{shown(value)}' is a list: name one annotator")
        return listed[0]

    def require_new(self, annotator: str, *key: str) -> None:
        """Raise FieldFault for what an annotator said before; of votes without annotators all count."""
        if annotator and (annotator, *key) in self._seen:
            hint = "" if "turn" in self.columns else ": if of another turn, name that column with --map turn=COLUMN"
            raise FieldFault(reason=f"annotator '{shown(annotator)}' has an earlier row for this comparison{hint}")
        self._seen.add((annotator, *key))


def games_of(found: Comparisons) -> Games:
    """Return votes as games, each of an item's text and an annotator, in the order of the items."""
    votes = sorted(found.votes)
    bots = sorted({bot for vote in votes for bot in vote.bots})
    return Games(
        bots=tuple(bots),
        first=_codes((vote.bots[0] for vote in votes), bots),
        second=_codes((vote.bots[1] for vote in votes), bots),
        outcome=np.array([vote.outcome for vote in votes], dtype=np.int64),
        conversation=_item_codes((vote.item for vote in votes), found.clusters),
        annotator=_annotators([vote.annotator for vote in votes]),
        unit=Unit.ANNOTATION,
        criterion="vote",
    )


def ratings_of(found: Comparisons, dimension: str) -> Ratings:
    """Return ratings of one dimension as columns, in the order of the items; items of one text are one."""
    ratings = sorted(found.ratings[dimension])
    bots = sorted({rating.bot for rating in ratings})
    return Ratings(
        bots=tuple(bots),
        bot=_codes((rating.bot for rating in ratings), bots),
        item=_item_codes((rating.item for rating in ratings), found.clusters),
        annotator=_annotators([rating.annotator for rating in ratings]),
        value=np.array([rating.value for rating in ratings], dtype=np.float64),
        scale=found.reading.scale.ends,
    )


def _annotators(names: list[str]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Return a code for each annotator; where nobody is named, each vote is of another one."""
    return _codes(names, sorted(set(names))) if any(names) else np.arange(len(names), dtype=np.int64)


def _item_codes(items: Iterable[str], clusters: Mapping[str, str]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Return a code for the text of each item."""
    texts = [clusters[item] for item in items]
    return _codes(texts, sorted(set(texts)))


def _codes(values: Iterable[str], names: Iterable[str]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    code = {name: at for at, name in enumerate(names)}
    return np.fromiter((code[value] for value in values), dtype=np.int64)


def _list_of(value: str) -> list[str] | None:
    """Read a list of texts as JSON or as Python writes it; None for another text."""
    if len(value) > _LONGEST_LIST:
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            listed = read(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(listed, list | tuple) and all(isinstance(each, str) for each in listed):
            return list(listed)
    return None
