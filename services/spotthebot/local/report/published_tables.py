"""The report's tables of results in the forms that ABC-Eval prints, next to the suite's own intervals."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from spotthebot.contracts.analytics.measures import MeasureOut, MeasuresOut, PublishedForm, PublishedInterval
from spotthebot.local.report.table import Cell, Column, Table, interval

FORMS: Final = "published"
"""The key of the table of all bots and measures."""
PAIRS: Final = "published_pairs"
"""The key of the table of the pairs by the headline, if it is a preference."""
_OPTIONAL: Final = ("tie", "loss", "mean_of_means", "reason")
"""How the names of optional columns begin."""


def published_tables(headline: MeasureOut, every: MeasuresOut, level: str) -> Iterator[Table]:
    """Yield the table of all bots by every measure, and the table of the headline's pairs. A table may have no rows."""
    bots = [(each.measure, bot.bot, bot.published) for each in every.measures for bot in each.bots]
    pairs = [(each.bot, each.other, each.published) for each in headline.pairs if each.published]
    yield _table(
        FORMS,
        "Published forms",
        f"{_words(form for *_, form in bots)} Intervals are at {level}. They are too narrow if values of one dialogue"
        " or of one annotator vary together.",
        (Column("measure", "Measure"), Column("bot", "Speaker")),
        bots,
    )
    yield _table(
        PAIRS,
        f"Published form of pairs by {headline.measure}",
        f"{_words(form for *_, form in pairs)} Intervals are at {level}.",
        (Column("bot", "Bot"), Column("other", "Against")),
        pairs,
    )


def _words(forms: Iterable[PublishedForm]) -> str:
    """Return the methods of the forms as sentences, each once."""
    return " ".join(f"{method[:1].upper()}{method[1:]}." for method in dict.fromkeys(form.method for form in forms))


def _table(
    key: str, title: str, caption: str, names: tuple[Column, ...], results: Sequence[tuple[str, str, PublishedForm]]
) -> Table:
    """Return a table of results, without the optional columns that are empty."""
    columns = (
        *names,
        Column("estimate", "Won" if all(form.tie for *_, form in results) else "Estimate"),
        *interval(),
        *(Column("tie", "Tied"), *interval("tie_"), Column("loss", "Lost"), *interval("loss_")),
        Column("mean_of_means", "Mean of dialogues' means"),
        Column("n", "Values"),
        Column("reason", "Why numbers are missing"),
    )
    rows: list[tuple[Cell, ...]] = [
        (*named, *_bounds(form), *_bounds(form.tie), *_bounds(form.loss), form.mean_of_means, form.n, form.reason)
        for *named, form in results
    ]
    kept = [
        at
        for at, column in enumerate(columns)
        if not column.name.startswith(_OPTIONAL) or any(row[at] is not None for row in rows)
    ]
    shown = tuple(tuple(row[at] for at in kept) for row in rows)
    return Table(key, title, caption, tuple(columns[at] for at in kept), shown)


def _bounds(found: PublishedInterval | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if found is None else (found.estimate, found.low, found.high)
