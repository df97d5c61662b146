"""The report's table of agreement within each workforce and period, where a task has more than one of either."""

from spotthebot.analytics.figures.labels import percent
from spotthebot.contracts.analytics.workforces import WorkforceAgreementsOut
from spotthebot.local.report.table import Column, Table, interval

_ONE_WORKFORCE = 2
"""The rows of a task whose annotators are one workforce: all of them, and the workforce."""


def workforce_tables(found: WorkforceAgreementsOut | None) -> tuple[Table, ...]:
    """Return the table of agreement by workforce; none if no task has several workforces or periods."""
    if found is None:
        return ()
    tasks = [each.task for each in found.workforces]
    shown = [each for each in found.workforces if tasks.count(each.task) > _ONE_WORKFORCE]
    if not shown:
        return ()
    level = percent(found.confidence_level)
    table = Table(
        key="workforces",
        title="Agreement by workforce",
        caption="Krippendorff's alpha among annotators who came by one frontend and one shared link, in one period,"
        f" with its {level} interval, and the number of units that two or more of them rated. “All labels” is one alpha"
        " of all measures together, each measure of each unit as a unit. Compare Table 8 of ABC-Eval.",
        columns=(
            Column("task", "Task"),
            Column("period", "Period"),
            Column("frontend", "Frontend"),
            Column("link", "Shared link"),
            Column("conversations", "Dialogues"),
            Column("annotators", "Annotators"),
            Column("measure", "Measure"),
            Column("alpha", "Alpha"),
            *interval(),
            Column("n", "Compared"),
        ),
        rows=tuple(
            (
                each.task,
                each.period,
                "all" if each.frontend is None else each.frontend or "import",
                None if each.link is None else str(each.link),
                each.conversations,
                each.annotators,
                measure,
                alpha.estimate,
                alpha.low,
                alpha.high,
                alpha.n,
            )
            for each in shown
            for measure, alpha in (
                ("all labels", each.alpha),
                *((of.measure, of.alpha) for of in each.measures if of.values),
            )
        ),
    )
    return (table,)
