"""The tables of survival: how long bots stay unspotted, and which features shorten that time."""

from collections.abc import Iterator

from spotthebot.analytics.stats import Clusters
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.contracts.analytics.survival import Survival
from spotthebot.local.report.findings import adjustment_words
from spotthebot.local.report.table import Column, Table, interval, p_value


def survival_tables(analysis: Analysis, level: str) -> Iterator[Table]:
    """Yield the curves, the tests of each pair and the effects of the features; `level` is that of the intervals."""
    survival = analysis.survival
    yield Table(
        key="survival",
        title="Share not yet spotted as a bot",
        caption=f"{survival.method}; {level} intervals, {Clusters(analysis.clusters).words}.",
        columns=(
            Column("bot", "Speaker"),
            Column("exchanges", "Exchanges"),
            Column("survival", "Not spotted"),
            *interval(),
            Column("inspected", "Inspected"),
            Column("spotted", "Spotted"),
        ),
        rows=tuple(
            (curve.bot, *point)
            for curve in survival.curves
            for point in zip(
                survival.times, curve.survival, curve.low, curve.high, curve.inspected, curve.spotted, strict=True
            )
        ),
    )
    yield Table(
        key="log_rank",
        title="Which curves differ",
        caption=f"{_log_rank_caption(survival)} {adjustment_words(analysis.correction)}".rstrip(),
        columns=(
            Column("bot", "Speaker"),
            Column("other", "Against"),
            Column("statistic", "Statistic", 2),
            Column("degrees_of_freedom", "df", 1),
            p_value("p_value", "p"),
            p_value("p_adjusted", "p adjusted"),
            Column("significant", "Significant"),
            Column("family", "Family"),
        ),
        rows=tuple(
            (
                test.bot,
                test.other,
                test.statistic,
                test.uncertainty.degrees_of_freedom,
                test.p_value,
                test.p_adjusted,
                test.significant,
                test.family,
            )
            for test in survival.log_rank
        ),
    )
    yield Table(
        key="cox",
        title="What gives a speaker away",
        caption=f"Cox coefficients of being spotted with {level} Wald intervals; below 0 the feature protects."
        f" {_cox_words(survival)}",
        columns=(
            Column("bot", "Speaker"),
            Column("feature", "Feature"),
            Column("coefficient", "Coefficient"),
            Column("standard_error", "SE"),
            *interval(),
            p_value("p_value", "p"),
            Column("degrees_of_freedom", "df", 1),
            Column("model_standard_error", "SE of the model"),
        ),
        rows=tuple(
            (
                each.bot,
                each.feature,
                each.coefficient,
                each.standard_error,
                each.low,
                each.high,
                each.p_value,
                each.uncertainty.degrees_of_freedom,
                each.model_standard_error,
            )
            for each in survival.cox
        )
        if any(each.coefficient is not None for each in survival.cox)
        else (),
    )


def _log_rank_caption(survival: Survival) -> str:
    if not survival.log_rank:
        return "Generalized log-rank test of each pair."
    test = survival.log_rank[0]
    families = {each.family: each.family_size for each in survival.log_rank}
    sizes = "; ".join(f"{family} ({_tests(size)})" for family, size in families.items())
    words = Clusters(test.uncertainty.clusters).words
    return f"{test.method[:1].upper()}{test.method[1:]}, {words}. Families of tests: {sizes}."


def _tests(size: int) -> str:
    return "1 test" if size == 1 else f"{size:,} tests"


def _cox_words(survival: Survival) -> str:
    words = {Clusters(each.uncertainty.clusters).words for each in survival.cox if each.standard_error is not None}
    return f"Standard errors: {', '.join(sorted(words))}." if words else ""
