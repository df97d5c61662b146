"""The results of a study: the measures of all its tasks and chats, and which of them deserve trust."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from hashlib import sha256
from importlib.metadata import version
from math import comb
from typing import Any, Final
from uuid import UUID

import numpy as np

from spotthebot.analytics.assessments.domain.assessment import AssessmentSettings, assess
from spotthebot.analytics.chats.domain import RatedChats
from spotthebot.analytics.measures.domain.measure_results import measure_result
from spotthebot.analytics.measures.domain.measures import add_rated, measure_out, sample_provenance, strengths_of
from spotthebot.analytics.measures.domain.workforces import Workforce, agreements_out, undated, workforce_agreements
from spotthebot.analytics.measures.errors import NoSuchMeasure
from spotthebot.analytics.provenance.domain import Parameters, provenance_of
from spotthebot.analytics.speakers.domain import by_strength
from spotthebot.analytics.stats.annotations import HUMAN
from spotthebot.analytics.studies.errors import (
    NoDialogueInCommon,
    NoOutcome,
    NothingMeasured,
    OutcomeAlone,
    OutcomeNotRated,
    TooManyMeasures,
    TooMuchToAssess,
)
from spotthebot.analytics.tasks.domain import Origin, RatedSample, Task
from spotthebot.analytics.values.domain.assessed_values import Dialogues, MeasuredValues
from spotthebot.analytics.values.domain.computed_values import ComputedValues
from spotthebot.analytics.values.domain.value_table import ValueTable
from spotthebot.analytics.values.domain.values import MeasuredSample
from spotthebot.contracts.analytics.choices import MixedModelKind
from spotthebot.contracts.analytics.measures import MAX_MEASURES, MeasureOut
from spotthebot.contracts.analytics.studies import StudyAssessmentOut, StudyMeasure, StudyMeasuresOut
from spotthebot.contracts.analytics.workforces import WorkforceAgreement, WorkforceAgreementsOut
from spotthebot.contracts.annotation.measures import headline_of
from spotthebot.contracts.annotation.studies import StudyOut
from spotthebot.statistics.adjustment import Adjustment
from spotthebot.statistics.uncertainty import Clusters

MAX_DIALOGUES: Final = 100_000
MAX_TESTS: Final = 500_000
"""Tests of pairs of bots by all measures, which take about half a minute."""


def require_measures(study: StudyOut, tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return the study's names of all its measures; raises NothingMeasured and TooManyMeasures."""
    names = tuple(name for task in tasks for name in task.names.measures.values())
    if not names:
        raise NothingMeasured(study=study.name)
    if len(names) > MAX_MEASURES:
        raise TooManyMeasures(study=study.name, measures=len(names), most=MAX_MEASURES)
    return names


def find_measure(study: StudyOut, tasks: Sequence[Task], name: str) -> tuple[Task, str]:
    """Return the task that has a measure, and the task's name of the measure.

    `name` is the study's name of it. A name that several tasks have is of the first of them, unless it is of the chats.
    Raises NoSuchMeasure, NothingMeasured and TooManyMeasures.
    """
    known = require_measures(study, tasks)
    for task in tasks:
        for own, called in task.names.measures.items():
            if called == name:
                return task, own
    for task in tasks:
        if name in task.names.measures:
            return task, name
    raise NoSuchMeasure(measure=name, campaign=study.name, known=", ".join(known))


def task_measures(task: Task, sample: RatedSample, request: Parameters) -> tuple[Origin, tuple[StudyMeasure, ...]]:
    """Summarise every measure of a task."""
    measures = tuple(
        StudyMeasure(**measure_result(sample.values(own), request).model_dump(), name=called, task=task.names.task)
        for own, called in task.names.measures.items()
    )
    return task.origin(sample), measures


def task_agreements(
    task: Task,
    sample: RatedSample,
    workforces: Mapping[UUID, Mapping[str, Workforce]],
    request: Parameters,
    dates: Sequence[date],
) -> tuple[tuple[WorkforceAgreement, ...], int]:
    """Return how much the annotators of each workforce of a task agree, and how many annotations have no time.

    Nothing outside campaigns.
    """
    if not isinstance(sample, MeasuredSample) or task.campaign_id is None:
        return (), 0
    own = workforces[task.campaign_id]
    names = task.names
    return tuple(workforce_agreements(names.task, names.measures, sample, own, request, dates)), undated(sample)


def study_agreements(
    study: StudyOut,
    tasks: Sequence[Task],
    found: Sequence[tuple[Sequence[WorkforceAgreement], int]],
    request: Parameters,
) -> WorkforceAgreementsOut:
    """Return the agreement of all tasks of a study."""
    return agreements_out(
        study.name,
        [each for of_task, _ in found for each in of_task],
        request,
        complete=all(task.complete for task in tasks),
        undated=sum(without for _, without in found),
    )


def task_measure(
    own: str, called: str, sample: RatedSample, request: Parameters, mixed_model: MixedModelKind | None = None
) -> MeasureOut:
    """Summarise one measure of a task, which the study calls `called`, and compare every pair of bots."""
    if isinstance(sample, MeasuredSample):
        provenance = sample_provenance(sample, request)
    else:
        provenance = _provenance_of(sample, request)
    found = measure_out(sample.values(own), provenance, request, mixed_model)
    return found.model_copy(update={"measure": called})


def _provenance_of(sample: RatedChats | ComputedValues, request: Parameters) -> dict[str, Any]:
    return provenance_of(
        sample,
        request,
        counts=sample.counts,
        repeated_texts=sample.repeated_texts,
        speakers=by_strength(sample.bots, strengths_of(sample.values(headline_of(sample.measures)))),
        data_sha256=sample.sha256,
    )


def add_values(study: StudyOut, table: ValueTable, task: Task, sample: RatedSample) -> Origin:
    """Add the values of a task to a study's table. Those of people who are rated are left out.

    Raises TooManyValues.
    """
    for own, called in task.names.measures.items():
        add_rated(table, called, (value for value in sample.rated(own) if value.bot != HUMAN), study.name)
    for conversation, text in sample.shown_texts:
        table.add_text(conversation, text)
    return task.origin(sample)


def study_measures(
    study: StudyOut, found: Sequence[tuple[Origin, Sequence[StudyMeasure]]], request: Parameters
) -> StudyMeasuresOut:
    """Return the measures of all tasks and chats of a study."""
    return StudyMeasuresOut(
        **_provenance(study, [origin for origin, _ in found], request),
        outcome=study.outcome,
        measures=tuple(measure for _, measures in found for measure in measures),
    )


def require_outcome(study: StudyOut, tasks: Sequence[Task]) -> str:
    """Return the study's name of its outcome; raises NoOutcome and the errors of `find_measure`."""
    if study.outcome is None:
        raise NoOutcome(study=study.name)
    task, own = find_measure(study, tasks, study.outcome)
    return task.names.measures[own]


def study_assessment(
    study: StudyOut, origins: Sequence[Origin], table: ValueTable, outcome: str, request: Parameters
) -> StudyAssessmentOut:
    """Assess every measure of a study with values by the outcome.

    Raises OutcomeNotRated, OutcomeAlone, NoDialogueInCommon and TooMuchToAssess.
    """
    others = [name for name in sorted(table.measures) if name != outcome]
    if outcome not in table.measures:
        choice = f", or choose one of {', '.join(others)}" if others else ""
        raise OutcomeNotRated(study=study.name, outcome=outcome, others=choice)
    if not others:
        raise OutcomeAlone(study=study.name, outcome=outcome)
    measures, rated, dialogues = table.measured(outcome)
    _require_assessable(study, rated, measures, dialogues)
    clusters, adjustment = Clusters(request.clusters), Adjustment(request.correction)
    settings = AssessmentSettings(request.confidence_level, clusters, adjustment, request.seed)
    found = assess(measures, rated, dialogues, settings)
    return StudyAssessmentOut(
        **_provenance(study, origins, request),
        **dict(found),
        bots=dialogues.bots,
        dialogues=len(dialogues.bot),
    )


def _require_assessable(
    study: StudyOut, outcome: MeasuredValues, measures: Sequence[MeasuredValues], dialogues: Dialogues
) -> None:
    tests = comb(len(dialogues.bots), 2) * len(measures)
    for number, things, most in (
        (len(dialogues.bot), "dialogues", MAX_DIALOGUES),
        (tests, "pairs of bots to be tested by all measures", MAX_TESTS),
    ):
        if number > most:
            raise TooMuchToAssess(study=study.name, number=number, things=things, most=most)
    with_outcome = np.zeros(len(dialogues.bot), dtype=np.bool_)
    with_outcome[outcome.dialogue] = True
    if not any(with_outcome[each.dialogue].any() for each in measures):
        raise NoDialogueInCommon(study=study.name, outcome=outcome.name)


def _provenance(study: StudyOut, origins: Sequence[Origin], request: Parameters) -> dict[str, Any]:
    return {
        **asdict(request),
        "study_id": study.id,
        "study": study.name,
        "sources": tuple(each.source for each in origins),
        "preliminary": not all(each.complete for each in origins),
        "data_sha256": sha256("".join(each.sha256 for each in origins).encode()).hexdigest(),
        "version": version("spotthebot"),
    }
