"""Reads ratings of single bots: one in each row, or a column for each dimension or for each bot."""

from typing import Final

from spotthebot.importers.published_dump.fields import FieldFault
from spotthebot.importers.published_dump.records import Rejected
from spotthebot.importers.tables.cells import TableRow, is_missing, shown
from spotthebot.importers.tables.columns import ColumnMapping
from spotthebot.importers.tables.comparisons import CellReader, Comparisons, Rating, Reading
from spotthebot.importers.tables.errors import MissingCoded
from spotthebot.importers.tables.numbers import ANY_NUMBER, Numbers, plain_number
from spotthebot.importers.tables.rows import Table
from spotthebot.importers.tables.texts import Texts

ONE_DIMENSION: Final = "rating"
"""What the dimension of a table is called that names none."""
_CODES: Final = frozenset({-1, -8, -9, -88, -99, -999, -9999, 8, 9, 88, 99, 888, 999, 8888, 9999})
_FEWEST_OTHERS = 3
_SIGNED_SCALE = 2
"""A scale that begins at -1 seldom goes beyond this."""


def read_ratings(table: Table, mapping: ColumnMapping, reading: Reading) -> Comparisons:
    """Read ratings; of an annotator's about the same thing the first counts.

    A row with a column for each dimension counts for those of which it has a rating.
    """
    found, cells = Comparisons(reading, Texts(mapping.columns)), CellReader(mapping)
    fields = [name for name in mapping.columns if name == "value" or name in {*cells.dimensions, *cells.bots}]
    found.numbers = {
        name: Numbers.of(
            (value for value in table.values_of(mapping.columns[name]) if not is_missing(value)), reading.decimal
        )
        for name in fields
    }
    for row in table.rows():
        if isinstance(row, Rejected):
            found.tally.reject(row)
            continue
        try:
            ratings = _ratings(row, cells, found.numbers, reading)
        except FieldFault as fault:
            found.tally.reject(row.rejected(str(fault), [cells.optional(row, "bot"), *cells.bots.values()]))
            continue
        found.tally.keep(rating.bot for rating in ratings)
        found.texts.add(ratings[0].item, row)
        for rating in ratings:
            found.ratings.setdefault(rating.dimension, []).append(rating)
        for dimension in set(cells.dimensions.values()) - {rating.dimension for rating in ratings}:
            found.missing[dimension] = found.missing.get(dimension, 0) + 1
    if reading.scale is ANY_NUMBER:
        for dimension, rated in found.ratings.items():
            _require_no_code(dimension, [rating.value for rating in rated])
    return found


def _require_no_code(dimension: str, values: list[float]) -> None:
    """Raise MissingCoded where a value looks like a code for a missing rating, which would move the means.

    It is one of the numbers that are used so, and negative where no other is, or beyond the others by as much as they
    span. FastChat writes -1 for a model's answer that holds no rating.
    """
    different = sorted(set(values))
    lowest, highest = different[0], different[-1]
    for code, others in ((lowest, different[1:]), (highest, different[:-1])):
        if len(others) < _FEWEST_OTHERS or code not in _CODES:
            continue
        negative = code < 0 <= others[0] and others[-1] > _SIGNED_SCALE
        if negative or code - others[-1] >= others[-1] - others[0]:
            low, high = plain_number(others[0]), plain_number(others[-1])
            raise MissingCoded(
                dimension=shown(dimension),
                code=plain_number(code),
                count=values.count(code),
                others=f"{low} to {high}",
                without=f"{low}:{high}",
                scale=f"{plain_number(lowest)}:{plain_number(highest)}",
            )


def _ratings(row: TableRow, cells: CellReader, numbers: dict[str, Numbers], reading: Reading) -> list[Rating]:
    """Return the ratings of a row, at least one; a cell that is neither a number nor empty rejects the row."""
    item, annotator = cells.cell(row, "conversation"), cells.annotator(row)
    bot = "" if cells.bots else cells.cell(row, "bot")
    one = cells.cell(row, "dimension") if "dimension" in cells.columns else ONE_DIMENSION
    fault = "it has no rating"
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
        ratings.append(Rating(item, cells.bots.get(name, bot), annotator, cells.dimensions.get(name, one), number))
    if not ratings:
        raise FieldFault(reason=fault)
    turn = cells.optional(row, "turn")
    for rating in ratings:
        cells.require_new(annotator, item, rating.bot, rating.dimension, turn)
    return ratings
