"""Prints the assessment of the measures of a table or a study: which of them are reliable."""

from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

from spotthebot.cli.results.figures import number
from spotthebot.cli.results.tables import Table as Printed
from spotthebot.contracts.analytics.assessments import AssessedMeasure, Assessment
from spotthebot.readers.files.cells import shown


def print_assessment(console: Console, found: Assessment) -> None:
    """Print the measures to keep, the figures of each measure, and the best set of measures of each size."""
    for sentence in found.sentences:
        console.print(sentence, markup=False, highlight=False)
    console.print(_measures_table(found))
    if found.stepwise:
        console.print(_stepwise_table(found))


def _measures_table(found: Assessment) -> Printed:
    levels = ", ".join(found.measures[0].pairs_told_apart)
    title = Text(f"Measures against {shown(found.outcome)}: R², and pairs of bots told apart at {levels}")
    columns = ("Measure", "n", "Alpha", "R²", "p", "Pairs", "As published", "Minutes")
    table = Printed(*columns, title=title)
    for measure in found.measures:
        table.add_row(
            Text(shown(measure.name)),
            str(measure.n),
            _alpha(measure),
            number(measure.r2),
            "-" if measure.p_value is None else f"{measure.p_value:.2g}",
            _counts(measure.pairs_told_apart),
            "-" if measure.published is None else _counts(measure.published.pairs_told_apart),
            number(measure.minutes),
        )
    reasons = [f"{shown(each.name)}: {each.reason}" for each in found.measures if each.reason]
    table.caption = Text("\n".join([*dict.fromkeys(each.method for each in found.measures), *reasons]))
    return table


def _stepwise_table(found: Assessment) -> Printed:
    table = Printed("Measures", "R²", "Adjusted", "Found without", title=Text("The best set of each size"))
    for step in found.stepwise:
        removed = "-" if step.removed is None else shown(step.removed)
        adjusted = number(step.adjusted_r2)
        table.add_row(str(len(step.left)), number(step.r2), adjusted, Text(removed))
    table.caption = Text(f"{found.stepwise_method}, {found.stepwise_n} with all measures")
    return table


def _alpha(measure: AssessedMeasure) -> str:
    alpha = measure.alpha
    bounds = "" if alpha.low is None or alpha.high is None else f"\n{alpha.low:z.2f} to {alpha.high:z.2f}"
    return f"{number(alpha.estimate)}{bounds}"


def _counts(pairs: Mapping[str, int | None]) -> str:
    return ", ".join("-" if each is None else str(each) for each in pairs.values())
