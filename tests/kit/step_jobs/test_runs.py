"""Step jobs are started, run step by step, and resumed where a worker was killed."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from spotthebot.kit.ids import new_id
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.step_jobs.lifecycle import ACTIVE, TRANSITIONS, StepJob, StepJobState
from spotthebot.kit.step_jobs.runner import PreparedWork
from tests.kit.step_jobs.squares import SCHEMA, Service, Squares

ROOT = Path(__file__).parents[3]
WORKER = """
import asyncio, sys
from spotthebot.kit.database.sessions import Database, schema_metadata
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.step_jobs.runner import PreparedWork, StepJobs
from spotthebot.kit.step_jobs.tables import step_job_tables

class Slow:
    steps = 3

    async def compute(self, step):
        with open(sys.argv[2], "a") as file:
            file.write(f"begin-{step}\\n")
        await asyncio.sleep(0.8)
        return {"step": step}

    async def assemble(self, results):
        return {"steps": [each["step"] for each in results]}

async def prepare(context, job):
    return PreparedWork(Slow())

async def main():
    tables = step_job_tables(schema_metadata("annotation"))
    tasks = [StepJobs(tables, schema="annotation", task="square").task(prepare)]
    jobs = Jobs(sys.argv[1], "annotation", stalled_after_seconds=2.0)
    await jobs.work(tasks, concurrency=1, context={"database": Database(sys.argv[1], pool_size=1)})

asyncio.run(main())
"""


class TestLifecycle:
    def test_names_every_state(self):
        assert set(TRANSITIONS) == set(StepJobState)

    def test_is_active_until_it_ends(self):
        assert set(ACTIVE) == {StepJobState.QUEUED, StepJobState.RUNNING}


class TestStart:
    async def test_stores_no_job_when_the_transaction_rolls_back(self, service: Service):
        with pytest.raises(RuntimeError):
            async with service.database.write() as session:
                await service.jobs.start(session, Jobs(service.url, SCHEMA), "k", {}, subject_id=None, version="1")
                raise RuntimeError
        async with service.database.read() as session:
            assert await service.jobs.store.list_jobs(session, subject_id=None, after=None, limit=10) == []

    async def test_stores_what_was_requested(self, service: Service):
        subject = new_id()
        job = await service.get(await service.start(subject))
        assert job.kind == "squares"
        assert job.subject_id == subject
        assert dict(job.request) == {"n": 4}
        assert job.version == "1"
        assert job.state == StepJobState.QUEUED
        assert job.done == 0
        assert job.steps == 0
        assert job.finished_at is None

    async def test_lists_the_jobs_of_a_subject_oldest_first(self, service: Service):
        subject = new_id()
        ids = [await service.start(subject) for _ in range(3)]
        others = [await service.start(new_id()), await service.start()]
        async with service.database.read() as session:
            every = await service.jobs.store.list_jobs(session, subject_id=None, after=None, limit=9)
            later = await service.jobs.store.list_jobs(session, subject_id=None, after=ids[1], limit=2)
            first = await service.jobs.store.list_jobs(session, subject_id=subject, after=None, limit=2)
            rest = await service.jobs.store.list_jobs(session, subject_id=subject, after=first[-1].id, limit=2)
        assert [job.id for job in first + rest] == ids
        assert [job.id for job in every] == [*ids, *others]
        assert [job.id for job in later] == [ids[2], others[0]]


class TestRun:
    async def test_computes_every_step_and_completes_with_the_result(self, service: Service):
        job_id, work = await service.start(), Squares()
        await service.run(job_id, work, inputs={"rows": 4}, fingerprint="f")
        job = await service.get(job_id)
        assert (job.state, job.done, job.steps) == (StepJobState.COMPLETE, 4, 4)
        assert (job.inputs, job.fingerprint, job.result) == ({"rows": 4}, "f", {"squares": [0, 1, 4, 9]})
        assert job.finished_at is not None
        assert work.computed == [0, 1, 2, 3]

    async def test_shows_how_many_steps_are_done(self, service: Service):
        job_id = await service.start()
        progress = []

        async def note(_step: int) -> None:
            job = await service.get(job_id)
            progress.append((job.state, job.done, job.steps))

        await service.run(job_id, Squares(before_step=note))
        assert progress == [(StepJobState.RUNNING, done, 4) for done in range(4)]

    async def test_leaves_a_complete_job_as_it_is(self, service: Service):
        job_id, again = await service.start(), Squares(factor=9)
        await service.run(job_id, Squares())
        await service.run(job_id, again)
        assert again.computed == []
        assert (await service.get(job_id)).result == {"squares": [0, 1, 4, 9]}

    async def test_prepares_nothing_for_a_job_that_has_ended_or_is_not_there(self, service: Service):
        job_id = await service.start()
        await service.run(job_id, Squares())

        async def prepare(_job: StepJob) -> PreparedWork:
            raise AssertionError

        for each in (job_id, new_id()):
            await service.jobs.run(service.database, each, prepare)
        assert (await service.get(job_id)).state is StepJobState.COMPLETE

    async def test_finds_the_latest_complete_job_of_a_subject(self, service: Service):
        subject = new_id()
        first, second, _ = [await service.start(subject) for _ in range(3)]
        await service.run(second, Squares(factor=2))
        await service.run(first, Squares())
        await service.run(await service.start(new_id()), Squares())
        async with service.database.read() as session:
            found = await service.jobs.store.find_latest_complete(session, subject, "squares")
            other = await service.jobs.store.find_latest_complete(session, subject, "cubes")
        assert found is not None
        assert (found.id, other) == (second, None)


class TestResume:
    async def test_continues_at_the_first_missing_step(self, service: Service):
        job_id, second = await service.start(), Squares()

        async def die(step: int) -> None:
            if step == 2:
                raise asyncio.CancelledError  # as a worker that is stopped does

        with pytest.raises(asyncio.CancelledError):
            await service.run(job_id, Squares(before_step=die))
        assert (await service.get(job_id)).done == 2
        await service.run(job_id, second)
        assert second.computed == [2, 3]
        assert (await service.get(job_id)).result == {"squares": [0, 1, 4, 9]}

    async def test_keeps_the_results_of_two_jobs_apart(self, service: Service):
        one, other, work = await service.start(), await service.start(), Squares(factor=3)

        async def die(step: int) -> None:
            if step == 2:
                raise asyncio.CancelledError

        with pytest.raises(asyncio.CancelledError):
            await service.run(one, Squares(before_step=die), fingerprint="old")
        await service.run(other, work, fingerprint="new")
        assert work.computed == [0, 1, 2, 3]
        assert (await service.get(other)).result == {"squares": [0, 3, 12, 27]}
        assert [(await service.get(each)).done for each in (one, other)] == [2, 4]

    async def test_assembles_results_in_the_order_of_their_steps(self, service: Service):
        job_id, run_id = await service.start(), new_id()
        async with service.database.write() as session:
            await service.jobs.store.begin_run(session, job_id, run_id, steps=4, inputs=None, fingerprint=None)
            assert await service.jobs.store.put_result(session, job_id, run_id, 2, {"square": 4})
        await service.run(job_id, Squares())
        assert (await service.get(job_id)).result == {"squares": [0, 1, 4, 9]}

    async def test_computes_every_step_again_after_the_inputs_changed(self, service: Service):
        job_id, second = await service.start(), Squares(factor=2)

        async def die(step: int) -> None:
            if step == 2:
                raise asyncio.CancelledError

        with pytest.raises(asyncio.CancelledError):
            await service.run(job_id, Squares(before_step=die), fingerprint="old")
        await service.run(job_id, second, fingerprint="new")
        assert second.computed == [0, 1, 2, 3]
        assert (await service.get(job_id)).result == {"squares": [0, 2, 8, 18]}

    async def test_continues_in_another_worker_after_a_kill(self, service: Service, tmp_path: Path):
        job_id, note = await service.start(), tmp_path / "note"
        arguments = ("-c", WORKER, service.url, str(note))
        first = await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=ROOT)
        async with asyncio.timeout(60):
            while not note.exists() or "begin-1" not in note.read_text():
                await asyncio.sleep(0.05)
        first.send_signal(signal.SIGKILL)
        await first.wait()
        second = await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=ROOT)
        try:
            async with asyncio.timeout(60):
                while (await service.get(job_id)).state is not StepJobState.COMPLETE:
                    await asyncio.sleep(0.1)
        finally:
            second.terminate()
            await second.wait()
        assert note.read_text().split() == ["begin-0", "begin-1", "begin-1", "begin-2"]
        assert (await service.get(job_id)).result == {"steps": [0, 1, 2]}
