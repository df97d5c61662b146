"""Models that the service hosts in worker processes of its own: uploaded, named, loaded, killed, refused."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from spotthebot.bots.probes.domain.conformance import SAMPLES_OF_OUR_MODELS
from spotthebot.inference.models.dialogue import kind as dialogue_kind
from tests.factories import echo_models
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import RunningSuite, bots_settings, run_suite
from tests.factories.studies import created
from tests.factories.tiny_models import talking_gpt2
from tests.factories.worker_processes import workers_of

SAMPLING = {"max_new_tokens": 6}
ELIZA = {"kind": "builtin", "model": "eliza"}
HOSTED = {"name": "mine", "backend": "worker"}


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
async def hosting(database_urls: DatabaseUrls, models: Path) -> AsyncIterator[RunningSuite]:
    models.mkdir()
    async with run_suite(database_urls, only={"bots"}, bots=bots_settings() | {"models_folder": models}) as suite:
        yield suite


def _bot(model: str) -> dict[str, Any]:
    protocol = {"kind": "transformers", "model": model, "sampling": SAMPLING}
    return {"name": "mine", "domains": ["everyday"], "protocol": protocol}


async def _failure_of(admin: httpx.AsyncClient, bot_id: str) -> str | None:
    answer = await admin.post(f"/v1/bots/{bot_id}/replies", json={"contexts": [{"turns": ["Hello."], "seed": 1}]})
    assert answer.status_code == 200, answer.text
    failure: str | None = answer.json()["replies"][0]["failure"]
    return failure


class TestHostedModel:
    async def test_is_uploaded_loaded_asked_and_removed(self, hosting: RunningSuite, models: Path, tmp_path: Path):
        made = talking_gpt2(tmp_path / "made")
        admin = await hosting.client("bots", "admin")
        path = "/v1/hosted-models/mine"
        out = await created(admin, "/v1/hosted-models", HOSTED)
        assert (out["state"], out["files"], out["files_sha256"]) == ("unloaded", [], None)
        assert (await admin.post(f"{path}/load")).status_code == 409  # no files yet
        for file in sorted(made.iterdir()):
            put = await admin.put(f"{path}/files/{file.name}", content=file.read_bytes())
            assert put.status_code == 200, put.text
            again = await admin.put(f"{path}/files/{file.name}", content=file.read_bytes())
            assert again.json() == put.json()  # every write can be retried
        listed = (await admin.get(path)).json()
        assert {file["name"] for file in listed["files"]} == {file.name for file in made.iterdir()}
        loaded = await admin.post(f"{path}/load")
        assert loaded.json()["state"] == "ready", loaded.text
        bot = await created(admin, "/v1/bots", _bot("mine"))
        assert bot["probe"]["questions"] > SAMPLES_OF_OUR_MODELS
        assert (bot["status"], bot["probe"]["deterministic"]) == ("active", True)
        contexts = {"contexts": [{"turns": ["Hello."], "seed": number} for number in range(64)]}
        replies = (await admin.post(f"/v1/bots/{bot['id']}/replies", json=contexts)).json()["replies"]
        assert len({reply["text"] for reply in replies}) > 32  # a seed each
        statistics = (await admin.get(path)).json()["statistics"]
        assert statistics["replies"] > 64
        assert statistics["mean_batch_size"] > 2
        assert statistics["failures"] == 0
        assert (await admin.put(f"{path}/files/config.json", content=b"{}")).status_code == 409  # it is loaded
        assert (await admin.post(f"{path}/unload")).json()["state"] == "unloaded"
        assert workers_of(models) == []
        assert (await admin.delete(path)).status_code == 204
        assert (await admin.get(path)).status_code == 404
        assert not (models / "uploads" / "mine").exists()

    async def test_whose_files_change_makes_its_bots_fail_until_the_files_are_back(
        self, hosting: RunningSuite, database_urls: DatabaseUrls, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(dialogue_kind, "KIND", echo_models.DIALOGUE_KIND)
        files = {"config.json": b'{"n_layer": 2}', "vocab.json": b"{}"}
        admin = await hosting.client("bots", "admin")
        path = "/v1/hosted-models/mine"
        await created(admin, "/v1/hosted-models", HOSTED)
        for name, content in files.items():
            assert (await admin.put(f"{path}/files/{name}", content=content)).status_code == 200
        bot = await created(admin, "/v1/bots", _bot("mine"))
        other = await created(admin, "/v1/bots", {"name": "e", "domains": ["everyday"], "protocol": ELIZA})
        assert (await admin.post(f"{path}/unload")).status_code == 200

        assert (await admin.put(f"{path}/files/config.json", content=b'{"n_layer": 3}')).status_code == 200
        found = (await admin.get(f"/v1/bots/{bot['id']}")).json()
        assert (found["status"], "have changed" in found["status_reason"]) == ("failing", True)
        assert (await admin.get(f"/v1/bots/{other['id']}")).json()["status"] == "active"
        assert await _failure_of(admin, bot["id"]) == "circuit_open"

        with psycopg.connect(database_urls.owner["bots"]) as connection:  # as if nobody had noticed the change
            connection.execute("UPDATE bots.bots SET status = 'active', status_reason = NULL")
        assert await _failure_of(admin, bot["id"]) == "circuit_open"
        assert (await admin.get(f"/v1/bots/{bot['id']}")).json()["status"] == "failing"

        assert (await admin.put(f"{path}/files/config.json", content=files["config.json"])).status_code == 200
        async with asyncio.timeout(30):
            while (await admin.get(f"/v1/bots/{bot['id']}")).json()["status"] != "active":
                await asyncio.sleep(0.05)
        assert await _failure_of(admin, bot["id"]) is None

        assert (await admin.post(f"{path}/unload")).status_code == 200
        assert (await admin.delete(path)).status_code == 204
        assert (await admin.get(f"/v1/bots/{bot['id']}")).json()["status"] == "failing"

    async def test_comes_back_when_its_worker_was_killed(self, hosting: RunningSuite, models: Path):
        talking_gpt2(models / "tiny")
        admin = await hosting.client("bots", "admin")
        bot = await created(admin, "/v1/bots", _bot("tiny"))
        path, body = f"/v1/bots/{bot['id']}/replies", {"contexts": [{"turns": ["Hello."], "seed": 3}]}
        before = (await admin.post(path, json=body)).json()["replies"][0]
        (worker,) = workers_of(models)
        worker.kill()
        async with asyncio.timeout(10):  # of loading the model, and not of importing torch again
            after = (await admin.post(path, json=body)).json()["replies"][0]
        assert (after["failure"], after["text"]) == (None, before["text"])

    async def test_a_model_that_cannot_be_loaded_says_why(self, hosting: RunningSuite, models: Path):
        (models / "broken").mkdir()
        (models / "broken" / "config.json").write_text("{}")
        (models / "empty").mkdir()
        (models / "file").write_text("")
        admin = await hosting.client("bots", "admin")
        await created(admin, "/v1/hosted-models", HOSTED | {"name": "broken", "directory": "broken"})
        loading = await admin.post("/v1/hosted-models/broken/load")
        assert (loading.status_code, "'broken' can't be loaded" in loading.json()["detail"]) == (422, True)
        bot = await created(admin, "/v1/bots", _bot("broken"))
        assert (bot["status"], "'broken' can't be loaded" in bot["status_reason"]) == ("failing", True)
        for shown in (loading.text, bot["status_reason"], str(bot["probe"])):
            assert str(models) not in shown
            assert "/" not in shown.replace("/v1/hosted-models/broken/load", "")
        for directory in ("..", "../..", "/etc", "nowhere", "file", ".", "", "a/../../.."):
            answer = await admin.post("/v1/hosted-models", json=HOSTED | {"directory": directory})
            assert answer.status_code == 422, directory
        answer = await admin.post("/v1/hosted-models", json=HOSTED | {"directory": "empty"})
        assert (answer.status_code, "neither config.json" in answer.json()["detail"]) == (422, True)
        for outside in ("/etc", "../..", "~/x"):
            assert (await admin.post("/v1/bots", json=_bot(outside))).status_code == 422, outside

    async def test_files_that_are_no_models_are_not_selected(self, hosting: RunningSuite, models: Path):
        admin = await hosting.client("bots", "admin")
        await created(admin, "/v1/hosted-models", HOSTED)
        refused = [
            "evil.py",
            "weights.bin",
            "pickle.pkl",
            ".json",
            "a%2Fb.json",
            "..%2F..%2Fx.json",
            f"{'a' * 300}.json",
        ]
        for name in refused:
            answer = await admin.put(f"/v1/hosted-models/mine/files/{name}", content=b"{}")
            assert answer.status_code in {404, 422}, name
        assert [path for path in models.rglob("*") if path.is_file()] == []

    async def test_is_for_administrators(self, hosting: RunningSuite):
        for role in ("team", "analyst", "annotation", "service"):
            client = await hosting.client("bots", role, team="us" if role == "team" else None)
            answers = [
                await client.get("/v1/hosted-models"),
                await client.post("/v1/hosted-models", json=HOSTED),
                await client.put("/v1/hosted-models/mine/files/config.json", content=b"{}"),
                await client.post("/v1/hosted-models/mine/load"),
                await client.delete("/v1/hosted-models/mine"),
            ]
            assert {answer.status_code for answer in answers} == {403}

    async def test_on_triton_needs_one(self, hosting: RunningSuite):
        admin = await hosting.client("bots", "admin")
        answer = await admin.post("/v1/hosted-models", json={"name": "x", "backend": "triton"})
        assert (answer.status_code, "./stb up --triton" in answer.json()["detail"]) == (409, True)
        bot = {"name": "x", "domains": ["everyday"], "protocol": {"kind": "triton", "model": "x"}}
        out = await created(admin, "/v1/bots", bot)
        assert (out["status"], "no Triton of its own" in out["status_reason"]) == ("failing", True)

    async def test_a_file_can_be_larger_than_other_bodies_and_not_larger_than_agreed(
        self, database_urls: DatabaseUrls, models: Path
    ):
        models.mkdir()
        sizes = {"models_folder": models, "max_body_bytes": 2048, "largest_model_bytes": 10_000}
        async with run_suite(database_urls, only={"bots"}, bots=bots_settings() | sizes) as suite:
            admin = await suite.client("bots", "admin")
            await created(admin, "/v1/hosted-models", HOSTED)
            path = "/v1/hosted-models/mine/files/model.safetensors"
            assert (await admin.put(path, content=b"x" * 9_000)).json()["bytes"] == 9_000
            assert (await admin.put(path, content=b"x" * 11_000)).status_code in {413, 422}
            assert (models / "uploads" / "mine" / "model.safetensors").stat().st_size == 9_000
            assert sorted(path.name for path in models.iterdir()) == ["uploads"]  # nothing unfinished is left
