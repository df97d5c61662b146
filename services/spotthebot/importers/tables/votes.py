"""Reads votes between two bots: a row is one game, or two games with exchanged sides."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from spotthebot.contracts.annotation.annotations import LEADS
from spotthebot.importers.tables.comparisons import CellReader, Comparisons, Reading, Vote
from spotthebot.importers.tables.winners import Ballot, Winners
from spotthebot.readers.files.cells import TableRow, shown
from spotthebot.readers.files.rows import Table
from spotthebot.readers.meanings.columns import ColumnMapping, Kind
from spotthebot.readers.meanings.texts import Texts
from spotthebot.readers.meanings.values import code_of
from spotthebot.readers.rejected import FieldFault, Rejected

_OUTCOMES: Final = {"winner_a": "model_a", "winner_b": "model_b", "winner_tie": "tie"}
"""The columns of outcomes, with each outcome's word for the winner."""
_YES: Final = frozenset({"1", "true", "yes", "y", "x", "t"})
_NO: Final = frozenset({"0", "false", "no", "n", "", "f"})


class Position(NamedTuple):
    """Counts of decided votes, wins of the first bot, pairs of votes in both orders, and pairs won by one side."""

    decided: int
    first_won: int
    both_orders: int
    same_side: int


def read_votes(table: Table, mapping: ColumnMapping, reading: Reading) -> Comparisons:
    """Read votes; if an annotator votes twice on an item with the same bots in the same order, the first vote counts.

    Raises the errors of ambiguous winners.
    """
    names_items = "conversation" in mapping.columns
    found, ballots = Comparisons(reading, Texts(mapping.columns), names_items), list[Ballot]()
    cells = CellReader(mapping, found.kinds)
    for row in table.rows():
        if isinstance(row, Rejected):
            found.tally.reject(row)
            continue
        try:
            own = list(_ballots(row, cells, mapping.kind))
        except FieldFault as fault:
            found.tally.reject(row.rejected(str(fault), (cells.optional(row, side) for side in ("side_a", "side_b"))))
            continue
        ballots += own
        found.texts.add(own[0].item, row)
    column = mapping.columns.get("winner", "winner")
    found.winners = Winners(ballots, reading.words, column, reading.winners)
    for ballot in ballots:
        preference = found.winners.of(ballot)
        if preference is None:
            reason = f"its winner '{shown(ballot.winner)}' is neither a side nor a tie: say what it means with --values"
            found.tally.reject(ballot.row.rejected(reason, ballot.bots))
            continue
        found.tally.keep(ballot.bots)
        lead, bots = LEADS[preference], ballot.bots
        found.votes.append(
            Vote(ballot.item, bots[::-1], ballot.annotator, -lead, ballot.turn)
            if ballot.swapped
            else Vote(ballot.item, bots, ballot.annotator, lead, ballot.turn)
        )
    found.tally.rejected.sort(key=lambda row: (row.file, row.line))
    return found


def position_of(votes: list[Vote]) -> Position:
    """Count how often the first bot won, and how often the same side won if annotators voted in both orders."""
    decided = [vote for vote in votes if vote.outcome]
    pairs: dict[tuple[str, ...], list[Vote]] = {}
    for vote in decided:
        pairs.setdefault((vote.item, vote.annotator, vote.turn, *sorted(vote.bots)), []).append(vote)
    both = [two for two in pairs.values() if len(two) == 2 and two[0].bots == two[1].bots[::-1]]
    return Position(
        decided=len(decided),
        first_won=sum(vote.outcome > 0 for vote in decided),
        both_orders=len(both),
        same_side=sum(one.outcome == other.outcome for one, other in both),
    )


def _ballots(row: TableRow, cells: CellReader, kind: Kind) -> Iterator[Ballot]:
    item, annotator = cells.item(row), cells.annotator(row)
    bots = cells.cell(row, "side_a"), cells.cell(row, "side_b")
    if bots[0] == bots[1]:
        raise FieldFault(reason=f"both sides are {shown(bots[0])}: a comparison needs two bots")
    turn = cells.optional(row, "turn")
    winner = _outcome(row, cells) if kind is Kind.OUTCOMES else _winner(row, cells, "winner")
    cells.require_new(annotator, item, *bots, turn)
    place = replace(row, cells={})
    yield Ballot(place, item, bots, annotator, winner, turn, swapped=False)
    if "winner_swapped" in cells.columns:
        winner = _winner(row, cells, "winner_swapped")
        cells.require_new(annotator, item, *bots[::-1], turn)
        yield Ballot(place, item, bots, annotator, winner, turn, swapped=True)


def _winner(row: TableRow, cells: CellReader, name: str) -> str:
    value = row.composed(cells.columns[name])
    if not value:
        raise FieldFault(reason=f"it names no {name}")
    return value


def _outcome(row: TableRow, cells: CellReader) -> str:
    """Return the word for the outcome that a row marks: each outcome has a column, and one column says yes."""
    said = {}
    for name in _OUTCOMES:
        value = code_of(cells.optional(row, name))
        if value not in _YES | _NO:
            raise FieldFault(reason=f"its {name} '{shown(value)}' is neither 1 nor 0")
        said[name] = value in _YES
    yes = [word for name, word in _OUTCOMES.items() if said[name]]
    if len(yes) != 1:
        reason = "none of its outcomes is 1: name the column of ties with --map winner_tie=COLUMN" if not yes else None
        raise FieldFault(reason=reason or f"more than one of its outcomes is 1: {', '.join(yes)}")
    return yes[0]
