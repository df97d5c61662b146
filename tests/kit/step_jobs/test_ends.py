"""Step jobs are cancelled, taken over by another worker, and fail."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest

from spotthebot.kit.errors import Conflict
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.jobs.tasks import UNEXPECTED
from spotthebot.kit.step_jobs.lifecycle import ACTIVE, StepJob, StepJobState
from spotthebot.kit.step_jobs.runner import PreparedWork, PrepareInWorker, StepJobs
from tests.kit.step_jobs.squares import SCHEMA, TABLES, PeerIsAway, Service, Squares


class Wordy(Conflict):
    """Words for the log: {words}."""

    @property
    def detail(self) -> str:
        return str(self.facts["words"])


class TestCancel:
    async def test_ends_a_job_between_two_steps(self, service: Service):
        job_id = await service.start()

        async def cancel(step: int) -> None:
            if step == 1:
                await service.cancel(job_id)

        work = Squares(before_step=cancel)
        await service.run(job_id, work)
        job = await service.get(job_id)
        assert (job.state, job.done, job.result) == (StepJobState.CANCELLED, 1, None)
        assert work.computed == [0, 1]

    async def test_ends_a_job_before_its_first_step(self, service: Service):
        job_id, work = await service.start(), Squares()
        await service.cancel(job_id)
        await service.run(job_id, work)
        assert ((await service.get(job_id)).state, work.computed) == (StepJobState.CANCELLED, [])

    async def test_ends_a_job_whose_work_is_being_prepared(self, service: Service):
        job_id, work = await service.start(), Squares()

        async def prepare(job: StepJob) -> PreparedWork:
            await service.cancel(job.id)
            return PreparedWork(work)

        await service.jobs.run(service.database, job_id, prepare)
        assert ((await service.get(job_id)).state, work.computed) == (StepJobState.CANCELLED, [])

    async def test_leaves_a_complete_job_as_it_is(self, service: Service):
        job_id = await service.start()
        await service.run(job_id, Squares())
        await service.cancel(job_id)
        assert (await service.get(job_id)).state is StepJobState.COMPLETE


class TestConcurrentWorkers:
    async def test_refuses_the_results_of_a_run_that_was_taken_over(self, service: Service):
        job_id = await service.start()
        reached, go_on = asyncio.Event(), asyncio.Event()

        async def wait(step: int) -> None:
            if step == 2:
                reached.set()
                await go_on.wait()

        slow = asyncio.create_task(service.run(job_id, Squares(before_step=wait), fingerprint="old"))
        await reached.wait()

        async def release(step: int) -> None:
            if step == 2:
                go_on.set()
                await slow

        await service.run(job_id, Squares(factor=2, before_step=release), fingerprint="new")
        job = await service.get(job_id)
        assert (job.fingerprint, job.result) == ("new", {"squares": [0, 2, 8, 18]})

    async def test_completes_once_when_two_workers_run_the_same_job(self, service: Service):
        job_id = await service.start()

        async def yield_to_the_other(_step: int) -> None:
            await asyncio.sleep(0.01)

        works = [Squares(before_step=yield_to_the_other) for _ in range(2)]
        await asyncio.gather(*(service.run(job_id, work) for work in works))
        job = await service.get(job_id)
        assert (job.state, job.done, job.result) == (StepJobState.COMPLETE, 4, {"squares": [0, 1, 4, 9]})


class TestFailures:
    async def test_fails_with_the_detail_of_an_error(self, service: Service):
        job_id = await service.start()

        async def prepare(_job: StepJob) -> PreparedWork:
            raise Wordy(words="so and so")

        await service.jobs.run(service.database, job_id, prepare)
        job = await service.get(job_id)
        assert (job.state, job.failure) == (StepJobState.FAILED, "so and so")

    async def test_fails_with_the_beginning_of_a_long_detail(self, service: Service):
        job_id = await service.start()

        async def prepare(_job: StepJob) -> PreparedWork:
            raise Wordy(words="1234567890" * 200)

        await service.jobs.run(service.database, job_id, prepare)
        assert (await service.get(job_id)).failure == "1234567890" * 100

    async def test_fails_without_detail_after_an_unexpected_error(self, service: Service):
        job_id = await service.start()

        async def break_down(_step: int) -> None:
            message = "a secret"
            raise RuntimeError(message)

        async def prepare(_context: Mapping[str, Any], _job: StepJob) -> PreparedWork:
            return PreparedWork(Squares(before_step=break_down))

        job = await _ended(service, job_id, prepare)
        assert (job.state, job.failure) == (StepJobState.FAILED, UNEXPECTED)

    async def test_stays_active_while_a_peer_may_answer_again(self, service: Service):
        job_id, work = await service.start(), Squares()

        async def prepare(_job: StepJob) -> PreparedWork:
            raise PeerIsAway

        with pytest.raises(PeerIsAway):
            await service.jobs.run(service.database, job_id, prepare)
        assert (await service.get(job_id)).state is StepJobState.QUEUED
        await service.run(job_id, work)
        assert (await service.get(job_id)).state is StepJobState.COMPLETE

    def test_may_be_tried_again_eight_times_unless_the_service_says_otherwise(self):
        async def prepare(_context: Mapping[str, Any], _job: StepJob) -> PreparedWork:
            raise PeerIsAway

        task = StepJobs(TABLES, schema=SCHEMA, task="square", retried=[PeerIsAway]).task(prepare)
        assert [task.is_repeated(PeerIsAway(), retries) for retries in (0, 7, 8)] == [True, True, False]
        assert not task.is_repeated(Conflict(), 0)

    async def test_gives_up_after_the_last_attempt(self, service: Service):
        """One attempt that is repeated once, two seconds later, by a worker as services run it."""
        service.jobs = StepJobs(TABLES, schema=SCHEMA, task="square", retried=[PeerIsAway], max_retries=1)
        attempts = 0

        async def prepare(_context: Mapping[str, Any], _job: StepJob) -> PreparedWork:
            nonlocal attempts
            attempts += 1
            raise PeerIsAway

        job = await _ended(service, await service.start(), prepare)
        assert (job.state, job.failure, attempts) == (StepJobState.FAILED, "The peer does not answer.", 2)


async def _ended(service: Service, job_id: UUID, prepare: PrepareInWorker) -> StepJob:
    """Run a worker until a job has ended, and return the job."""
    tasks, context = [service.jobs.task(prepare)], {"database": service.database}
    worker = asyncio.create_task(Jobs(service.url, SCHEMA).work(tasks, concurrency=1, context=context))
    try:
        async with asyncio.timeout(60):
            while (await service.get(job_id)).state in ACTIVE:
                await asyncio.sleep(0.1)
    finally:
        worker.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await worker
    return await service.get(job_id)
