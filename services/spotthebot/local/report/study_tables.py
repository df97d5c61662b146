"""The tables of a study's report: its tasks, the assessment of its measures, and the bots by every measure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from spotthebot.analytics.figures.labels import percent
from spotthebot.analytics.stats.assessment.sensitivity import LEVELS
from spotthebot.contracts.analytics.assessments import AssessedMeasure
from spotthebot.contracts.analytics.measures import MeasureOut
from spotthebot.contracts.analytics.studies import StudyAssessmentOut, StudyMeasure, StudyMeasuresOut
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.local.report.measure_tables import bots_table, means_table, pairs_table, ranking_table
from spotthebot.local.report.table import Cell, Column, Role, Table, by_speaker, p_value
from spotthebot.statistics.uncertainty import Clusters

_NO_FILE_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True)
class TaskSection:
    """A task of the study on the page, with the keys of its table of means and of the tables of its measures."""

    task: str
    key: str
    measures: tuple[tuple[str, str], ...]
    """Each measure's name, and the key of its table."""


def task_sections(every: StudyMeasuresOut) -> tuple[TaskSection, ...]:
    """Return the tasks that have measures, in the order of the study."""
    tasks = list(dict.fromkeys(each.task for each in every.measures))
    of_tasks, of_measures = _keys("task", tasks), _keys("measure", [each.name for each in every.measures])
    return tuple(
        TaskSection(
            task,
            of_tasks[task],
            tuple((each.name, of_measures[each.name]) for each in every.measures if each.task == task),
        )
        for task in tasks
    )


def study_tables(
    every: StudyMeasuresOut,
    outcome: MeasureOut | None,
    assessment: StudyAssessmentOut | None,
    campaigns: Sequence[CampaignOut],
    bots: Sequence[str],
) -> tuple[Table, ...]:
    """Return the tables that have rows, in reading order. `bots` is the order of bots in all of them."""
    places = {name: at for at, name in enumerate(bots)}
    found = _tables(every, outcome, assessment, campaigns, bots)
    return tuple(by_speaker(table, places) for table in found if table.rows)


def _tables(
    every: StudyMeasuresOut,
    outcome: MeasureOut | None,
    assessment: StudyAssessmentOut | None,
    campaigns: Sequence[CampaignOut],
    bots: Sequence[str],
) -> Iterator[Table]:
    level = percent(every.confidence_level)
    if outcome is not None and every.outcome is not None:
        yield ranking_table(outcome, every.outcome, level, every.correction)
        yield pairs_table(outcome, every.outcome, level)
    if assessment is not None:
        yield _assessment(assessment)
        yield _sensitivity(assessment)
        yield _stepwise(assessment)
        yield _sets(assessment)
    yield _tasks(every, {each.id: each for each in campaigns})
    named = {each.name: each for each in every.measures}
    for section in task_sections(every):
        means: Mapping[str, StudyMeasure] = {name: named[name] for name, _ in section.measures}
        yield means_table(section.key, f"Measures of {section.task}", bots, means, level)
        for name, key in section.measures:
            yield bots_table(key, f"By {name}", "", named[name], level)


def _keys(prefix: str, names: Iterable[str]) -> dict[str, str]:
    """Return a key for each name, which is different in all file systems.

    >>> _keys("task", ["chats", "Ours/1", "ours 1"])
    {'chats': 'task_chats', 'Ours/1': 'task_Ours-1', 'ours 1': 'task_ours-1-2'}
    """
    keys: dict[str, str] = {}
    taken: dict[str, int] = {}
    for name in names:
        key = f"{prefix}_{_NO_FILE_NAME.sub('-', name)}"
        taken[key.lower()] = times = taken.get(key.lower(), 0) + 1
        keys[name] = key if times == 1 else f"{key}-{times}"
    return keys


def _assessment(assessment: StudyAssessmentOut) -> Table:
    reasons = [(each.name, each.reason or each.alpha.reason) for each in assessment.measures]
    has_reasons = any(reason for _, reason in reasons)
    return Table(
        key="assessment",
        title=f"Measures against {assessment.outcome}",
        caption="Whether annotators agree (Krippendorff's alpha), how much of the outcome's variance the measure"
        f" explains, the p-value, {Clusters(assessment.clusters).words}, the p-value as published, which takes"
        " dialogues for independent, and the minutes for a dialogue.",
        columns=(
            Column("measure", "Measure"),
            Column("kept", "Keep"),
            Column("level", "Level"),
            Column("n", "n"),
            Column("alpha", "Alpha", 2),
            Column("alpha_low", "Low", 2, Role.LOW),
            Column("alpha_high", "High", 2, Role.HIGH),
            Column("r2", "R²"),
            p_value("p_value", "p"),
            p_value("published_p_value", "p as published"),
            Column("minutes", "Minutes", 2),
            *([Column("reason", "Why numbers are missing")] if has_reasons else []),
        ),
        rows=tuple(
            (
                each.name,
                each.name in assessment.keep,
                each.level,
                each.n,
                each.alpha.estimate,
                each.alpha.low,
                each.alpha.high,
                each.r2,
                each.p_value,
                each.published_p_value,
                each.minutes,
                *([reason] if has_reasons else []),
            )
            for each, (_, reason) in zip(assessment.measures, reasons, strict=True)
        ),
    )


def _sensitivity(assessment: StudyAssessmentOut) -> Table:
    pairs = len(assessment.bots) * (len(assessment.bots) - 1) // 2
    return Table(
        key="sensitivity",
        title="Pairs of bots told apart",
        caption=f"Of {pairs} pairs, how many have a p-value below each level: by the suite's own test of all values,"
        " and by the published test of equally many dialogues of each bot.",
        columns=(
            Column("measure", "Measure"),
            *(Column(f"own_{level}", f"p < {level}") for level in LEVELS),
            *(Column(f"published_{level}", f"Published, p < {level}") for level in LEVELS),
            Column("published_n", "Dialogues drawn"),
        ),
        rows=tuple(
            (
                each.name,
                *(each.pairs_told_apart.get(level) for level in LEVELS),
                *_published(each),
            )
            for each in assessment.measures
        ),
    )


def _published(measure: AssessedMeasure) -> tuple[Cell, ...]:
    found = measure.published
    if found is None:
        return None, None, None, None
    return *(found.pairs_told_apart.get(level) for level in LEVELS), found.n


def _stepwise(assessment: StudyAssessmentOut) -> Table:
    return Table(
        key="stepwise",
        title="The best measures together",
        caption=f"The best set of each size, {assessment.stepwise_method}, over {assessment.stepwise_n:,} dialogues or"
        " pairs that have all measures.",
        columns=(
            Column("measures", "Measures"),
            Column("r2", "R²"),
            Column("adjusted_r2", "Adjusted R²"),
            Column("removed", "Found without"),
        ),
        rows=tuple((len(step.left), step.r2, step.adjusted_r2, step.removed) for step in assessment.stepwise),
    )


def _sets(assessment: StudyAssessmentOut) -> Table:
    return Table(
        key="stepwise_sets",
        title="The measures of each set",
        caption="The sets of two sizes need not be nested.",
        columns=(Column("measures", "Measures"), Column("left", "Set")),
        rows=tuple((len(step.left), ", ".join(step.left)) for step in assessment.stepwise),
    )


def _tasks(every: StudyMeasuresOut, campaigns: Mapping[object, CampaignOut]) -> Table:
    return Table(
        key="tasks",
        title="Tasks",
        caption="What annotators were asked, and how much of it. Simulated annotators and judges are programs.",
        columns=(
            Column("task", "Task"),
            Column("protocol", "Protocol"),
            Column("annotations", "Annotations"),
            Column("annotators", "Annotators"),
            Column("simulated", "Simulated"),
            Column("judges", "Judges"),
            Column("units_twice", "Units seen twice"),
            Column("pay", "Pay for a package"),
        ),
        rows=tuple(
            (
                each.task,
                each.protocol,
                each.annotations,
                each.annotators,
                each.simulated_annotators,
                each.judges,
                *_declared(campaigns.get(each.campaign_id)),
            )
            for each in every.sources
        ),
    )


def _declared(campaign: CampaignOut | None) -> tuple[Cell, Cell]:
    if campaign is None:
        return None, None
    pay = None if campaign.pay_per_package is None else f"{campaign.pay_per_package} {campaign.currency}"
    return campaign.units_twice, pay
