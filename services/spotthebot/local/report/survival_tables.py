"""The tables of survival: how long bots stay unspotted, and which features shorten that time."""

import math
from collections.abc import Iterator, Mapping
from typing import Final

from spotthebot.analytics.stats import Clusters
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.contracts.analytics.survival import Survival
from spotthebot.local.report.findings import adjustment_words
from spotthebot.local.report.table import Column, Table, interval, p_value


def survival_tables(analysis: Analysis, level: str) -> Iterator[Table]:
    """Yield the curves, the tests of each pair and the effects of the features; `level` is that of the intervals."""
    survival, places = analysis.survival, [each.name for each in analysis.speakers]
    yield Table(
        key="survival",
        title="Share not yet spotted as a bot",
        caption=f"{survival.method[:1].upper()}{survival.method[1:]}; {level} intervals,"
        f" {Clusters(analysis.clusters).words}.{_pooled_words(survival)}",
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
    has_degrees = any(each.uncertainty.degrees_of_freedom is not None for each in survival.log_rank)
    yield Table(
        key="log_rank",
        title="Which curves differ",
        caption=f"{_log_rank_caption(survival)} {_STATISTICS[has_degrees]}"
        f" {adjustment_words(analysis.correction)}".rstrip(),
        columns=(
            Column("bot", "Speaker"),
            Column("other", "Against"),
            Column("longer", "Passes longer"),
            Column("statistic", "F" if has_degrees else "Chi-squared", 2),
            *([Column("degrees_of_freedom", "df", 1)] if has_degrees else []),
            p_value("p_value", "p"),
            p_value("p_adjusted", "p adjusted"),
            Column("significant", "Significant"),
            Column("family", "Family"),
        ),
        rows=tuple(
            (
                *sorted((test.bot, test.other), key=places.index),
                (test.other if test.score > 0 else test.bot) if test.score else None,
                test.statistic,
                *([test.uncertainty.degrees_of_freedom] if has_degrees else []),
                test.p_value,
                test.p_adjusted,
                test.significant,
                test.family,
            )
            for test in survival.log_rank
        ),
    )
    has_model = any(each.model_standard_error != each.standard_error for each in survival.cox)
    yield Table(
        key="cox",
        title="What gives a speaker away",
        caption=f"Cox coefficients of being spotted with {level} intervals by Student's t with df degrees of freedom;"
        f" below 0 the feature protects.{_MODEL_ERRORS if has_model else ''}"
        f" {_cox_words(survival)}",
        columns=(
            Column("bot", "Speaker"),
            Column("feature", "Feature"),
            Column("coefficient", "Coefficient"),
            Column("standard_error", "SE"),
            *interval(),
            p_value("p_value", "p"),
            Column("degrees_of_freedom", "df", 1),
            *([Column("model_standard_error", "SE of the model")] if has_model else []),
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
                *([each.model_standard_error] if has_model else []),
            )
            for each in survival.cox
        )
        if any(each.coefficient is not None for each in survival.cox)
        else (),
    )


_STATISTICS: Final[Mapping[bool, str]] = {
    True: "F has 1 and df degrees of freedom.",
    False: "Chi-squared has 1 degree of freedom.",
}
_MODEL_ERRORS: Final = " SE of the model: from the likelihood, with annotations taken for independent."


def _pooled_words(survival: Survival) -> str:
    """Say that shares are pooled if any is not the share of its own length."""
    points = (
        (share, spotted, inspected)
        for curve in survival.curves
        for share, spotted, inspected in zip(curve.survival, curve.spotted, curve.inspected, strict=True)
        if share is not None
    )
    if all(math.isclose(share, 1 - spotted / inspected, abs_tol=1e-9) for share, spotted, inspected in points):
        return ""
    return " Shares are pooled over lengths where those of single lengths would rise, since curves never rise."


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
