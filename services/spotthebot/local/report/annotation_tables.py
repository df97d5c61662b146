"""The report's tables of agreement, annotators and their time."""

from collections.abc import Iterator
from typing import Final

from spotthebot.analytics.figures.labels import set_of_ranks
from spotthebot.contracts.analytics.annotation_quality import Coefficient
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.contracts.analytics.sensitivity import OtherRanking
from spotthebot.local.report.table import Cell, Column, Table, interval
from spotthebot.statistics.uncertainty import Clusters

OTHER_RANKING: Final = (Column("order", "Best first"), Column("ranks", "Ranks"))
"""The columns of another ranking, which a table compares with the ranking of the results."""
_LEFT_OUT: Final = "segments without exactly two annotations by different annotators, judges included, are left out"


def annotation_quality_tables(analysis: Analysis, level: str) -> Iterator[Table]:
    """Return the tables in the report's order; `level` is the confidence level in words."""
    agreement, annotators, time = analysis.agreement, analysis.annotators, analysis.time
    has_pairs = any(each.total for each in agreement.labels)
    yield Table(
        key="agreement",
        title="Agreement on each label",
        caption=f"Share of labels that the other of two annotators gave too, with {level} intervals; {_LEFT_OUT}.",
        columns=(
            Column("bot", "Speaker"),
            Column("label", "Label"),
            Column("exchanges", "Exchanges"),
            Column("agree", "Agree"),
            Column("total", "Labels"),
            Column("rate", "Rate"),
            *interval(),
        ),
        rows=tuple(
            (each.bot, each.label, exchanges, each.agree, each.total, each.rate, each.low, each.high)
            for exchanges, each in (
                *(("all", each) for each in agreement.labels),
                *((str(each.exchanges), each) for each in agreement.by_length),
            )
        )
        if has_pairs
        else (),
    )
    yield Table(
        key="coefficients",
        title="Agreement beyond chance",
        caption=f"Over both sides of all segments, with {level} intervals, {Clusters(analysis.clusters).words}."
        f"{'' if has_pairs else f' There is no table of agreement on each label: {_LEFT_OUT}.'}",
        columns=(
            Column("coefficient", "Coefficient"),
            Column("estimate", "Estimate"),
            *interval(),
            Column("n", "Sides"),
        ),
        rows=tuple(
            _coefficient(name, found)
            for name, found in (
                ("Krippendorff's alpha, ordinal", agreement.alpha_interval),
                ("Krippendorff's alpha, nominal", agreement.alpha_nominal),
                ("Fleiss' kappa", agreement.fleiss_kappa),
            )
        ),
    )
    yield Table(
        key="annotators",
        title="Annotators",
        caption="Share of right labels, unsure left out; agreement with the majority of the others.",
        columns=(
            Column("annotator", "Annotator"),
            Column("n", "Annotations"),
            Column("correctness", "Correctness"),
            Column("human_correctness", "On humans"),
            Column("majority_agreement", "Like the majority"),
        ),
        rows=tuple(
            (each.annotator, each.n, each.correctness, each.human_correctness, each.majority_agreement)
            for each in annotators.annotators
        ),
    )
    yield Table(
        key="without_weak",
        title="The ranking without weak annotators",
        caption="Annotators who are right less often than the threshold are left out; tau compares the orders, and the"
        " last column has the bots whose range of ranks or cluster changes."
        " Who calls bots bots is right: the weak are chosen by outcome, and the rows tell what rests on them. Ranks"
        " are those of the bots in the order before them.",
        columns=(
            Column("threshold", "Threshold", 2),
            Column("annotators", "Annotators"),
            Column("annotations", "Annotations"),
            *OTHER_RANKING,
            Column("kendall_tau", "Kendall's tau"),
            Column("moved", "Other ranks or cluster"),
        ),
        rows=tuple(
            (
                each.threshold,
                each.annotators,
                each.annotations,
                *other_ranking(each),
                each.kendall_tau,
                ", ".join(each.moved) or "none",
            )
            for each in annotators.without_weak
        ),
    )
    yield Table(
        key="time",
        title="Seconds per annotation",
        caption=f"Median by the number of exchanges seen, and of all with its {level} interval."
        f" {time.rule[:1].upper()}{time.rule[1:]}.",
        columns=(
            Column("exchanges", "Exchanges"),
            Column("n", "Annotations"),
            Column("median_seconds", "Median seconds", 1),
            *interval(digits=1),
        ),
        rows=(
            *((str(each.exchanges), each.n, each.median_seconds, None, None) for each in time.segments),
            ("all", time.n, time.median_seconds, time.low, time.high),
        )
        if time.n
        else (),
    )


def other_ranking(found: OtherRanking) -> tuple[str, str]:
    """Return the cells of `OTHER_RANKING`: the bots, best first, and their ranks, or why there are none."""
    order = ", ".join(found.order) or "none"
    ranks = {*zip(found.rank_low, found.rank_high, strict=True)}
    if found.reason is not None and len(ranks) < 2:
        return order, f"none: {found.reason}"
    return order, ", ".join(map(set_of_ranks, found.rank_low, found.rank_high)) or "none: no game was decided"


def _coefficient(name: str, found: Coefficient) -> tuple[Cell, ...]:
    return (name, found.estimate, found.low, found.high, found.n)
