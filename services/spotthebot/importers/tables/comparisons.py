"""Votes between two bots and ratings of single bots, from a table to the input of the statistics."""

import ast
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from spotthebot.analytics.stats.rating_estimates import Ratings
from spotthebot.analytics.stats.wins import Games, Unit
from spotthebot.contracts.names import fault_of_name
from spotthebot.contracts.repeated_texts import RepeatedTexts, find_repeated_texts
from spotthebot.importers.tables.winners import Winners, WinnersAre
from spotthebot.readers.files.cells import TableRow, shown
from spotthebot.readers.files.numbers import ANY_NUMBER, Numbers, Scale
from spotthebot.readers.meanings.columns import BOT_OF, VALUE_OF, ColumnMapping
from spotthebot.readers.meanings.kinds import KIND, Kinds
from spotthebot.readers.meanings.synonyms import names_of, plain
from spotthebot.readers.meanings.texts import Texts
from spotthebot.readers.meanings.values import ValueWords
from spotthebot.readers.rejected import FieldFault
from spotthebot.readers.rejections import Tally

_LONGEST_LIST: Final = 1000
_OF_BOTS: Final = frozenset({"side_a", "side_b", "bot"})
_IDS: Final = ("conversation", "annotator")


class Vote(NamedTuple):
    """An annotator's preference between two bots for an item: 1 the first, -1 the second, 0 a tie.

    `annotator` is empty if the table names no annotator.
    """

    item: str
    bots: tuple[str, str]
    annotator: str
    outcome: int
    turn: str


class Rating(NamedTuple):
    """An annotator's rating of a bot in one dimension, for an item or for one turn of the item.

    `turn` is empty if the table names no turn. `seconds` is the time that the annotator took for the row, NaN if the
    table does not state it. `exchanges` says how much of the item was shown. `pair` names what was compared if the
    rating is a preference.
    """

    item: str
    bot: str
    annotator: str
    dimension: str
    value: float
    turn: str = ""
    seconds: float = math.nan
    exchanges: str = ""
    pair: str = ""


@dataclass(frozen=True)
class Reading:
    """The settings for reading a table's cells: meanings of words, and the user's options for numbers and winners."""

    words: ValueWords
    decimal: str | None = None
    scale: Scale = ANY_NUMBER
    winners: WinnersAre | None = None


@dataclass
class Comparisons:
    """The content of a table of votes or ratings: votes, ratings by dimension, and how its rows were read."""

    reading: Reading
    texts: Texts
    names_items: bool = True
    """Whether a column names the compared items; otherwise each row is a separate item."""
    kinds: Kinds = field(default_factory=Kinds)
    names_pairs: bool = False
    """Whether a column of ratings names what was compared; otherwise ratings of one item may be a preference."""
    tally: Tally = field(default_factory=Tally)
    votes: list[Vote] = field(default_factory=list)
    winners: Winners | None = None
    ratings: dict[str, list[Rating]] = field(default_factory=dict)
    numbers: Mapping[str, Numbers] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    """The rows without a rating of this dimension that rate another dimension."""

    @property
    def annotators(self) -> set[str]:
        """The annotators that the table names; empty without a column of annotators."""
        rated = {rating.annotator for ratings in self.ratings.values() for rating in ratings}
        return (rated | {vote.annotator for vote in self.votes}) - {""}

    @cached_property
    def clusters(self) -> Mapping[str, str]:
        """The cluster of each item: the first item with the same text."""
        rated = {rating.item for ratings in self.ratings.values() for rating in ratings}
        return self.texts.clusters(rated | {vote.item for vote in self.votes})

    @property
    def repeated_texts(self) -> tuple[RepeatedTexts, ...]:
        """The pairs of bots with votes on items that repeat texts."""
        voted = {(min(vote.bots), max(vote.bots), vote.item) for vote in self.votes}
        return find_repeated_texts(((one, other), self.clusters[item]) for one, other, item in voted)


class CellReader:
    """Reads the cells of rows by field; raises FieldFault."""

    def __init__(self, mapping: ColumnMapping, kinds: Kinds) -> None:
        self.columns = mapping.columns
        self._kinds = kinds
        self.dimensions = {name: name.removeprefix(VALUE_OF) for name in self.columns if name.startswith(VALUE_OF)}
        self.bots = {name: name.removeprefix(BOT_OF) for name in self.columns if name.startswith(BOT_OF)}
        self.without_annotators: set[str] = set()
        """Dimensions of which no row names an annotator, in a table whose other rows name some."""
        self._seen = set[tuple[str, ...]]()

    def cell(self, row: TableRow, name: str) -> str:
        """Return an id or a name; a missing value is a fault."""
        value = row.id(self.columns[name]) if name in _IDS else row.named(self.columns[name])
        if not value:
            raise FieldFault(reason=f"it names no {name}")
        if name in _OF_BOTS and (fault := fault_of_name(value)) is not None:
            raise FieldFault(reason=f"its {name} {value!a} {fault}")
        return value

    def optional(self, row: TableRow, name: str) -> str:
        """Return an id or a name; empty if it is missing."""
        return row.named(self.columns[name]) if name in self.columns else ""

    def seconds(self, row: TableRow) -> float:
        """Return the seconds that the annotator took for the row, NaN if the table does not state them."""
        try:
            return float(row.cells.get(self.columns["seconds"], "")) if "seconds" in self.columns else math.nan
        except ValueError:
            return math.nan

    def item(self, row: TableRow) -> str:
        """Return the compared item of a row; without a column of conversations each row is a separate item."""
        return self.cell(row, "conversation") if "conversation" in self.columns else f"line {row.line}"

    def annotator(self, row: TableRow) -> str:
        """Return the annotator of a row, whose kind is then known.

        Empty without a column of annotators, and of a dimension without annotators.

        FastChat lists a model and its prompt; only the model counts.
        """
        if "annotator" not in self.columns or self.optional(row, "dimension") in self.without_annotators:
            return ""
        name = self._annotator_name(row)
        self._kinds.read(name, self.optional(row, KIND))
        return name

    def _annotator_name(self, row: TableRow) -> str:
        value = self.cell(row, "annotator")
        if value[0] not in "[(" or (listed := _list_of(value)) is None:
            return value
        if not names_of("prompted_annotators") & set(plain(self.columns["annotator"]).split("_")) or not listed:
            said = f"its annotator '{shown(value)}' is a list"
            raise FieldFault(reason=f"{said}: name one annotator, or another column with --map annotator=COLUMN")
        return listed[0]

    def require_new(self, annotator: str, *key: str) -> None:
        """Raise FieldFault if the annotator has an earlier row for this comparison.

        All rows without an annotator count.
        """
        if annotator and (annotator, *key) in self._seen:
            hint = "" if "turn" in self.columns else ": if of another turn, name that column with --map turn=COLUMN"
            raise FieldFault(reason=f"annotator '{shown(annotator)}' has an earlier row for this comparison{hint}")
        self._seen.add((annotator, *key))


def games_of(found: Comparisons) -> Games:
    """Return votes as games, in the order of the items; each game has codes of its item's text and its annotator."""
    votes = sorted(found.votes)
    bots = sorted({bot for vote in votes for bot in vote.bots})
    return Games(
        bots=tuple(bots),
        first=_codes((vote.bots[0] for vote in votes), bots),
        second=_codes((vote.bots[1] for vote in votes), bots),
        outcome=np.array([vote.outcome for vote in votes], dtype=np.int64),
        conversation=_name_codes(found.clusters[vote.item] for vote in votes),
        annotator=_annotators([vote.annotator for vote in votes]),
        unit=Unit.ANNOTATION,
        criterion="vote",
    )


def ratings_of(found: Comparisons, dimension: str) -> Ratings:
    """Return ratings of one dimension as columns, in the order of the items; equal texts count as one item.

    Items that were compared with each other count as one.
    """
    ratings = sorted(found.ratings[dimension])
    compared: dict[str, set[str]] = {}
    for rating in ratings:
        compared.setdefault(rating.pair, set()).add(found.clusters[rating.item])
    items = {pair: "+".join(sorted(clusters)) for pair, clusters in compared.items() if pair}
    bots = sorted({rating.bot for rating in ratings})
    return Ratings(
        bots=tuple(bots),
        bot=_codes((rating.bot for rating in ratings), bots),
        item=_name_codes(items.get(rating.pair, found.clusters[rating.item]) for rating in ratings),
        annotator=_annotators([rating.annotator for rating in ratings]),
        value=np.array([rating.value for rating in ratings], dtype=np.float64),
        scale=found.reading.scale.ends,
    )


def _annotators(names: list[str]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Return a code for each annotator; votes without annotators each get a separate code."""
    return _codes(names, sorted(set(names))) if any(names) else np.arange(len(names), dtype=np.int64)


def _name_codes(names: Iterable[str]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Return a code for each name, in alphabetical order."""
    texts = [*names]
    return _codes(texts, sorted(set(texts)))


def _codes(values: Iterable[str], names: Iterable[str]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    code = {name: at for at, name in enumerate(names)}
    return np.fromiter((code[value] for value in values), dtype=np.int64)


def _list_of(value: str) -> list[str] | None:
    """Parse a list of texts, written as JSON or by Python; None for other texts."""
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
