"""A model from training to a bot, by `stb`: trained, hosted on Triton, registered; its server killed and back again."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from spotthebot.inference.errors import TritonNotHere
from spotthebot.local.triton import find_installation
from tests.factories.command_line import run_stb

STB = [sys.executable, "-m", "spotthebot.cli"]


@pytest.fixture
def parent() -> Iterator[Path]:
    try:
        find_installation()
    except TritonNotHere as error:
        pytest.skip(str(error))
    made = Path(tempfile.mkdtemp(prefix="stb-e2e-"))
    made.chmod(0o755)
    (made / "homes").mkdir(mode=0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


def _wait_until(holds: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def _tritons(folder: Path) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["cmdline", "name"])
        if process.info["name"] == "tritonserver" and str(folder) in " ".join(process.info["cmdline"] or ())
    ]


class TestHosting:
    def test_a_bot_of_a_trained_model_survives_the_death_of_its_server(self, parent: Path, port_base: int):
        data = parent / "data"
        environment = os.environ | {"SPOTTHEBOT_POSTGRES_HOME": str(parent / "homes"), "COLUMNS": "200"}

        out = data / "models" / "mine"
        trained = run_stb("bots", "train", "gpt", "--corpus", "sample", "--out", out, "--steps", "3")
        assert "Trained gpt" in trained.stdout + trained.stderr, trained
        log = (parent / "up.log").open("wb")
        command = [*STB, "up", "--triton", "--only", "bots", "--port-base", str(port_base), "--data-dir", str(data)]
        up = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            _wait_until(lambda: run_stb("status", "--data-dir", data).returncode == 0, 90)
            printed = run_stb("keys", "create", "--role", "admin", "--data-dir", data).stdout
            key = next(word for word in printed.split() if word.startswith("stb_admin_"))
            headers = {"Authorization": f"Bearer {key}"}
            url = f"http://127.0.0.1:{port_base + 1}"
            with httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False) as bots:
                hosted = {"name": "mine", "directory": "mine"}
                assert bots.post("/v1/hosted-models", json=hosted).status_code == 201
                assert bots.post("/v1/hosted-models/mine/load").json()["state"] == "ready"
                assert bots.get("/v1/hosted-models/triton/repository").json() == {
                    "answers": True,
                    "models": {"mine": "READY"},
                }
                protocol = {"kind": "triton", "model": "mine", "sampling": {"max_new_tokens": 8, "temperature": 0.5}}
                bot = {"name": "mine", "domains": ["everyday"], "protocol": protocol}
                path = f"/v1/bots/{bots.post('/v1/bots', json=bot).json()['id']}/replies"
                question = {"contexts": [{"turns": ["Hello, how are you?"], "seed": 3}]}
                before = bots.post(path, json=question).json()["replies"][0]
                assert before["detail"] is None
                (server,) = _tritons(data)
                server.kill()
                _wait_until(lambda: bots.post(path, json=question).json()["replies"][0]["failure"] is None, 60)
                after = bots.post(path, json=question).json()["replies"][0]
                assert after["text"] == before["text"]  # another server, the same seed
            said = (parent / "up.log").read_text()
            assert "Bots on this machine may be registered" in " ".join(said.split())
            assert "triton died" in said
        finally:
            up.send_signal(signal.SIGINT)
            try:
                up.wait(60)
            finally:
                up.kill()  # one that hangs would outlive the test run
                log.close()
        assert _tritons(data) == []
