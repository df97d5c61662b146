"""What a study calls its tasks and their measures, and a campaign its measures without annotators."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from spotthebot.analytics.chats.domain import CHATS, RatedChats
from spotthebot.analytics.values.domain.computed_values import ComputedValues
from spotthebot.analytics.values.domain.values import MeasuredSample
from spotthebot.contracts.analytics.studies import SourceKind, StudySource


@dataclass(frozen=True)
class NamedTask:
    """A task of a study, or its chats: its name, and the study's names of its measures by the task's names of them."""

    task: str
    measures: Mapping[str, str]


def named_tasks(
    study: str, sources: Sequence[tuple[str, Collection[str]]], chats: Collection[str] | None
) -> tuple[NamedTask, ...]:
    """Return the tasks of a study in the order of their sources, and the chats at the end.

    Each source (campaigns, then score sets, then latencies) is given with the names of its measures; `chats` has those
    of the chats, or is None without chats. A campaign called `STUDY.TASK` is called `TASK`. A measure whose name no
    other task has keeps its name; otherwise it is called `TASK.MEASURE`. Measures of chats always keep their names.

    >>> tasks = named_tasks("small", [("small.likert", ["quality"]), ("pairs", ["better"])], ["quality"])
    >>> [(each.task, *each.measures.values()) for each in tasks]
    [('likert', 'likert.quality'), ('pairs', 'better'), ('chats', 'quality')]
    """
    found = Counter(name for _, measures in sources for name in measures)
    found.update(chats or ())
    taken = {CHATS}
    tasks = []
    for source, measures in sources:
        task = _free(source.removeprefix(f"{study}.") or source, taken)
        taken.add(task)
        tasks.append(NamedTask(task, {name: name if found[name] == 1 else f"{task}.{name}" for name in measures}))
    if chats is not None:
        tasks.append(NamedTask(CHATS, {name: name for name in chats}))
    return tuple(tasks)


def _free(name: str, taken: Collection[str]) -> str:
    """Return a name that no other task has. The second `likert` is called `likert-2`."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    return found


RatedSample: TypeAlias = MeasuredSample | RatedChats | ComputedValues
"""What the annotators of a task said, or the people who chatted, or what a program measured."""


@dataclass(frozen=True)
class Origin:
    """Where a part of a study's results comes from, with a fingerprint of its data."""

    source: StudySource
    sha256: str
    complete: bool


@dataclass(frozen=True)
class Task:
    """A task of a study, its chats, a score set or the latencies, with the names of its measures.

    The campaign's id and `protocol` are None of what no campaign asked, and `score_set_id` of what FED has not scored.
    """

    names: NamedTask
    kind: SourceKind
    complete: bool
    campaign_id: UUID | None = None
    score_set_id: UUID | None = None
    protocol: str | None = None

    def origin(self, sample: RatedSample) -> Origin:
        """Return where the results of a sample of this task come from."""
        counts = sample.counts
        source = StudySource(
            task=self.names.task,
            kind=self.kind,
            campaign_id=self.campaign_id,
            score_set_id=self.score_set_id,
            protocol=self.protocol,
            annotations=counts.annotations,
            annotators=counts.annotators,
            simulated_annotators=counts.simulated_annotators,
            judges=counts.judges,
        )
        return Origin(source, sample.sha256, self.complete)
