"""The report of a study whose two tasks were answered by hand, as the services compute its results."""

from typing import Any
from uuid import UUID

from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.studies.domain import (
    add_values,
    study_assessment,
    study_measures,
    task_measure,
    task_measures,
)
from spotthebot.analytics.tasks.domain import Task, named_tasks
from spotthebot.analytics.values.domain.value_table import ValueTable
from spotthebot.analytics.values.domain.values import MeasuredCampaign, MeasuredSample
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.studies import StudyOut
from spotthebot.local.report.study_report import StudyReport
from tests.factories.measured_campaigns import answered, measured_campaign

QUALITY = {"first": (5, 4, 5, 4, 3, 5), "second": (1, 2, 3, 1, 2, 2)}
"""The quality of six conversations of each of two bots with people. The simulated annotator gives the first bot's first
conversation one point less, and the second bot's one point more."""
ENGAGING = {"first": (4, 4, 5, 3, 3, 4), "second": (2, 1, 2, 2, 3, 1)}
PARAMETERS = Parameters(filter="none", resamples=20, seed=5)


def study_report(
    names: tuple[str, str] = ("ada", "bob"), *, outcome: str | None = "likert.quality", task: str = "likert"
) -> StudyReport:
    """Rate quality and engaging of two bots by two annotators, one of them simulated, and compare the dialogues."""
    speakers = {at: (names[(at - 1) % 2], "HU") for at in range(1, 13)}
    campaigns = {task: _rated(speakers), "pairs": _compared(speakers)}
    named = named_tasks("small", [(f"small.{name}", [*each.questions]) for name, each in campaigns.items()], None)
    tasks = [
        Task(each, "campaign", complete=True, campaign_id=UUID(int=number), protocol=protocol)
        for number, (each, protocol) in enumerate(zip(named, ("dialogue_likert", "comparative"), strict=True))
    ]
    samples = [MeasuredSample.take(each, PARAMETERS.filter) for each in campaigns.values()]
    study = StudyOut.model_validate(
        {
            "id": UUID(int=3),
            "name": "small",
            "campaigns": [each.campaign_id for each in tasks],
            "chats": [],
            "outcome": outcome,
            "seed": 5,
            "scores": [],
            "latency": False,
            "created_at": "2026-11-26T10:00:00Z",
        }
    )
    found = [task_measures(each, sample, PARAMETERS) for each, sample in zip(tasks, samples, strict=True)]
    table = ValueTable(pairs_named=True)
    origins = [add_values(study, table, each, sample) for each, sample in zip(tasks, samples, strict=True)]
    headline = task_measure("quality", f"{task}.quality", samples[0], PARAMETERS)
    return StudyReport(
        measures=study_measures(study, found, PARAMETERS),
        outcome=None if outcome is None else headline,
        assessment=None if outcome is None else study_assessment(study, origins, table, outcome, PARAMETERS),
        reason=None if outcome is not None else "The study names no outcome.",
        campaigns=(),
        marked=headline.speakers,
    )


def _rated(speakers: dict[int, tuple[str, str]]) -> MeasuredCampaign:
    """Rate the bots' side of each conversation: odd ones are of the first bot, even ones of the second."""

    def answer(at: int, change: int) -> dict[str, Any]:
        bot, number = ("first", "second")[(at - 1) % 2], (at - 1) // 2
        changed = 0 if number else change if bot == "second" else -change
        return {
            "quality": {"A": QUALITY[bot][number] + changed},
            "engaging": {"A": ENGAGING[bot][number] + changed},
        }

    given = [
        answered(at, annotator, answer(at, change), kind=kind)
        for at in speakers
        for annotator, change, kind in (("p-1", 0, AnnotatorKind.PERSON), ("simulated-1", 1, AnnotatorKind.SIMULATED))
    ]
    return measured_campaign("dialogue_likert", speakers, given)


def _compared(speakers: dict[int, tuple[str, str]]) -> MeasuredCampaign:
    """Compare the conversations of the two bots: the first bot's is better in five of six pairs."""
    given = [answered(at, "p-1", {"quality": "B" if at == 5 else "A"}, right=at + 1) for at in (1, 3, 5, 7, 9, 11)]
    return measured_campaign("comparative", speakers, given)
