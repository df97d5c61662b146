"""Worker processes with dynamic batching: their rules on a model without weights, then two kinds of real models."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from spotthebot.inference.errors import ModelNotLoadable, RequestRefused, WorkerUnavailable
from spotthebot.inference.models.dialogue import kind as dialogue_kind
from spotthebot.inference.workers.pool import ModelWorkers
from spotthebot.inference.workers.worker import Worker, WorkerModel, WorkerTimes
from spotthebot.kit.processes import forks
from tests.factories import echo_models
from tests.factories.worker_processes import forking_programs, workers_of


@pytest.fixture
async def workers() -> AsyncIterator[ModelWorkers]:
    made = ModelWorkers()
    yield made
    await made.close()


@pytest.fixture
def echo(tmp_path: Path) -> WorkerModel:
    return WorkerModel(echo_models.KIND, str(tmp_path), max_batch_size=16, max_queue_delay_ms=20.0)


@pytest.fixture(scope="module")
async def shared_workers() -> AsyncIterator[ModelWorkers]:
    """Workers of real models, whose processes take seconds to start."""
    made = ModelWorkers()
    yield made
    await made.close()


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason="torch is not installed: run './stb install models'")
    from tests.factories.tiny_models import talking_gpt2  # noqa: PLC0415 - it needs torch

    return talking_gpt2(tmp_path_factory.mktemp("gpt2"))


def starts_of(folder: Path) -> list[str]:
    """Return a line for each time that an echo model was loaded."""
    file = folder / "starts"
    return file.read_text().splitlines() if file.exists() else []


class TestModelWorkers:
    async def test_run_requests_that_wait_together_in_full_batches(self, workers: ModelWorkers, echo: WorkerModel):
        await workers.load(echo)
        results = await asyncio.gather(*(workers.infer(echo, {"text": str(number)}) for number in range(64)))
        assert [result["text"] for result in results] == [str(number) for number in range(64)]
        assert {result["batch_size"] for result in results} == {16}
        counted = workers.statistics(echo)
        assert counted is not None
        assert counted.requests == 64
        assert counted.batches == 4
        assert counted.failures == 0
        assert counted.mean_batch_size == 16.0

    async def test_do_not_keep_a_lone_request_waiting_for_a_full_batch(self, workers: ModelWorkers, echo: WorkerModel):
        async with asyncio.timeout(20):
            assert (await workers.infer(echo, {"text": "alone"}))["batch_size"] == 1

    async def test_start_a_model_once_for_all_that_ask_at_the_same_time(
        self, workers: ModelWorkers, echo: WorkerModel, tmp_path: Path
    ):
        await asyncio.gather(*(workers.infer(echo, {"text": "hello"}) for _ in range(8)))
        assert starts_of(tmp_path) == ["auto auto None"]

    async def test_report_a_failed_start_to_all_that_wait_for_it(
        self, workers: ModelWorkers, echo: WorkerModel, tmp_path: Path
    ):
        (tmp_path / "broken").touch()
        failures = await asyncio.gather(
            *(workers.infer(echo, {"text": "hello"}) for _ in range(8)), return_exceptions=True
        )
        assert {str(each) for each in failures} == {f"The model '{tmp_path.name}' can't be loaded: it is broken."}
        assert len(starts_of(tmp_path)) == 1
        (tmp_path / "broken").unlink()
        assert (await workers.infer(echo, {"text": "hello"}))["text"] == "hello"

    async def test_go_on_loading_when_the_caller_gives_up(
        self, workers: ModelWorkers, echo: WorkerModel, tmp_path: Path
    ):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(workers.infer(echo, {"text": "too slow"}), 0.01)
        assert (await workers.infer(echo, {"text": "hello"}))["text"] == "hello"
        assert len(starts_of(tmp_path)) == 1

    async def test_load_a_model_that_takes_longer_than_any_caller_waits(
        self, workers: ModelWorkers, echo: WorkerModel, tmp_path: Path
    ):
        """A bot's time-out is shorter than loading: each of its questions gives up, and one of the next is answered."""
        (tmp_path / "slow").write_text("1.5")
        given_up = 0
        async with asyncio.timeout(30):
            while True:
                try:
                    answered = await asyncio.wait_for(workers.infer(echo, {"text": "hello"}), 0.3)
                    break
                except TimeoutError:
                    given_up += 1
        assert answered["text"] == "hello"
        assert given_up >= 2
        assert len(starts_of(tmp_path)) == 1

    async def test_fail_a_bad_request_alone(self, workers: ModelWorkers, echo: WorkerModel):
        requests: list[dict[str, str | int]] = [{"text": "a"}, {"wrong": 1}, {"text": "fail"}, {"text": "b"}]
        first, unread, failed, last = await asyncio.gather(
            *(workers.infer(echo, request) for request in requests), return_exceptions=True
        )
        assert isinstance(first, dict)
        assert isinstance(last, dict)
        assert (first["text"], last["text"]) == ("a", "b")
        assert isinstance(unread, RequestRefused)
        assert str(unread) == "The model refused: text is missing"
        assert isinstance(failed, RequestRefused)
        assert str(failed) == "The model refused: RuntimeError: it was told to"

    async def test_start_a_model_again_after_its_process_died(
        self, workers: ModelWorkers, echo: WorkerModel, tmp_path: Path
    ):
        with pytest.raises(WorkerUnavailable, match="it is started again"):
            await workers.infer(echo, {"text": "die"})
        assert (await workers.infer(echo, {"text": "hello"}))["text"] == "hello"
        (process,) = workers_of(tmp_path)
        process.kill()
        await asyncio.sleep(0.3)  # for the service to see it
        assert (await workers.infer(echo, {"text": "hello again"}))["text"] == "hello again"
        assert len(starts_of(tmp_path)) == 3
        assert len(workers_of(tmp_path)) == 1

    async def test_start_the_program_that_forks_again_after_it_died(
        self, workers: ModelWorkers, echo: WorkerModel, tmp_path: Path
    ):
        """The model's process does without it."""
        await workers.load(echo)
        (program,) = forking_programs()
        (process,) = workers_of(tmp_path)
        program.kill()
        assert (await workers.infer(echo, {"text": "hello"}))["text"] == "hello"
        assert len(starts_of(tmp_path)) == 1
        process.kill()
        while process.is_running():
            await asyncio.sleep(0.02)
        async with asyncio.timeout(20):
            while True:
                try:
                    answer = await workers.infer(echo, {"text": "hello again"})
                    break
                except WorkerUnavailable:  # it is noticed by the first request
                    continue
        assert answer["text"] == "hello again"
        assert forking_programs() != [program]
        assert len(workers_of(tmp_path)) == 1

    async def test_share_the_program_that_has_imported_everything(self, workers: ModelWorkers, tmp_path: Path):
        """Each process has a session of its own: what ends one model leaves the others alone."""
        models = [WorkerModel(echo_models.KIND, str(tmp_path / name)) for name in ("one", "other")]
        for model in models:
            Path(model.model).mkdir()
        others = ModelWorkers()
        await asyncio.gather(workers.load(models[0]), others.load(models[1]))
        (program,) = forking_programs()
        processes = workers_of(tmp_path)
        assert {process.ppid() for process in processes} == {program.pid}
        assert [os.getsid(process.pid) for process in processes] == [process.pid for process in processes]
        await others.close()
        assert workers_of(tmp_path / "other") == []
        assert (await workers.infer(models[0], {"text": "hello"}))["text"] == "hello"
        assert starts_of(tmp_path / "one") == ["auto auto None"]

    async def test_end_the_program_when_no_model_is_used_any_more(
        self, workers: ModelWorkers, echo: WorkerModel, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(forks, "_running", [])  # the program of this test alone
        monkeypatch.setattr(forks, "_UNUSED_SECONDS", 0.1)
        others = forking_programs()
        for _ in range(2):
            await workers.load(echo)
            (program,) = [each for each in forking_programs() if each not in others]
            await workers.unload(echo)
            async with asyncio.timeout(20):
                while program.is_running():
                    await asyncio.sleep(0.02)

    async def test_fork_a_killed_process_from_the_program_that_has_imported_everything(
        self, workers: ModelWorkers, echo: WorkerModel, tmp_path: Path
    ):
        """What takes seconds is not done again, however often a process dies in the middle of a reply."""
        await workers.load(echo)
        (program,) = forking_programs()
        (process,) = workers_of(tmp_path)
        for _ in range(3):
            asked = asyncio.create_task(workers.infer(echo, {"text": "sleep"}))
            await asyncio.sleep(0.3)
            process.kill()
            with pytest.raises(WorkerUnavailable, match="it is started again"):
                await asyncio.wait_for(asked, 20)
            async with asyncio.timeout(20):
                assert (await workers.infer(echo, {"text": "hello"}))["text"] == "hello"
            (process,) = workers_of(tmp_path)
            assert forking_programs() == [program]

    async def test_kill_a_process_that_hangs_and_answer_the_next_request_by_another(
        self, echo: WorkerModel, tmp_path: Path
    ):
        workers = ModelWorkers(WorkerTimes(batch_seconds=0.5))
        try:
            await workers.load(echo)
            workers_of(tmp_path)[0].suspend()
            with pytest.raises(WorkerUnavailable, match=r"gave no answer within 0\.5 seconds"):
                await workers.infer(echo, {"text": "hello"})
            async with asyncio.timeout(20):
                assert (await workers.infer(echo, {"text": "hello"}))["text"] == "hello"
            assert len(workers_of(tmp_path)) == 1
        finally:
            await workers.close()

    async def test_kill_a_process_that_hangs_while_it_loads(self, echo: WorkerModel, tmp_path: Path):
        (tmp_path / "slow").write_text("60")
        workers = ModelWorkers(WorkerTimes(loading_seconds=0.2))
        with pytest.raises(WorkerUnavailable, match=r"was not loaded within 0\.2 seconds"):
            await workers.load(echo)
        assert workers_of(tmp_path) == []
        await workers.close()

    async def test_end_the_process_of_an_idle_model_and_start_it_when_it_is_asked_again(
        self, echo: WorkerModel, tmp_path: Path
    ):
        workers = ModelWorkers(WorkerTimes(idle_seconds=0.2))
        try:
            await workers.infer(echo, {"text": "hello"})
            async with asyncio.timeout(60):
                while workers_of(tmp_path):
                    await asyncio.sleep(0.05)
            assert workers.statistics(echo) is None
            assert (await workers.infer(echo, {"text": "hello"}))["text"] == "hello"
        finally:
            await workers.close()

    async def test_fail_the_requests_of_a_model_that_is_unloaded(
        self, workers: ModelWorkers, echo: WorkerModel, tmp_path: Path
    ):
        slow = WorkerModel(echo.kind, echo.model, max_queue_delay_ms=10_000)
        await workers.load(slow)
        waiting = [asyncio.create_task(workers.infer(slow, {"text": "hello"})) for _ in range(3)]
        await asyncio.sleep(0.05)  # so that the batch is being gathered
        await workers.unload(slow)
        async with asyncio.timeout(10):
            failures = await asyncio.gather(*waiting, return_exceptions=True)
        assert {type(each) for each in failures} == {WorkerUnavailable}
        assert workers.statistics(slow) is None
        assert workers_of(tmp_path) == []

    async def test_fail_the_requests_of_a_model_that_is_unloaded_while_it_computes(
        self, workers: ModelWorkers, echo: WorkerModel, tmp_path: Path
    ):
        asked = asyncio.create_task(workers.infer(echo, {"text": "sleep"}))
        async with asyncio.timeout(20):
            while not starts_of(tmp_path):
                await asyncio.sleep(0.05)
        await asyncio.sleep(0.3)  # so that the batch is being computed, for which nobody waits any more
        async with asyncio.timeout(10):
            await workers.unload(echo)
            with pytest.raises(WorkerUnavailable, match="was unloaded"):
                await asked
        assert workers_of(tmp_path) == []

    async def test_fail_the_requests_of_a_model_that_is_unloaded_while_it_loads(
        self, workers: ModelWorkers, echo: WorkerModel, tmp_path: Path
    ):
        (tmp_path / "slow").write_text("60")
        asked = [asyncio.create_task(workers.infer(echo, {"text": "hello"})) for _ in range(3)]
        async with asyncio.timeout(20):
            while not starts_of(tmp_path):
                await asyncio.sleep(0.05)
        async with asyncio.timeout(20):
            await workers.unload(echo)
            failures = await asyncio.gather(*asked, return_exceptions=True)
        assert {str(each) for each in failures} == {"The model was unloaded."}
        assert workers_of(tmp_path) == []
        assert len(starts_of(tmp_path)) == 1

    async def test_fail_the_requests_that_come_to_a_worker_that_has_stopped(self, echo: WorkerModel, tmp_path: Path):
        """One that found the worker before it was unloaded, and asks it afterwards, waits for nobody."""
        worker = Worker(echo, WorkerTimes())
        await worker.start()
        await worker.stop()
        async with asyncio.timeout(20):
            with pytest.raises(WorkerUnavailable, match="was unloaded"):
                await worker.infer({"text": "hello"})
        assert workers_of(tmp_path) == []

    async def test_run_the_next_batch_whatever_became_of_one(self, workers: ModelWorkers, echo: WorkerModel):
        async with asyncio.timeout(30):
            with pytest.raises(WorkerUnavailable, match="it is started again"):
                await workers.infer(echo, {"text": "nothing"})
            assert (await workers.infer(echo, {"text": "hello"}))["text"] == "hello"

    async def test_start_the_task_of_batches_again_where_it_ended(self, echo: WorkerModel):
        worker, others = Worker(echo, WorkerTimes()), asyncio.all_tasks()
        try:
            assert (await worker.infer({"text": "hello"}))["text"] == "hello"
            started = asyncio.all_tasks() - others
            (batches,) = [each for each in started if "run_batches" in repr(each.get_coro())]
            batches.cancel()
            await asyncio.wait({batches})
            async with asyncio.timeout(10):
                assert (await worker.infer({"text": "hello again"}))["text"] == "hello again"
        finally:
            await worker.stop()

    async def test_leave_no_process_behind(self, echo: WorkerModel, tmp_path: Path):
        workers = ModelWorkers()
        await workers.load(echo)
        assert len(workers_of(tmp_path)) == 1
        await workers.close()
        assert workers_of(tmp_path) == []

    async def test_refuse_a_kind_that_cannot_be_imported(self, workers: ModelWorkers, tmp_path: Path):
        with pytest.raises(ModelNotLoadable, match="no_such_module"):
            await workers.load(WorkerModel("no_such_module:load", str(tmp_path)))


class TestDialogueModels:
    async def test_reply_the_same_alone_and_together(self, shared_workers: ModelWorkers, gpt2: Path):
        model = WorkerModel(dialogue_kind.KIND, str(gpt2), device="cpu", max_batch_size=16)
        await shared_workers.load(model)
        request = {"turns": ["Hello."], "max_new_tokens": 4}
        together = await asyncio.gather(*(shared_workers.infer(model, request | {"seed": seed}) for seed in range(64)))
        alone = [await shared_workers.infer(model, request | {"seed": seed}) for seed in range(4)]
        counted = shared_workers.statistics(model)
        assert together[:4] == alone
        assert counted is not None
        assert counted.requests == 68
        assert counted.batches <= 4 + 8  # 64 in batches of 16, the last ones alone


class TestAnotherKindOfModel:
    async def test_scores_texts_whatever_their_neighbours(self, shared_workers: ModelWorkers, gpt2: Path):
        """Against the softmax of transformers' own forward pass of each text alone."""
        import torch  # noqa: PLC0415 - as above
        from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415 - as above

        from tests.factories.tiny_models import SENTENCES  # noqa: PLC0415 - as above
        from tests.inference import scoring_models  # noqa: PLC0415 - as above

        model = WorkerModel(scoring_models.KIND, str(gpt2), device="cpu", max_batch_size=8, max_queue_delay_ms=50)
        texts = [" ".join(SENTENCES[: 1 + number % 5]) for number in range(20)]
        await shared_workers.load(model)
        *results, refused = await asyncio.gather(
            *(shared_workers.infer(model, {"text": text}) for text in [*texts, ""]), return_exceptions=True
        )
        words, theirs = AutoTokenizer.from_pretrained(gpt2), AutoModelForCausalLM.from_pretrained(gpt2)
        for text, result in zip(texts, results, strict=True):
            assert isinstance(result, dict)
            ids = torch.tensor([words.encode(text)])
            with torch.no_grad():
                expected = theirs(ids).logits[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None])[:, 0]
            assert result["log_probabilities"] == pytest.approx(expected.tolist(), abs=1e-5)
            assert result["batch_size"] > 1
        assert isinstance(refused, RequestRefused)
        assert "2 to 256 tokens" in str(refused)
