"""The report's tables of agreement, annotators and their time."""

from collections.abc import Iterator

from spotthebot.contracts.analytics.annotation_quality import Coefficient
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.local.report.table import Cell, Column, Table, interval


def annotation_quality_tables(analysis: Analysis, level: str) -> Iterator[Table]:
    """Return the tables in the report's order; `level` is the confidence level in words."""
    agreement, annotators, time = analysis.agreement, analysis.annotators, analysis.time
    yield Table(
        key="agreement",
        title="Agreement on each label",
        caption=f"Share of labels that the other of two annotators gave too, with {level} intervals.",
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
        ),
    )
    yield Table(
        key="coefficients",
        title="Agreement beyond chance",
        caption=f"Over both sides of all segments, with {level} intervals. Two sides vary together if they are of one"
        " conversation or share an annotator.",
        columns=(
            Column("coefficient", "Coefficient"),
            Column("estimate", "Estimate"),
            *interval(),
            Column("n", "Units"),
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
        " Who calls bots bots is right: the weak are chosen by outcome, and the rows tell what rests on them.",
        columns=(
            Column("threshold", "Threshold", 2),
            Column("annotators", "Annotators"),
            Column("annotations", "Annotations"),
            Column("kendall_tau", "Kendall's tau"),
            Column("moved", "Other ranks or cluster"),
        ),
        rows=tuple(
            (each.threshold, each.annotators, each.annotations, each.kendall_tau, ", ".join(each.moved) or "none")
            for each in annotators.without_weak
        ),
    )
    yield Table(
        key="time",
        title="Seconds per annotation",
        caption=f"Median by the number of exchanges seen. {time.rule[:1].upper()}{time.rule[1:]}.",
        columns=(
            Column("exchanges", "Exchanges"),
            Column("n", "Annotations"),
            Column("median_seconds", "Median seconds", 1),
        ),
        rows=(
            *((str(each.exchanges), each.n, each.median_seconds) for each in time.segments),
            ("all", time.n, time.median_seconds),
        )
        if time.n
        else (),
    )


def _coefficient(name: str, found: Coefficient) -> tuple[Cell, ...]:
    return (name, found.estimate, found.low, found.high, found.n)
