"""Modules that are forked from a process with most imports: each lives and dies like a process of its own."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import socket
from typing import Any

import httpx
import psutil
import pytest

from spotthebot.kit.processes import forks
from spotthebot.kit.processes.errors import ServiceDidNotStart
from spotthebot.kit.processes.forks import Fork
from spotthebot.kit.processes.sockets import bind
from spotthebot.kit.processes.spec import Event, ProcessSpec
from spotthebot.kit.processes.supervisor import Supervisor
from tests.kit.processes.web_program import WEB

NEEDS = ("json", "spotthebot.kit.telemetry.logs")
WORKING = "import time; print('working', flush=True); time.sleep(60)"
SHOWN = """
import os, sys
print(__name__, sys.argv[1:], os.environ, os.getsid(0) == os.getpid(), repr(sys.stdin.read()))
print("an error", file=sys.stderr)
"""
SUPERVISED = """
import asyncio, sys
from pathlib import Path
from spotthebot.kit.processes.spec import ProcessSpec
from spotthebot.kit.processes.supervisor import Supervisor
async def main():
    argv = (sys.executable, "-m", "working_program")
    spec = ProcessSpec("working", argv, Path(sys.argv[1]), ready_line="working", fork_needs=("json",))
    async with Supervisor([spec]) as supervisor:
        print(supervisor.status()[0].pid, flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ProcessSpec]:
    monkeypatch.syspath_prepend(tmp_path)

    def make(name: str, program: str, *arguments: str, **options: Any) -> ProcessSpec:
        (tmp_path / f"{name}_program.py").write_text(program)
        argv = (sys.executable, "-m", f"{name}_program", *arguments)
        return ProcessSpec(name, argv, tmp_path / f"{name}.log", fork_needs=NEEDS, **options)

    return make


@pytest.fixture
def listening() -> Iterator[socket]:
    with bind("127.0.0.1", 0) as bound:
        yield bound


@contextmanager
def supervised(folder: Path, **variables: str) -> Iterator[tuple[subprocess.Popen[str], psutil.Process]]:
    """Run a supervisor in a process of its own, which is killed at the end; with its child."""
    arguments = [sys.executable, "-c", SUPERVISED, str(folder / "log")]
    paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": paths} | variables
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment) as supervisor:
        try:
            assert supervisor.stdout is not None
            yield supervisor, psutil.Process(int(supervisor.stdout.readline()))
        finally:
            supervisor.kill()


async def wait_until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


def pid_of(supervisor: Supervisor) -> int | None:
    (status,) = supervisor.status()
    return status.pid if status.healthy else None


class TestFork:
    async def test_has_arguments_environment_session_and_output_of_its_own(self, spec: Callable[..., ProcessSpec]):
        shown = spec("shown", SHOWN + WORKING, "one", "two", env={"ITS": "own"}, ready_line="working")
        async with Supervisor([shown]):
            lines = ["__main__ ['one', 'two'] environ({'ITS': 'own'}) True ''", "an error", "working"]
            assert shown.log_file.read_text().splitlines() == lines

    async def test_is_listed_under_its_own_command(self, spec: Callable[..., ProcessSpec]):
        async with Supervisor([spec("named", WORKING, "serve", ready_line="working")]) as supervisor:
            title = " ".join(psutil.Process(pid_of(supervisor)).cmdline()).rstrip()
        assert title == f"{sys.executable} -m named_program serve"

    async def test_keeps_its_port_when_it_is_killed(self, spec: Callable[..., ProcessSpec], listening: socket):
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        events: list[Event] = []
        web = spec("web", WEB, listener=listening, ready_url=url)
        async with Supervisor([web], on_event=events.append) as supervisor, httpx.AsyncClient(timeout=20) as client:
            killed = pid_of(supervisor)
            assert killed is not None
            assert int((await client.get(url)).text) == killed
            os.kill(killed, signal.SIGKILL)
            await wait_until(lambda: pid_of(supervisor) not in {killed, None})
            assert int((await client.get(url)).text) == pid_of(supervisor)
        assert [event.exit_code for event in events if event.kind == "died"] == [-signal.SIGKILL]
        assert events[-1].exit_code == -signal.SIGTERM

    async def test_says_why_it_does_not_start(self, spec: Callable[..., ProcessSpec]):
        with pytest.raises(ServiceDidNotStart, match=r"status 1\).*settings are missing"):
            await Supervisor(
                [spec("leaving", "raise SystemExit('settings are missing')", ready_line="working")]
            ).start()

    async def test_leaves_nothing_when_its_start_is_cancelled(self, spec: Callable[..., ProcessSpec], tmp_path: Path):
        argv, log = spec("late", WORKING).argv, tmp_path / "log"
        fork = await Fork.start(argv, needs=NEEDS)
        server = psutil.Process(fork.pid).parent()
        assert server is not None
        fork.send(signal.SIGKILL)
        assert await fork.wait() == -signal.SIGKILL
        before = {each.pid for each in server.children()}
        with log.open("wb") as output:
            starting = asyncio.create_task(Fork.start(argv, needs=NEEDS, output=output.fileno()))
            await asyncio.sleep(0)
            starting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await starting
        another = await Fork.start(argv, needs=NEEDS)  # forked after the one that nobody waits for
        before.add(another.pid)
        await wait_until(lambda: {each.pid for each in server.children()} <= before)
        another.send(signal.SIGKILL)
        await another.wait()

    def test_needs_no_path_for_a_socket_where_the_temporary_folder_is_too_deep_for_one(
        self, spec: Callable[..., ProcessSpec], tmp_path: Path
    ):
        spec("working", WORKING)
        deep = tmp_path / ("x" * 100)
        deep.mkdir()
        with supervised(tmp_path, TMPDIR=str(deep)) as (supervisor, child):
            assert supervisor.pid in {each.pid for each in child.parents()}


class TestEnd:
    def test_comes_with_the_end_of_the_supervisor_whose_settings_it_never_had(
        self, spec: Callable[..., ProcessSpec], tmp_path: Path
    ):
        spec("working", WORKING)
        own = {"OURS": "ours", "SPOTTHEBOT_DATABASE_URL": "of all services"}
        with supervised(tmp_path, **own) as (supervisor, child):
            server = child.parent()
            assert server is not None
            assert server.ppid() == supervisor.pid
            variables = server.environ()
        child.wait(timeout=10)
        server.wait(timeout=10)
        assert variables["OURS"] == "ours"
        assert "SPOTTHEBOT_DATABASE_URL" not in variables

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
    async def test_does_not_come_with_that_of_the_process_that_forked_it_in_whose_place_comes_another(
        self,
        spec: Callable[..., ProcessSpec],
        listening: socket,
        monkeypatch: pytest.MonkeyPatch,
        number: signal.Signals,
    ):
        monkeypatch.setattr(forks, "_REPORT_SECONDS", 0.2)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        web = spec("web", WEB, listener=listening, ready_url=url)
        async with Supervisor([web]) as supervisor, httpx.AsyncClient(timeout=20) as client:
            first = psutil.Process(pid_of(supervisor))
            server = first.parent()
            assert server is not None
            server.send_signal(number)
            await wait_until(lambda: first.ppid() != server.pid or server.status() == psutil.STATUS_STOPPED)
            assert int((await client.get(url)).text) == first.pid
            first.kill()
            await wait_until(lambda: pid_of(supervisor) not in {first.pid, None})
            assert int((await client.get(url)).text) == pid_of(supervisor)
            assert psutil.Process(pid_of(supervisor)).parent() not in {server, None}
