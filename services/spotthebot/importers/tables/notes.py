"""A few sentences on how a table was read, so that a misread column is noticed before the ranking."""

from collections import Counter
from collections.abc import Iterator

from spotthebot.importers.tables.comparisons import Comparisons
from spotthebot.importers.tables.votes import position_of
from spotthebot.readers.files.cells import shown
from spotthebot.readers.files.numbers import ANY_NUMBER, plain_number


def notes_of(found: Comparisons) -> list[str]:
    """Return sentences on how winners and numbers were read, whether positions decide votes, and missing columns."""
    if not found.votes and not found.ratings:
        return []
    notes = [*_of_votes(found), *_of_ratings(found)]
    rows = "vote" if found.winners else "rating"
    if not found.names_items:
        notes.append(
            "No column says conversation: each vote counts as one of another conversation, so intervals are too narrow"
            " where some are of one. --map conversation=COLUMN names the column."
        )
    match sorted(found.annotators):
        case []:
            notes.append(
                f"No column says annotator: each {rows} counts as one of another person, so intervals are too narrow"
                " where some people gave many. --map annotator=COLUMN names the column."
            )
        case [one]:
            notes.append(
                f"All {rows}s are of one annotator, '{shown(one)}': intervals hold for other items and this annotator."
            )
    programs = Counter(kind for name, kind in found.kinds.programs.items() if name in found.annotators)
    if programs:
        kinds = " and ".join(f"{number} {kind}" for kind, number in sorted(programs.items()))
        notes.append(f"Programs are among the annotators ({kinds}): what they say tells nothing of people.")
    return notes


def _of_votes(found: Comparisons) -> Iterator[str]:
    if found.winners is None:
        return
    yield f"Winners: {found.winners.summary}."
    position = position_of(found.votes)
    if position.decided:
        share = position.first_won / position.decided
        yield f"The bot on the first side won {position.first_won} of {position.decided} decided votes ({share:.0%})."
    if position.both_orders:
        yield (
            f"Of {position.both_orders} pairs that were voted on in both orders and decided twice, {position.same_side}"
            " went to the same side both times, which is position bias; each order counts as a game."
        )


def _of_ratings(found: Comparisons) -> Iterator[str]:
    for dimension, ratings in sorted(found.ratings.items()):
        values = [rating.value for rating in ratings]
        without = found.missing.get(dimension, 0)
        yield (
            f"{shown(dimension)}: {len(values)} ratings, lowest {plain_number(min(values))}, highest"
            f" {plain_number(max(values))}{f'; {without} rows have none' if without else ''}."
        )
    items, texts = len(found.clusters), len({*found.clusters.values()})
    if found.ratings and texts < items:
        repeats = "item repeats" if items - texts == 1 else "items repeat"
        yield f"{items - texts} of {items} {repeats} another one's text: as clusters they count as {texts}."
    if found.ratings:
        yield (
            f"Scale: {found.reading.scale}, other values do not count, and intervals stay on it."
            if found.reading.scale is not ANY_NUMBER
            else "Scale: none was given, so all values count; --scale LOWEST:HIGHEST limits values and intervals."
        )
    marks = {form.decimal for form in found.numbers.values()}
    if "," in marks:
        yield "Numbers have a decimal comma."
