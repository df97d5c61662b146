"""The results of studies. They come from the database, or are computed once and kept."""

from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from spotthebot.analytics.clients.study_reader import ReadTask, StudyReader, StudyRevision
from spotthebot.analytics.kept_results.use_cases.compute_threads import ComputeThreads
from spotthebot.analytics.kept_results.use_cases.kept_results import KeptResults, parameters_of
from spotthebot.analytics.measures.domain.workforces import fingerprint
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.studies.domain import (
    add_values,
    find_measure,
    require_measures,
    require_outcome,
    study_agreements,
    study_assessment,
    study_measures,
    task_agreements,
    task_measure,
    task_measures,
)
from spotthebot.analytics.tasks.domain import RatedSample, Task
from spotthebot.analytics.values.domain.value_table import ValueTable
from spotthebot.analytics.values.domain.values import MeasuredCampaign, MeasuredSample
from spotthebot.contracts.analytics.measures import MeasureParametersIn
from spotthebot.contracts.analytics.provenance import ParametersIn
from spotthebot.contracts.analytics.workforces import AgreementParametersIn

_Found = TypeVar("_Found")


class StudyResults:
    """Keeps each result until an annotation, a rating in a chat, or the study changes."""

    def __init__(self, kept: KeptResults, studies: StudyReader, threads: ComputeThreads) -> None:
        self._kept = kept
        self._studies = studies
        self._threads = threads

    async def get_measures(self, study_id: UUID, request: ParametersIn) -> bytes:
        """Return the results of every measure of a study as JSON.

        Raises NoSuchStudy, NothingMeasured and TooManyMeasures.
        """
        revision = await self._studies.current(study_id, judges=request.judges)

        async def compute() -> bytes:
            parameters, tasks = _parameters(revision, request), await self._studies.tasks(revision)
            require_measures(revision.study, tasks)
            found = await self._each(
                revision, tasks, parameters, lambda task, sample: task_measures(task, sample, parameters)
            )
            return study_measures(revision.study, found, parameters).model_dump_json().encode()

        return await self._kept.get(study_id, revision.revision, "measures", parameters_of(request), compute)

    async def get_measure(self, study_id: UUID, measure: str, request: MeasureParametersIn) -> bytes:
        """Return the results of the measure that a study calls `measure`, as JSON.

        Raises NoSuchMeasure and the errors of `get_measures`.
        """
        revision = await self._studies.current(study_id, judges=request.judges)

        async def compute() -> bytes:
            parameters, tasks = _parameters(revision, request), await self._studies.tasks(revision)
            task, own = find_measure(revision.study, tasks, measure)
            read = await self._studies.read(revision, task)

            def summarise() -> bytes:
                sample = _sample(read, parameters)
                return task_measure(own, measure, sample, parameters, request.mixed_model).model_dump_json().encode()

            return await self._threads.run(summarise)

        depends_on = parameters_of(request) | {"mixed_model": request.mixed_model}
        return await self._kept.get(study_id, revision.revision, f"measure/{measure}", depends_on, compute)

    async def get_values(self, study_id: UUID, request: ParametersIn) -> ValueTable:
        """Return every value of every measure of a study. They are read each time: nothing is computed of them.

        Raises NoSuchStudy, NothingMeasured, TooManyMeasures and TooManyValues.
        """
        revision = await self._studies.current(study_id, judges=request.judges)
        tasks, table = await self._studies.tasks(revision), ValueTable(pairs_named=True)
        require_measures(revision.study, tasks)
        await self._each(
            revision,
            tasks,
            _parameters(revision, request),
            lambda task, sample: add_values(revision.study, table, task, sample),
        )
        return table

    async def get_agreements(self, study_id: UUID, request: AgreementParametersIn) -> bytes:
        """Return how much the annotators of each workforce of each campaign agree, as JSON.

        Raises the errors of `get_measures`.
        """
        revision = await self._studies.current(study_id, judges=request.judges)
        workforces = await self._studies.workforces(revision)

        async def compute() -> bytes:
            parameters, every = _parameters(revision, request), await self._studies.tasks(revision)
            tasks = tuple(each for each in every if each.campaign_id is not None)
            require_measures(revision.study, tasks)
            found = await self._each(
                revision,
                tasks,
                parameters,
                lambda task, sample: task_agreements(task, sample, workforces, parameters, request.dates),
            )
            return study_agreements(revision.study, tasks, found, parameters).model_dump_json().encode()

        depends_on = {"workforces": fingerprint([*workforces.values()]), "dates": [*map(str, request.dates)]}
        settings = parameters_of(request) | depends_on
        return await self._kept.get(study_id, revision.revision, "workforces", settings, compute)

    async def get_assessment(self, study_id: UUID, request: ParametersIn) -> bytes:
        """Return which measures of a study deserve trust, as JSON.

        Raises NoOutcome, OutcomeNotRated, OutcomeAlone, NoDialogueInCommon, TooManyValues, TooMuchToAssess, and the
        errors of `get_measure`.
        """
        revision = await self._studies.current(study_id, judges=request.judges)

        async def compute() -> bytes:
            parameters, tasks = _parameters(revision, request), await self._studies.tasks(revision)
            outcome, table = require_outcome(revision.study, tasks), ValueTable(pairs_named=True)
            origins = await self._each(
                revision, tasks, parameters, lambda task, sample: add_values(revision.study, table, task, sample)
            )
            found = await self._threads.run(study_assessment, revision.study, origins, table, outcome, parameters)
            return found.model_dump_json().encode()

        return await self._kept.get(study_id, revision.revision, "assessment", parameters_of(request), compute)

    async def _each(
        self,
        revision: StudyRevision,
        tasks: tuple[Task, ...],
        parameters: Parameters,
        compute: Callable[[Task, RatedSample], _Found],
    ) -> list[_Found]:
        """Return what a function returns for each task. The data of one task are in memory at a time."""
        found = []
        async for task, read in self._studies.read_all(revision, tasks):
            found.append(await self._threads.run(_computed, compute, task, read, parameters))
        return found


def _parameters(revision: StudyRevision, request: ParametersIn) -> Parameters:
    return Parameters.of_campaign(request, revision.study.seed)


def _computed(
    compute: Callable[[Task, RatedSample], _Found], task: Task, read: ReadTask, parameters: Parameters
) -> _Found:
    return compute(task, _sample(read, parameters))


def _sample(read: ReadTask, parameters: Parameters) -> RatedSample:
    return MeasuredSample.take(read, parameters.filter) if isinstance(read, MeasuredCampaign) else read
