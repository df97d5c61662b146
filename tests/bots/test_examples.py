"""The examples of `docs/register-a-bot.md`: each is run as it stands, checked, registered, and asked by a client."""

import asyncio
import contextlib
import json
import os
import re
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from spotthebot.kit.processes.sockets import bind
from tests.factories.command_line import run_stb
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import RunningSuite, bots_settings, run_suite
from tests.factories.studies import add_bot, created, plan, until
from tests.factories.tiny_models import talking_blenderbot, talking_blenderbot_small, talking_convai2

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BOTS: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "webhook_bot": ("/reply", {"kind": "webhook"}, ["--secret-from", "SECRET"]),
    "openai_bot": ("/v1", {"kind": "openai", "model": "mine"}, ["--model", "mine"]),
    "parlai_bot": ("", {"kind": "parlai"}, []),
    "triton_bot": ("", {"kind": "triton", "model": "bot", "transport": "http"}, ["--model", "bot"]),
}


@asynccontextmanager
async def _example(name: str, **environment: str) -> AsyncIterator[str]:
    with contextlib.closing(bind("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
        command = [sys.executable, "-m", "uvicorn", f"{name}:app", "--fd", str(sock.fileno()), "--log-level", "error"]
        if name == "webhook_bot":  # listens by itself
            sock.close()
            command = [sys.executable, f"{name}.py"]
        else:
            sock.listen()
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=EXAMPLES,
            env=os.environ | {"SECRET": SECRET, "PORT": str(port)} | environment,
            pass_fds=[sock.fileno()] if sock.fileno() >= 0 else [],
            stderr=DEVNULL,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            async with httpx.AsyncClient(trust_env=False, transport=httpx.AsyncHTTPTransport(retries=8)) as http:
                await http.get(f"{url}/docs", timeout=90)  # accepted by the socket, answered when it is up
            yield url
        finally:
            process.terminate()
            await process.wait()


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """The secret that `--secret-from SECRET` names."""
    monkeypatch.setenv("SECRET", SECRET)


async def _check(url: str, *arguments: str) -> tuple[int, str]:
    """Return the exit code and what the command printed: the report, or an error on standard error."""
    done = await asyncio.to_thread(run_stb, "bots", "check", url, *arguments)
    assert bool(done.stdout) != bool(done.stderr), "results go to standard output, errors to standard error"
    return done.returncode, done.stdout or done.stderr


class TestExamples:
    @pytest.mark.parametrize("name", BOTS)
    async def test_pass_the_check_can_be_registered_and_hold_conversations(self, suite: RunningSuite, name: str):
        path, protocol, arguments = BOTS[name]
        where = "base_url" if protocol["kind"] == "openai" else "url"
        options = ["--options", json.dumps({"transport": "http"})] if "transport" in protocol else []
        async with _example(name) as url:
            checked, printed = await _check(
                f"{url}{path}", "--protocol", protocol["kind"], *arguments, *options, "--json"
            )
            assert checked == 0, printed
            assert json.loads(printed)["passed"] is True
            admin = await suite.client("bots", "admin")
            body = {"name": name, "domains": ["everyday"], "protocol": protocol | {where: f"{url}{path}"}}
            body |= {"secret": SECRET} if name == "webhook_bot" else {}
            out = await created(admin, "/v1/bots", body)
            assert (out["status"], out["probe"]["passed"]) == ("active", True), out["probe"]
            collections = await suite.client("conversations", "admin")
            collection = await created(collections, "/v1/collections", plan([out["id"], await add_bot(suite, "eliza")]))
            done = await until(collections, f"/v1/collections/{collection['id']}", "complete")
            assert (done["complete"], done["failed"], done["turns"]) == (2, 0, 8)

    def test_are_short_and_in_the_guide(self):
        guide = (ROOT / "docs" / "register-a-bot.md").read_text()
        for name in BOTS:
            code = re.sub(r'^""".*?"""', "", (EXAMPLES / f"{name}.py").read_text(), flags=re.DOTALL)
            assert len([line for line in code.splitlines() if line.strip()]) <= (40 if name == "webhook_bot" else 24)
            assert f"examples/{name}.py" in guide


class TestThePapersPool:
    """The recipes of docs/hosting.md for bots of Deriu et al. (2020) that others trained, with tiny models."""

    @pytest.mark.parametrize("save", [talking_blenderbot, talking_blenderbot_small])
    async def test_blender_is_a_folder(self, save: Any, database_urls: DatabaseUrls, tmp_path: Path):
        save(tmp_path / "models" / "blender")
        settings = bots_settings() | {"models_folder": tmp_path / "models"}
        async with run_suite(database_urls, only={"bots"}, bots=settings) as suite:
            protocol = {"kind": "transformers", "model": "blender", "sampling": {"max_new_tokens": 8}}
            admin = await suite.client("bots", "admin")
            out = await created(admin, "/v1/bots", {"name": "BL", "domains": ["everyday"], "protocol": protocol})
            assert out["status"] == "active", out["probe"]
            contexts = {"contexts": [{"turns": ["Hi."], "seed": 1, "persona": each} for each in (None, "I am late.")]}
            answer = await admin.post(f"/v1/bots/{out['id']}/replies", json=contexts)
        assert all(each["text"] for each in answer.json()["replies"]), answer.text

    async def test_hugging_faces_bot_is_a_webhook_that_hears_its_persona(self, tmp_path: Path):
        folder = str(talking_convai2(tmp_path / "convai2"))
        question = {"speaker": "A", "seed": 3, "turns": [{"speaker": "B", "text": "Did you water the tomatoes?"}]}
        async with _example("convai2_bot", MODEL=folder) as url:
            checked, printed = await _check(f"{url}/reply", "--protocol", "webhook", "--json")
            async with httpx.AsyncClient(trust_env=False) as http:
                said = [
                    (await http.post(f"{url}/reply", json=question | {"persona": each})).json()["text"]
                    for each in (None, "I made lentil soup", None)
                ]
        assert checked == 0, printed
        assert said[0] == said[2] != said[1]


class TestCheck:
    @pytest.mark.parametrize("arguments", [(), ("--secret-from", "OTHER")])
    async def test_names_each_finding_and_exits_with_1_if_one_failed(
        self, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setenv("OTHER", f"whsec_{'x' * 32}")
        async with _example("webhook_bot") as url:
            code, printed = await _check(f"{url}/reply", *arguments)  # without its secret, so that it can't verify us
        assert code == 1
        assert "401" in printed
        assert "can't take part yet" in printed
        assert [line.split()[0] for line in printed.splitlines()] == ["Check", "reachable", "14", "The"], printed

    async def test_reports_a_bot_that_is_not_there(self):
        code, printed = await _check("http://127.0.0.1:9/reply")
        assert (code, "connection failed" in " ".join(printed.split())) == (1, True)

    async def test_says_how_long_it_waited_for_a_silent_bot(self):
        with contextlib.closing(bind("127.0.0.1", 0)) as silent:
            silent.listen()
            code, printed = await _check(f"http://127.0.0.1:{silent.getsockname()[1]}", "--timeout", "0.2")
        assert (code, "No reply within 0.2 s." in printed, "stb bots check" in printed) == (1, True, False), printed

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["not-a-url"], "begins with http"),
            (["http://127.0.0.1:9", "--protocol", "openai"], "model: is missing"),
            (["http://127.0.0.1:9", "--options", "{"], "not a JSON object"),
            (["http://127.0.0.1:9", "--secret-from", "NOT_SET_ANYWHERE"], "NOT_SET_ANYWHERE is not set"),
        ],
    )
    async def test_says_which_options_a_protocol_needs(self, arguments: list[str], words: str):
        code, printed = await _check(*arguments)
        assert code == 1
        assert words in " ".join(printed.split())
        assert "Traceback" not in printed
