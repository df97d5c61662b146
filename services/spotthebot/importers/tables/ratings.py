"""Reads ratings of single bots: a row for each rating, or a column for each dimension or for each bot."""

from collections.abc import Mapping, Sequence
from typing import Final

from spotthebot.importers.tables.comparisons import CellReader, Comparisons, Rating, Reading
from spotthebot.importers.tables.errors import MissingCoded
from spotthebot.readers.files.cells import TableRow, is_missing, shown
from spotthebot.readers.files.numbers import ANY_NUMBER, Numbers, plain_number
from spotthebot.readers.files.rows import Table
from spotthebot.readers.meanings.columns import ColumnMapping
from spotthebot.readers.meanings.texts import Texts
from spotthebot.readers.rejected import FieldFault, Rejected

ONE_DIMENSION: Final = "rating"
"""The dimension of a table that names none."""
_CODES: Final = frozenset(
    {-1, -2, -7, -8, -9, 8, 9}
    | {sign * int(digit * length) for sign in (1, -1) for digit in "789" for length in range(2, 6)}
    | {sign * (10**length - less) for sign in (1, -1) for length in range(2, 6) for less in (2, 3)}
)
"""The usual codes for a missing value: -1, 9 and the like, equal digits such as 77 and -888, and 97, 998 and so on."""
_NAMED: Final = frozenset({"annotator", "dimension"})
"""Columns of a table in which some dimensions may have annotators, and others none."""
_FEWEST_OTHERS: Final = 3
_FEWEST_BESIDE_FAR_CODE: Final = 2
_NEAR: Final = range(-6, 10)
"""Codes that may be values of a scale, so that more other values are needed to tell."""
_APART: Final = 2
"""Neighbours on a scale are less apart than a code and the scale."""
_SIGNED_SCALE = 2
"""A scale that begins at -1 seldom exceeds this value."""


def read_ratings(table: Table, mapping: ColumnMapping, reading: Reading) -> Comparisons:
    """Read ratings; if an annotator rated a bot in an item twice in a dimension, the first rating counts.

    In a table with a column for each dimension, a row counts for the dimensions that it rates. A row must name an
    annotator if the table has a column for them, unless no row of its dimension names one.
    """
    found = Comparisons(reading, Texts(mapping.columns), names_pairs="pair" in mapping.columns)
    cells = CellReader(mapping, found.kinds)
    fields = [name for name in mapping.columns if name == "value" or name in {*cells.dimensions, *cells.bots}]
    found.numbers = {
        name: Numbers.of(
            (value for value in table.values_of(mapping.columns[name]) if not is_missing(value)), reading.decimal
        )
        for name in fields
    }
    unnamed: list[TableRow] = []
    for row in table.rows():
        if isinstance(row, Rejected):
            found.tally.reject(row)
        elif cells.columns.keys() >= _NAMED and not cells.optional(row, "annotator"):
            unnamed.append(row)
        else:
            _read_row(row, found, cells)
    dimensions = {cells.optional(row, "dimension") for row in unnamed}
    cells.without_annotators = dimensions - found.ratings.keys() if found.ratings else set()
    for row in unnamed:
        _read_row(row, found, cells)
    if reading.scale is ANY_NUMBER:
        for dimension, rated in found.ratings.items():
            _require_no_code(dimension, [rating.value for rating in rated])
    return found


def _read_row(row: TableRow, found: Comparisons, cells: CellReader) -> None:
    try:
        ratings = _ratings(row, cells, found.numbers, found.reading)
    except FieldFault as fault:
        found.tally.reject(row.rejected(str(fault), [cells.optional(row, "bot"), *cells.bots.values()]))
        return
    found.tally.keep(rating.bot for rating in ratings)
    found.texts.add(ratings[0].item, row)
    for rating in ratings:
        found.ratings.setdefault(rating.dimension, []).append(rating)
    for dimension in set(cells.dimensions.values()) - {rating.dimension for rating in ratings}:
        found.missing[dimension] = found.missing.get(dimension, 0) + 1


def _require_no_code(dimension: str, values: list[float]) -> None:
    """Raise MissingCoded if the lowest or the highest values look like codes, which would distort means."""
    different = sorted(set(values))
    below = _number_of_codes(different, lowest=True)
    above = _number_of_codes(different[below:], lowest=False)
    others = different[below : len(different) - above]
    codes = [value for value in different if value not in others]
    if codes:
        low, high = plain_number(others[0]), plain_number(others[-1])
        raise MissingCoded(
            dimension=shown(dimension),
            code=" and ".join(map(plain_number, codes)),
            count=sum(map(values.count, codes)),
            others=f"{low} to {high}",
            without=f"{low}:{high}",
            scale=f"{plain_number(different[0])}:{plain_number(different[-1])}",
        )


def _number_of_codes(different: Sequence[float], *, lowest: bool) -> int:
    """Return how many of the lowest or of the highest values are codes for missing ratings."""
    for count in range(len(different) - 1, 0, -1):
        codes, others = (different[:count], different[count:]) if lowest else (different[-count:], different[:-count])
        inner, outer = (codes[-1], codes[0]) if lowest else (codes[0], codes[-1])
        if all(code in _CODES and (code < 0) is lowest for code in codes) and _are_codes(inner, outer, others):
            return count
    return 0


def _are_codes(inner: float, outer: float, others: Sequence[float]) -> bool:
    """Return whether usual codes, from the innermost to the outermost, are codes beside the other values.

    They are apart from the others and reach beyond them by at least their range, or are negative. Negative numbers near
    the others are codes only if no other one is negative. FastChat writes -1 for an answer without a rating.
    """
    if len(others) < (_FEWEST_OTHERS if inner in _NEAR else _FEWEST_BESIDE_FAR_CODE):
        return False
    if inner < 0 <= others[0] and others[-1] > _SIGNED_SCALE:
        return True
    apart, reach = (max(others[0] - code, code - others[-1]) for code in (inner, outer))
    is_near = inner < 0 and inner in _NEAR
    return not is_near and apart >= _APART and reach >= others[-1] - others[0]


def _ratings(row: TableRow, cells: CellReader, numbers: Mapping[str, Numbers], reading: Reading) -> list[Rating]:
    """Return the ratings of a row, at least one. A cell that is neither empty nor a number rejects the row."""
    item, annotator = cells.cell(row, "conversation"), cells.annotator(row)
    bot = "" if cells.bots else cells.cell(row, "bot")
    one = cells.cell(row, "dimension") if "dimension" in cells.columns else ONE_DIMENSION
    fault = "it has no rating"
    turn, exchanges, pair = (cells.optional(row, name) for name in ("turn", "exchanges", "pair"))
    seconds = cells.seconds(row)
    ratings = []
    for name, form in numbers.items():
        value = row.cells.get(cells.columns[name], "")
        if name == "value" and not value:
            raise FieldFault(reason="it names no value")
        if name != "value" and is_missing(value):
            continue
        number = form.read(value)
        if number is None:
            raise FieldFault(reason=form.fault(shown(name), shown(value)))
        if number not in reading.scale:
            fault = f"its {shown(name)} '{shown(value)}' is outside the scale of {reading.scale}"
            continue
        rated, dimension = cells.bots.get(name, bot), cells.dimensions.get(name, one)
        ratings.append(Rating(item, rated, annotator, dimension, number, turn, seconds, exchanges, pair))
    if not ratings:
        raise FieldFault(reason=fault)
    for rating in ratings:
        cells.require_new(annotator, item, rating.bot, rating.dimension, turn, exchanges, pair)
    return ratings
