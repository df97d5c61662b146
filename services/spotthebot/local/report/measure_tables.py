"""The report's tables of measures: the bots and the pairs of the headline, all means, and the bots of each measure.

The tables of `published_tables` have the same results in the forms that ABC-Eval prints.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from spotthebot.analytics.figures.labels import percent
from spotthebot.contracts.analytics.measures import MeasuredBot, MeasuredPair, MeasureOut, MeasureResult, MeasuresOut
from spotthebot.contracts.annotation.measures import MeasureKind
from spotthebot.local.report.findings import adjustment_words, rank_words
from spotthebot.local.report.published_tables import published_tables
from spotthebot.local.report.table import Column, Role, Table, by_speaker, interval, p_value

ESTIMATES: Final[Mapping[MeasureKind, str]] = {"scale": "Mean", "share": "Share", "preference": "Win rate"}
"""The heading of the column with a bot's estimate."""
_ESTIMATED: Final[Mapping[MeasureKind, str]] = {
    "scale": "Mean of all values",
    "share": "Share of all values",
    "preference": "Mean win rate over the opponents (Eq. 1)",
}


def measure_tables(headline: MeasureOut, every: MeasuresOut) -> tuple[Table, ...]:
    """Return the tables that have rows, in reading order; speakers have the same order in all."""
    places = {each.name: at for at, each in enumerate(every.speakers)}
    return tuple(by_speaker(table, places) for table in _tables(headline, every) if table.rows)


def table_key(measure: str) -> str:
    """Return the key of a measure's own table; a colon before a choice becomes a hyphen, which no name has.

    >>> table_key("behaviours:says_more")
    'measure_behaviours-says_more'
    """
    return f"measure_{measure.replace(':', '-')}"


def _tables(headline: MeasureOut, every: MeasuresOut) -> Iterator[Table]:
    level = percent(every.confidence_level)
    yield ranking_table(headline, headline.measure, level, headline.correction)
    yield pairs_table(headline, headline.measure, level)
    names, measures = [each.name for each in every.speakers], {each.measure: each for each in every.measures}
    yield means_table("measures", "All measures", names, measures, level)
    yield from published_tables(headline, every, level)
    for name, each in measures.items():
        if name != headline.measure:
            yield bots_table(table_key(name), f"By {name}", "", each, level)


def ranking_table(measure: MeasureResult, name: str, level: str, correction: str) -> Table:
    """Return the bots by a measure; `name` is what the report calls the measure, `level` the level of intervals."""
    words = f" Bots of one cluster share ranks, directly or through others. {rank_words(correction)}"
    return bots_table("ranking", f"Ranking by {name}", words, measure, level)


def bots_table(key: str, title: str, words: str, measure: MeasureResult, level: str) -> Table:
    """Return the bots by a measure with their intervals, ranks and numbers of values; `words` end the caption."""
    lower = " Lower is better: rank 1 has the lowest." if measure.better == "lower" else ""
    left_out = f" {measure.left_out:,} answers are of no single bot, or compare no two." if measure.left_out else ""
    table = Table(
        key=key,
        title=title,
        caption=f"“{measure.question}” {_ESTIMATED[measure.kind]}{_from_to(measure)}, with its"
        f" {level} interval, best and worst rank, and number of values.{lower}{words}{left_out}",
        columns=(
            Column("bot", "Speaker"),
            Column("cluster", "Cluster"),
            Column("estimate", ESTIMATES[measure.kind]),
            *interval(),
            Column("rank_low", "Best"),
            Column("rank_high", "Worst"),
            Column("n", "Values"),
        ),
        rows=tuple(
            (each.bot, each.cluster, each.estimate, each.low, each.high, each.rank_low, each.rank_high, each.n)
            for each in measure.bots
        ),
    )
    return _with_reasons(table, measure.bots)


def _from_to(measure: MeasureResult) -> str:
    return "" if measure.ends is None else f", from {measure.ends[0]:g} to {measure.ends[1]:g}"


def pairs_table(measure: MeasureOut, name: str, level: str) -> Table:
    """Return the difference of each pair of bots by a measure, with its test."""
    is_preference = measure.kind == "preference"
    compared = "The bot's share of the decided preferences" if is_preference else "The bot's mean less the other's"
    method = f"{measure.pairs_method[:1].upper()}{measure.pairs_method[1:]}"
    tests = sum(each.p_value is not None for each in measure.pairs)
    tested = f" {tests} tests are one family. {adjustment_words(measure.correction)}".rstrip() if tests else ""
    table = Table(
        key="pairs",
        title=f"Pairs by {name}",
        caption=f"{compared}, with {level} intervals. {method}.{tested}",
        columns=(
            Column("bot", "Bot"),
            Column("other", "Against"),
            Column("estimate", "Win rate" if is_preference else "Difference"),
            *interval(),
            p_value("p_value", "p"),
            p_value("p_adjusted", "p adjusted"),
            Column("significant", "Significant"),
            Column("n", "Values"),
        ),
        rows=tuple(
            (
                each.bot,
                each.other,
                each.estimate,
                each.low,
                each.high,
                each.p_value,
                each.p_adjusted,
                each.significant,
                each.n,
            )
            for each in measure.pairs
        ),
    )
    return _with_reasons(table, measure.pairs)


def means_table(key: str, title: str, bots: Sequence[str], measures: Mapping[str, MeasureResult], level: str) -> Table:
    """Return the estimate of each bot by each measure, and how far annotators agree by it."""
    return Table(
        key=key,
        title=title,
        caption="Each speaker's mean, share or mean win rate, and Krippendorff's alpha, by which annotators agree, with"
        f" its {level} interval.",
        columns=(
            Column("measure", "Measure"),
            *(Column(f"estimate_{bot}", bot, 2) for bot in bots),
            Column("alpha", "Alpha", 2),
            Column("alpha_low", "Low", 2, Role.LOW),
            Column("alpha_high", "High", 2, Role.HIGH),
            Column("n", "Values"),
        ),
        rows=tuple(
            (name, *_estimates(each, bots), each.alpha.estimate, each.alpha.low, each.alpha.high, each.n)
            for name, each in measures.items()
        ),
    )


def _estimates(measure: MeasureResult, names: Iterable[str]) -> Iterator[float | None]:
    found = {each.bot: each.estimate for each in measure.bots}
    return (found.get(name) for name in names)


def _with_reasons(table: Table, results: Sequence[MeasuredBot | MeasuredPair]) -> Table:
    """Add a column with the reasons for missing intervals, ranks and tests, if numbers are missing."""
    reasons = [each.reason for each in results]
    if not any(reasons):
        return table
    rows = tuple((*row, reason) for row, reason in zip(table.rows, reasons, strict=True))
    return replace(table, columns=(*table.columns, Column("reason", "Why numbers are missing")), rows=rows)
