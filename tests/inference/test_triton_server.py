import asyncio
import json
import signal
import sysconfig
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
import pytest
from tritonclient.grpc import InferInput
from tritonclient.grpc import aio as triton
from tritonclient.utils import InferenceServerException

from spotthebot.contracts.fed.scorers import DimensionSetRef, ScorerIn
from spotthebot.contracts.fed.scores import DialogueIn, DialogueTurn, ScoresIn
from spotthebot.fed.dialogues.domain.dialogues import Dialogue, Level, Turn
from spotthebot.fed.dimension_sets.domain.published_dimensions import FED_TURN
from spotthebot.fed.scores.domain.modes import ScoringRule
from spotthebot.inference.errors import TritonNotHere
from spotthebot.inference.models.batch import run_batch
from spotthebot.inference.models.dialogue import kind as dialogue_kind
from spotthebot.inference.models.dialogue.kind import load
from spotthebot.inference.models.dialogue.requests import GenerationRequest
from spotthebot.inference.models.likelihood import kind as likelihood_kind
from spotthebot.inference.triton.repository import write_model
from spotthebot.inference.triton.server import SHARED_MEMORY, clean_memory, memory_prefix
from spotthebot.local.environments import TRITON, Environment
from spotthebot.local.scoring.dialogue_files import DialogueToScore, ReadDialogues
from spotthebot.local.scoring.run import ScoringOptions, score_dialogues
from spotthebot.local.triton import development_server, find_installation
from tests.factories.running_suite import run_suite
from tests.factories.tiny_models import gpt2

NAME = "dialogue"
REQUESTS = (
    {"turns": ["Did you water the tomatoes?"], "max_new_tokens": 8},
    {"turns": [], "seed": 3, "max_new_tokens": 12},
    {"turns": ["Hello.", "Hi, how are you?", "Fine! 🍅"], "seed": 4, "temperature": 0.7, "top_k": 5},
    {"turns": ["The train is late."], "temperature": 0, "repetition_penalty": 1.3, "max_new_tokens": 20},
    {"turns": ["My bike has a flat tyre again. " * 20], "persona": "I am a baker.", "seed": 5, "top_p": 0.8},
)


@pytest.fixture(scope="module")
def installation():
    try:
        return find_installation()
    except TritonNotHere as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return gpt2(tmp_path_factory.mktemp("weights"))


@pytest.fixture(scope="module")
async def server(installation, weights, tmp_path_factory):
    async with development_server(tmp_path_factory.mktemp("data"), installation) as addresses:
        write_model(addresses.repository, NAME, weights, kind=dialogue_kind.KIND, max_queue_delay_microseconds=50_000)
        async with triton.InferenceServerClient(addresses.grpc) as client:
            await client.load_model(NAME)
        yield addresses


@pytest.fixture(scope="module")
async def scorer(server, weights):
    """The name of a served model of likelihoods."""
    write_model(server.repository, "scorer", weights, kind=likelihood_kind.KIND, max_queue_delay_microseconds=50_000)
    async with triton.InferenceServerClient(server.grpc) as client:
        await client.load_model("scorer")
    return "scorer"


@pytest.fixture
async def client(server):
    async with triton.InferenceServerClient(server.grpc) as opened:
        yield opened


async def asked(client, *requests, model=NAME, seconds=30):
    """Return the model's answers to one inference with these requests in its batch."""
    texts = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in requests]
    tensor = InferInput("request", [len(texts), 1], "BYTES")
    tensor.set_data_from_numpy(np.array([[text] for text in texts], dtype=np.object_))
    result = await client.infer(model, [tensor], client_timeout=seconds)
    return [json.loads(text) for text in result.as_numpy("reply").reshape(-1)]


async def counted(client, name=NAME):
    """Return how many requests were answered so far, and in how many executions."""
    (model,) = (await client.get_inference_statistics(name)).model_stats
    return np.array([model.inference_count, model.execution_count])


def stubs_of(repository: Path):
    """Return the running processes of the repository's Python models."""
    return [
        process
        for process in psutil.process_iter(["cmdline", "status"])
        if str(repository / NAME) in " ".join(process.info["cmdline"] or ()) and process.info["status"] != "zombie"
    ]


def memory_of_triton(folder: Path):
    """Return the shared memory of this folder's server, and any that has Triton's own names; others use it, too."""
    return {file for file in SHARED_MEMORY.iterdir() if file.name.startswith((memory_prefix(folder), "triton"))}


class TestServer:
    async def test_answers_over_grpc_as_the_model_does(self, client, weights):
        model = load(str(weights))
        expected = model.replies([GenerationRequest.from_json(request) for request in REQUESTS])
        assert await asked(client, *REQUESTS) == [{"text": text} for text in expected]

    async def test_answers_over_http(self, client, server):
        body = {
            "inputs": [
                {"name": "request", "shape": [1, 1], "datatype": "BYTES", "data": [json.dumps(REQUESTS[0])]},
            ]
        }
        async with httpx.AsyncClient(base_url=server.http) as http:
            answer = await http.post(f"/v2/models/{NAME}/infer", json=body)
        assert [json.loads(text) for text in answer.json()["outputs"][0]["data"]] == await asked(client, REQUESTS[0])

    async def test_batches_what_arrives_together(self, client):
        before = await counted(client)
        apart = await asyncio.gather(*(asked(client, {**REQUESTS[0], "seed": seed}) for seed in range(32)))
        async with asyncio.timeout(30):
            # Triton counts a batch after its answers have left.
            while (now := await counted(client) - before)[0] < 32:
                await asyncio.sleep(0.05)
        requests, executions = now
        assert requests == 32
        assert executions < 32
        assert len({answer["text"] for (answer,) in apart}) > 16  # each got the reply of its own seed
        assert apart[7] == await asked(client, {**REQUESTS[0], "seed": 7})

    async def test_fails_only_the_requests_that_are_bad(self, client):
        bad: tuple[Any, ...] = (
            {"turns": "no list"},
            b"no json",
            b"\xff\xfe",
            {"turns": [], "temperature": -1},
            b"[]",
            {"turn": []},
        )
        good, *errors, last = await asked(client, REQUESTS[0], *bad, REQUESTS[1])
        assert [list(answer) for answer in (good, last)] == [["text"], ["text"]]
        assert [list(answer) for answer in errors] == [["error"]] * len(bad)
        assert errors[0]["error"] == "turns must be a list of texts"

    async def test_says_why_a_model_cannot_be_loaded(self, client, server, tmp_path):
        write_model(server.repository, "nowhere", tmp_path / "nothing", kind=dialogue_kind.KIND)
        with pytest.raises(InferenceServerException, match="NoSuchModel"):
            await client.load_model("nowhere")
        assert await asked(client, REQUESTS[0])

    async def test_is_ready_without_its_models_process_until_that_is_loaded_again(self, client, server):
        (stub,) = stubs_of(server.repository)
        stub.send_signal(signal.SIGKILL)
        while stub.status() != psutil.STATUS_ZOMBIE:  # Triton does not notice, so nobody takes note of its end
            await asyncio.sleep(0.02)
        assert await client.is_server_ready()
        assert await client.is_model_ready(NAME)
        with pytest.raises(InferenceServerException, match="not healthy"):
            await asked(client, REQUESTS[0], seconds=5)
        await client.unload_model(NAME)
        await client.load_model(NAME)
        assert "text" in (await asked(client, REQUESTS[0]))[0]


class TestServedLikelihoods:
    async def test_are_those_of_the_model_in_process_for_requests_that_arrive_together(self, client, scorer, weights):
        """Sums that a batch does in another order differ by rounding; `tests/inference/likelihood` says how little."""
        turns = [["Hello."], ["Hello.", "Hi, how are you?", "Fine! 🍅"], ["The train is late."], ["bread " * 99]]
        followups = ["That makes no sense!", "That is good.", "Why?"]
        requests = [
            {"turns": turns[number % 4], "followups": followups[: 1 + number % 3], "context_likelihood": True}
            for number in range(24)
        ]
        apart = await asyncio.gather(*(asked(client, each, model=scorer) for each in requests))
        in_process = run_batch(likelihood_kind.load(str(weights)), [json.dumps(each) for each in requests])
        for (served,), expected in zip(apart, in_process, strict=True):
            assert list(served) == list(expected)
            for one, other in zip(served.get("contexts", []), expected.get("contexts", []), strict=True):
                assert one["context_nll"] == pytest.approx(other["context_nll"], rel=1e-5)
                for mine, its in zip(one["followups"], other["followups"], strict=True):
                    assert mine == pytest.approx(its, rel=1e-5)
        assert ["error" in each for (each,) in apart] == [number % 4 == 3 for number in range(24)]  # too long
        answered, executions = await counted(client, scorer)
        assert (answered, executions < 24) == (24, True)

    async def test_give_the_scores_of_the_service_fed_that_the_model_gives_in_process(
        self, server, scorer, weights, database_urls
    ):
        said = (("ann", "Hello."), ("bot", "Hi, how are you?"), ("ann", "Fine!"), ("bot", "Good."))
        dialogue = DialogueIn(id="d", turns=tuple(DialogueTurn(speaker=who, text=text) for who, text in said))
        async with run_suite(database_urls, only=["fed"], fed={"triton_servers": (server.grpc,)}) as suite:
            fed = await suite.fed("admin")
            asked_for = ScorerIn(model=f"triton:{scorer}", dimension_set=DimensionSetRef(set="fed-turn"))
            served = await fed.score_dialogues(ScoresIn(scorer=asked_for, dialogues=(dialogue,), level="turn"))
        given = Dialogue("d", tuple(Turn(*each) for each in said))
        read = ReadDialogues((DialogueToScore(1, given, given.ends(Level.TURN), {}),), ())
        options = ScoringOptions(FED_TURN.dimensions, ScoringRule())
        expected = score_dialogues(likelihood_kind.load(str(weights)), read, options, lambda _: None)
        in_process = {(each.turn, each.score.dimension): each.score.score for each in expected.scores}
        assert len(in_process) == 3 * len(FED_TURN.dimensions)
        assert {(each.turn, each.dimension): each.score for each in served.scores} == pytest.approx(
            in_process, abs=1e-4
        )


class TestDevelopmentServer:
    async def test_leaves_no_process_and_no_shared_memory(self, installation, weights, tmp_path):
        before = memory_of_triton(tmp_path)
        async with development_server(tmp_path, installation) as addresses:
            write_model(addresses.repository, NAME, weights, kind=dialogue_kind.KIND)
            async with triton.InferenceServerClient(addresses.grpc) as client:
                await client.load_model(NAME)
                assert memory_of_triton(tmp_path) > before
                (stub,) = stubs_of(addresses.repository)
        assert not stub.is_running() or stub.status() == psutil.STATUS_ZOMBIE
        assert memory_of_triton(tmp_path) <= before

    def test_removes_the_shared_memory_of_a_killed_one(self, tmp_path):
        with clean_memory(tmp_path):
            ours = SHARED_MEMORY / f"{memory_prefix(tmp_path)}left-over"
            ours.touch()
        assert not ours.exists()


class TestFindInstallation:
    def test_says_that_there_is_no_such_program_for_this_platform(self, monkeypatch, tmp_path):
        nowhere = Environment("triton", ("stb-no-such-server==0.7.0",))
        monkeypatch.setattr("spotthebot.local.triton.TRITON", nowhere)
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        with pytest.raises(TritonNotHere, match="No matching distribution found for stb-no-such-server"):
            find_installation(tmp_path)

    def test_says_that_python_has_no_shared_library(self, monkeypatch, tmp_path):
        names = {"INSTSONAME": "libpython3.11.a", "LIBDIR": "/usr/lib"}
        monkeypatch.setattr(sysconfig, "get_config_var", names.get)
        with pytest.raises(TritonNotHere, match="--enable-shared"):
            find_installation(tmp_path)

    def test_holds_the_pins_that_the_models_need(self):
        pins = dict(requirement.split("==") for requirement in TRITON.requirements)
        assert int(pins["numpy"].split(".")[0]) < 2
