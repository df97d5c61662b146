"""What a stop in the middle and processes that hang do to a running suite: nothing that lasts."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import psutil
import psycopg
import pytest

from spotthebot.analytics.worker import TASKS as ANALYTICS
from spotthebot.annotation.worker import TASKS as ANNOTATION
from spotthebot.contracts.services import SERVICES
from spotthebot.conversations.worker import TASKS as CONVERSATIONS
from tests.factories.stb_folder import Folder, data_folder, lives, running_up, wait_until

KINDS = {
    "conversations": {task.name for task in CONVERSATIONS},
    "annotation": {task.name for task in ANNOTATION},
    "analytics": {task.name for task in ANALYTICS},
}
ONLY = [word for name in ("bots", *KINDS, "web") for word in ("--only", name)]
# What each of the jobs that no bot delays writes in its middle.
GATES = {
    "conversations": "conversations.quality_flags, conversations.dialogues",
    "annotation": "annotation.packages",
    "analytics": "analytics.step_job_results",
}


@pytest.fixture(scope="module")
def folder() -> Iterator[Folder]:
    with data_folder() as made:
        yield made


class SlowBot:
    """A bot that answers its probe at once and everything else when it may."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        self.may_answer.set()
        bot = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                bot.may_answer.wait(120)
                body = b'{"text": "I see."}'
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def close(self) -> None:
        self.may_answer.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def slow_bot() -> Iterator[SlowBot]:
    bot = SlowBot()
    yield bot
    bot.close()


class Suite:
    """The services of a suite that runs, as the operator asks them."""

    def __init__(self, folder: Folder, port_base: int) -> None:
        key = json.loads(folder.stb("keys", "create", "--role", "admin", "--json").stdout)["key"]
        self._headers = {"Authorization": f"Bearer {key}"}
        self._urls = {each.name: f"http://127.0.0.1:{each.port_after(port_base)}" for each in SERVICES}

    def post(self, service: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        url = f"{self._urls[service]}/v1/{path}"
        answer = httpx.post(url, json=body, headers=self._headers, timeout=60, trust_env=False)
        assert answer.is_success, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def delete(self, service: str, path: str) -> None:
        url = f"{self._urls[service]}/v1/{path}"
        httpx.delete(url, headers=self._headers, timeout=60, trust_env=False).raise_for_status()

    def get(self, service: str, path: str) -> dict[str, Any]:
        url = f"{self._urls[service]}/v1/{path}"
        answer = httpx.get(url, headers=self._headers, timeout=60, trust_env=False)
        assert answer.is_success, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def register(self, name: str, protocol: dict[str, Any]) -> str:
        limits = {"timeout_seconds": 100, "concurrency": 8}
        request = {"name": name, "domains": ["everyday"], "protocol": protocol, "limits": limits}
        bot_id: str = self.post("bots", "bots", request)["id"]
        return bot_id

    def collect(self, name: str, bots: list[str]) -> str:
        request = {"mode": "self_play", "name": name, "domain": "everyday", "bots": bots, "exchanges": 2}
        request |= {"conversations_per_pair": 2, "seed": 1}
        collection_id: str = self.post("conversations", "collections", request)["id"]
        return collection_id


def database_urls(folder: Folder) -> dict[str, str]:
    urls: dict[str, str] = json.loads((folder.data / "suite.json").read_text())["database_owner_urls"]
    return urls


def jobs(folder: Folder) -> dict[str, list[tuple[str, str, int]]]:
    """Return name, status and attempts of all jobs by service."""
    found = {}
    for schema, url in database_urls(folder).items():
        if schema in KINDS:
            with psycopg.connect(url) as connection:
                rows = connection.execute(
                    f"SELECT split_part(task_name, ':', 2), status::text, attempts FROM {schema}.procrastinate_jobs"  # noqa: S608 - our own
                ).fetchall()
            found[schema] = rows
    return found


@contextmanager
def closed_gates(folder: Folder) -> Iterator[None]:
    """Let nobody write to the tables that jobs write to in their middle."""
    with ExitStack() as stack:
        for schema, tables in GATES.items():
            connection = stack.enter_context(psycopg.connect(database_urls(folder)[schema]))
            connection.execute(f"LOCK TABLE {tables} IN SHARE MODE")
        yield


@dataclass(frozen=True)
class Stopped:
    """What was under way when the suite was stopped: ids of what is to be completed, and of a bot that replies."""

    folder: Folder
    quick: str
    checked: str
    campaign: str
    analysis: str
    collection: str
    chat: str


@pytest.fixture(scope="module")
def stopped(folder: Folder, port_base: int, slow_bot: SlowBot) -> Stopped:
    """Stop a suite in the middle of every kind of job: `stb down` aborts what takes longer than ten seconds."""
    with running_up(folder, port_base, *ONLY) as process:
        suite = Suite(folder, port_base)
        slow = suite.register("slow", {"kind": "webhook", "url": slow_bot.url})
        quick = suite.register("quick", {"kind": "builtin", "model": "eliza"})
        finished = suite.collect("finished", [quick])
        wait_until(lambda: suite.get("conversations", f"collections/{finished}")["state"] == "complete", 60)
        wait_until(lambda: not any(jobs(folder).values()), 60)  # its first quality check, too
        corpus = suite.post("conversations", "corpora", _CORPUS)["id"]
        suite.post("conversations", f"corpora/{corpus}/dialogues", _DIALOGUES)
        slow_bot.may_answer.clear()
        with pytest.raises(psycopg.Error), closed_gates(folder):
            suite.post("conversations", f"collections/{finished}/quality-flags", {})
            campaign = suite.post("annotation", "campaigns", _campaign(finished))["id"]
            suite.delete("conversations", f"corpora/{corpus}")
            analysis = suite.post("analytics", "analyses", _PLANNING)["id"]
            collection = suite.collect("slow", [slow])
            study = suite.post("conversations", "collections", _study(slow))["id"]
            chat = suite.post("conversations", "chats", {"collection_id": study, "interactor": "ann"})["id"]
            suite.post("conversations", f"chats/{chat}/turns", {"number": 1, "text": "Hello!"})
            wait_until(lambda: _doing(jobs(folder)) == KINDS, 60)
            assert folder.process("down").returncode == 0
            process.wait(60)
    slow_bot.may_answer.set()
    return Stopped(folder, quick, finished, campaign, analysis, collection, chat)


@pytest.fixture(scope="module")
def up_again(stopped: Stopped, port_base: int) -> Iterator[subprocess.Popen[bytes]]:
    """The suite that was stopped, started again."""
    with running_up(stopped.folder, port_base, *ONLY) as process:
        yield process


class TestPoliteStop:
    @pytest.mark.usefixtures("up_again")
    def test_in_the_middle_of_every_kind_of_job_loses_none(self, stopped: Stopped, port_base: int):
        """`stb up` goes on with all of it."""
        suite = Suite(stopped.folder, port_base)
        wait_until(lambda: suite.get("analytics", f"analyses/{stopped.analysis}")["state"] == "complete", 60)
        wait_until(lambda: suite.get("annotation", f"campaigns/{stopped.campaign}")["state"] == "open", 60)
        collection = f"collections/{stopped.collection}"
        wait_until(lambda: suite.get("conversations", collection)["state"] == "complete", 60)
        checked = f"collections/{stopped.checked}/quality"
        wait_until(lambda: suite.get("conversations", checked)["check"]["state"] == "done", 60)
        wait_until(lambda: len(_turns(suite.get("conversations", f"chats/{stopped.chat}"))) == 2, 60)
        wait_until(lambda: not any(jobs(stopped.folder).values()), 60)


class TestHangingProcesses:
    def test_a_service_the_pages_a_worker_and_postgresql_that_hang_at_once_all_come_back(
        self, stopped: Stopped, up_again: subprocess.Popen[bytes], port_base: int
    ):
        folder, suite = stopped.folder, Suite(stopped.folder, port_base)
        before = _pids(folder)
        server = _postmaster(up_again)
        names = ("annotation", "web", "conversations-worker")  # each kind of process
        hung = [*(before[name] for name in names), server.pid]
        for pid in hung:
            os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: not any(lives(psutil.Process(pid)) for pid in hung if psutil.pid_exists(pid)), 90)
        wait_until(lambda: folder.stb("status").returncode == 0, 60)
        after = _pids(folder)
        collection = suite.collect("after", [stopped.quick])
        wait_until(lambda: suite.get("conversations", f"collections/{collection}")["state"] == "complete", 60)
        replaced = {name for name in before if before[name] != after[name]}
        assert replaced == {*names}  # and no other: the rest waits for PostgreSQL
        printed = (folder.parent / "up.log").read_text()
        assert all(f"{name} does not answer" in printed for name in (*names, "postgres"))


_CORPUS = {"name": "unused", "domain": "everyday", "origin": "Written for a test.", "licence": "Apache-2.0"}
_DIALOGUES = {"dialogues": [{"key": "d", "split": "train", "turns": ["Hello!", "Hello, how are you?"]}]}
_PLANNING = {"kind": "planning", "win_rates": [0.6]}


def _campaign(collection: str) -> dict[str, Any]:
    return {"mode": "live", "name": "c", "domain": "everyday", "collection_id": collection, "segments": [1, 2]}


def _study(bot: str) -> dict[str, Any]:
    return {"mode": "human_bot", "name": "people", "domain": "everyday", "bots": [bot], "bots_per_chat": 1}


def _doing(found: dict[str, list[tuple[str, str, int]]]) -> dict[str, set[str]]:
    return {schema: {name for name, status, _ in rows if status == "doing"} for schema, rows in found.items()}


def _turns(chat: dict[str, Any]) -> list[Any]:
    turns: list[Any] = chat["conversations"][-1]["turns"]
    return turns


def _pids(folder: Folder) -> dict[str, int]:
    status = folder.status()
    return {each["name"]: each["pid"] for each in status["services"] + status["workers"]}


def _postmaster(up: subprocess.Popen[bytes]) -> psutil.Process:
    postgres = next(each for each in psutil.Process(up.pid).children(recursive=True) if each.name() == "postgres")
    return next((each for each in reversed(postgres.parents()) if each.name() == "postgres"), postgres)
