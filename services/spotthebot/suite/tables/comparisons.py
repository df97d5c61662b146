"""Votes between two bots and ratings of single bots, from a table to the statistics' input."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from spotthebot.analytics.stats import Games, Ratings, Unit
from spotthebot.contracts.annotation import Preference
from spotthebot.contracts.names import fault_of_name
from spotthebot.suite.published_dump.fields import FieldFault
from spotthebot.suite.published_dump.records import Rejected
from spotthebot.suite.tables.columns import VALUE_OF, ColumnMapping, Kind
from spotthebot.suite.tables.rows import Table, TableRow, number_of, shown
from spotthebot.suite.tables.values import ValueWords

ONE_DIMENSION: Final = "rating"
"""What the dimension of a table is called that names none."""
_LEAD: Final = {Preference.A: 1, Preference.TIE: 0, Preference.B: -1}
_OF_BOTS: Final = frozenset({"side_a", "side_b", "bot"})
_Key = tuple[str, ...]


class Vote(NamedTuple):
    """Which of two bots an annotator preferred for an item: 1 the first, -1 the second, 0 neither."""

    item: str
    bots: tuple[str, str]
    annotator: str
    outcome: int


class Rating(NamedTuple):
    """How an annotator rated a bot's part in an item, in one dimension."""

    item: str
    bot: str
    annotator: str
    dimension: str
    value: float


@dataclass
class Comparisons:
    """What a table of votes or ratings holds: games by nothing, ratings by dimension; rows that can't be read."""

    read: int = 0
    votes: list[Vote] = field(default_factory=list)
    ratings: dict[str, list[Rating]] = field(default_factory=dict)
    rejected: list[Rejected] = field(default_factory=list)


def read_comparisons(table: Table, mapping: ColumnMapping, words: ValueWords) -> Comparisons:
    """Read votes or ratings; of an annotator's about the same thing the first counts, the others are rejected."""
    found, seen = Comparisons(), set[_Key]()
    for row in table.rows():
        found.read += 1
        if isinstance(row, Rejected):
            found.rejected.append(row)
            continue
        try:
            if mapping.kind is Kind.VOTES:
                found.votes.append(_vote(row, mapping, words, seen))
            else:
                for rating in _ratings(row, mapping, seen):
                    found.ratings.setdefault(rating.dimension, []).append(rating)
        except FieldFault as fault:
            found.rejected.append(row.rejected(str(fault)))
    return found


def games_of(votes: Iterable[Vote]) -> Games:
    """Return votes as games, each of an item and an annotator, in the order of the items."""
    votes = sorted(votes, key=lambda vote: (vote.item, vote.annotator, vote.bots, vote.outcome))
    bots = sorted({bot for vote in votes for bot in vote.bots})
    return Games(
        bots=tuple(bots),
        first=_codes((vote.bots[0] for vote in votes), bots),
        second=_codes((vote.bots[1] for vote in votes), bots),
        outcome=np.array([vote.outcome for vote in votes], dtype=np.int64),
        conversation=_codes((vote.item for vote in votes), sorted({vote.item for vote in votes})),
        annotator=_codes((vote.annotator for vote in votes), sorted({vote.annotator for vote in votes})),
        unit=Unit.ANNOTATION,
        criterion="vote",
    )


def ratings_of(ratings: Iterable[Rating]) -> Ratings:
    """Return ratings of one dimension as columns, in the order of the items."""
    ratings = sorted(ratings)
    bots = sorted({rating.bot for rating in ratings})
    return Ratings(
        bots=tuple(bots),
        bot=_codes((rating.bot for rating in ratings), bots),
        item=_codes((rating.item for rating in ratings), sorted({rating.item for rating in ratings})),
        annotator=_codes((rating.annotator for rating in ratings), sorted({rating.annotator for rating in ratings})),
        value=np.array([rating.value for rating in ratings], dtype=np.float64),
    )


def _codes(values: Iterable[str], names: Iterable[str]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    code = {name: at for at, name in enumerate(names)}
    return np.fromiter((code[value] for value in values), dtype=np.int64)


def _vote(row: TableRow, mapping: ColumnMapping, words: ValueWords, seen: set[_Key]) -> Vote:
    item, annotator = (_cell(row, mapping, name) for name in ("conversation", "annotator"))
    first, second = (_cell(row, mapping, name) for name in ("side_a", "side_b"))
    if first == second:
        raise FieldFault(reason=f"{shown(first)} stands against itself")
    winner = _cell(row, mapping, "winner")
    preference = words.preference(winner, (first, second))
    if preference is None:
        raise FieldFault(reason=f"its winner '{shown(winner)}' is neither a side nor a tie")
    turn = row.cells.get(mapping.columns.get("turn", ""), "")
    _require_new((item, annotator, *sorted((first, second)), turn), annotator, seen)
    return Vote(item, (first, second), annotator, _LEAD[preference])


def _ratings(row: TableRow, mapping: ColumnMapping, seen: set[_Key]) -> list[Rating]:
    """Return the rating of a row, or those of all dimensions that have a column; one fault rejects the row."""
    item, bot, annotator = (_cell(row, mapping, name) for name in ("conversation", "bot", "annotator"))
    one = _cell(row, mapping, "dimension") if "dimension" in mapping.columns else ONE_DIMENSION
    fields = {name: name.removeprefix(VALUE_OF) for name in mapping.columns if name.startswith(VALUE_OF)}
    if "value" in mapping.columns:
        fields["value"] = one
    ratings = []
    for name, dimension in fields.items():
        value = _cell(row, mapping, name)
        number = number_of(value)
        if number is None:
            raise FieldFault(reason=f"its {shown(name)} '{shown(value)}' is no number")
        ratings.append(Rating(item, bot, annotator, dimension, number))
    for rating in ratings:
        _require_new((item, bot, annotator, rating.dimension), annotator, seen)
    return ratings


def _cell(row: TableRow, mapping: ColumnMapping, name: str) -> str:
    value = row.cells.get(mapping.columns[name], "")
    if not value:
        raise FieldFault(reason=f"it names no {name}")
    if name in _OF_BOTS and (fault := fault_of_name(value)) is not None:
        raise FieldFault(reason=f"its {name} {value!a} {fault}")
    return value


def _require_new(key: _Key, annotator: str, seen: set[_Key]) -> None:
    if key in seen:
        raise FieldFault(reason=f"annotator {shown(annotator)} said of this before")
    seen.add(key)
