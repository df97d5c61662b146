"""The report's tables of mixed models, which papers print: effects of bots, differences, and standard deviations."""

from collections.abc import Mapping, Sequence

from spotthebot.analytics.figures.labels import percent
from spotthebot.contracts.analytics.mixed_models import BotEffect, EffectDifference, MixedModel
from spotthebot.local.report.table import Column, Table, by_speaker, interval, p_value

NOT_INFERENCE = (
    "A published form: it is not the suite's inference, and no rank is based on it. It tells too many bots apart if"
    " annotators differ in their taste for bots."
)
_NUMBERS = (Column("standard_error", "Standard error"), *interval())
_REASON = Column("reason", "Why numbers are missing")


def mixed_model_tables(
    models: Mapping[str, MixedModel], bots: Sequence[str], confidence_level: float
) -> tuple[Table, ...]:
    """Return the tables that have rows; `bots` is the order of bots in all of them.

    `models` has the fits by the names of their measures.
    """
    places, level = {name: at for at, name in enumerate(bots)}, percent(confidence_level)
    methods = "; ".join(dict.fromkeys(each.method for each in models.values() if each.reason is None))
    fitted = f" {methods[:1].upper()}{methods[1:]}." if methods else ""
    effects = Table(
        key="mixed_models",
        title="Mixed models",
        caption=f"{NOT_INFERENCE}{fitted} Intervals are at {level}.",
        columns=(
            Column("measure", "Measure"),
            Column("bot", "Bot"),
            Column("estimate", "Effect"),
            *_NUMBERS,
            Column("n", "Values"),
            _REASON,
        ),
        rows=tuple(
            (name, each.bot, *_numbers(each), each.n, each.reason) for name, fit in models.items() for each in fit.bots
        ),
    )
    pairs = Table(
        key="mixed_model_pairs",
        title="Pairs by mixed models",
        caption=f"The effect of the bot less that of the other, with Wald's z test. {NOT_INFERENCE}",
        columns=(
            Column("measure", "Measure"),
            Column("bot", "Bot"),
            Column("other", "Against"),
            Column("estimate", "Difference"),
            *_NUMBERS,
            p_value("p_value", "p"),
            p_value("p_adjusted", "p adjusted"),
            Column("n", "Values"),
            _REASON,
        ),
        rows=tuple(
            (name, each.bot, each.other, *_numbers(each), each.p_value, each.p_adjusted, each.n, each.reason)
            for name, fit in models.items()
            for each in fit.pairs
        ),
    )
    deviations = Table(
        key="mixed_model_deviations",
        title="Standard deviations of mixed models",
        caption="Of the random intercepts of dialogues and annotators, and of the residuals.",
        columns=(
            Column("measure", "Measure"),
            Column("grouping", "Of"),
            Column("standard_deviation", "Deviation"),
            Column("n_groups", "Groups"),
            Column("reason", "Note"),
        ),
        rows=tuple(
            (name, each.grouping, each.standard_deviation, each.n_groups, each.reason)
            for name, fit in models.items()
            for each in fit.components
        ),
    )
    found = (effects, pairs, deviations)
    return tuple(by_speaker(_without_empty(table), places) for table in found if table.rows)


def _numbers(each: BotEffect | EffectDifference) -> tuple[float | None, ...]:
    return each.estimate, each.standard_error, each.low, each.high


def _without_empty(table: Table) -> Table:
    """Leave out the last column, of reasons, if it is empty."""
    if any(row[-1] is not None for row in table.rows):
        return table
    return Table(table.key, table.title, table.caption, table.columns[:-1], tuple(row[:-1] for row in table.rows))
