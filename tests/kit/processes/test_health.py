"""Processes that hang are killed and started again; busy ones, and those of a supervisor that is late, are not."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from socket import socket
from typing import Any

import pytest

from spotthebot.kit.processes.health import wait_until_hung
from spotthebot.kit.processes.sockets import bind
from spotthebot.kit.processes.spec import Event, HealthLimits, ProcessSpec
from spotthebot.kit.processes.supervisor import Supervisor

# Answers on an inherited socket, after something that takes its time.
WEB = """
import http.server, os, socket, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        {before}
        self.send_response(200); self.end_headers()
server = http.server.HTTPServer(("", 0), Handler, bind_and_activate=False)
server.socket.close()
server.socket = socket.socket(fileno=int(sys.argv[2]))
print("listening", flush=True)
server.serve_forever()
"""
COMPUTING = "until = time.process_time() + {seconds}\n        while time.process_time() < until: pass"
BEATING = """
import sys, time
from pathlib import Path
print("working", flush=True)
while True:
    Path(sys.argv[1]).touch()
    time.sleep(0.05)
"""
LIMITS = HealthLimits(every_seconds=0.1, timeout_seconds=0.3, misses=3, busy_seconds=60)


@pytest.fixture
def listening() -> Iterator[socket]:
    with bind("127.0.0.1", 0) as bound:
        yield bound


@pytest.fixture
def web(tmp_path: Path, listening: socket) -> Callable[..., ProcessSpec]:
    def make(before: str = "pass", limits: HealthLimits = LIMITS) -> ProcessSpec:
        argv = (sys.executable, "-c", WEB.format(before=before))
        return ProcessSpec(
            "web",
            argv,
            tmp_path / "web.log",
            listener=listening,
            ready_line="listening",
            health_url=f"http://127.0.0.1:{listening.getsockname()[1]}/",
            health_limits=limits,
        )

    return make


@asynccontextmanager
async def supervised(spec: ProcessSpec) -> AsyncIterator[tuple[Supervisor, list[Event]]]:
    events: list[Event] = []
    async with Supervisor([spec], on_event=events.append) as supervisor:
        yield supervisor, events


def kinds(events: list[Event]) -> list[str]:
    return [event.kind for event in events]


async def until(condition: Callable[[], Any], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.02)


def pid_of(supervisor: Supervisor) -> int:
    (status,) = supervisor.status()
    assert status.pid is not None
    return status.pid


class TestHangingProcesses:
    async def test_a_stopped_server_is_replaced_by_one_that_answers(self, web: Callable[..., ProcessSpec]):
        async with supervised(web()) as (supervisor, events):
            stopped = pid_of(supervisor)
            os.kill(stopped, signal.SIGSTOP)
            await until(lambda: kinds(events)[2:] == ["hung", "died", "started", "ready"])
            assert pid_of(supervisor) != stopped
            await asyncio.sleep(1)
            assert len(events) == 6
        assert events[3].exit_code == -signal.SIGKILL

    async def test_a_server_that_accepts_and_waits_for_ever_is_replaced(self, web: Callable[..., ProcessSpec]):
        async with supervised(web("time.sleep(600)")) as (_, events):
            await until(lambda: "hung" in kinds(events))

    async def test_a_stopped_worker_is_replaced_by_one_whose_heart_beats(self, tmp_path: Path):
        beat = tmp_path / "heartbeat"
        spec = ProcessSpec(
            "worker",
            (sys.executable, "-c", BEATING, str(beat)),
            tmp_path / "worker.log",
            ready_line="working",
            heartbeat_file=beat,
            health_limits=LIMITS,
        )
        async with supervised(spec) as (supervisor, events):
            await asyncio.sleep(1)
            assert kinds(events) == ["started", "ready"]
            os.kill(pid_of(supervisor), signal.SIGSTOP)
            await until(lambda: kinds(events)[2:] == ["hung", "died", "started", "ready"])

    async def test_one_that_computes_for_ever_is_replaced_in_the_end(self, web: Callable[..., ProcessSpec]):
        limits = replace(LIMITS, busy_seconds=2)
        began = time.monotonic()
        async with supervised(web(COMPUTING.format(seconds=600), limits)) as (_, events):
            await until(lambda: "hung" in kinds(events))
        assert time.monotonic() - began > 2


class TestBusyProcesses:
    async def test_a_server_that_computes_before_it_answers_is_left_alone(self, web: Callable[..., ProcessSpec]):
        """Each answer takes many times as long as is waited for it, over many questions."""
        async with supervised(web(COMPUTING.format(seconds=1.5))) as (_, events):
            await asyncio.sleep(6)
            assert kinds(events) == ["started", "ready"]

    async def test_no_miss_counts_where_the_supervisor_itself_was_late(self):
        asked = 0

        async def answers() -> bool:
            nonlocal asked
            asked += 1
            time.sleep(1.3)  # noqa: ASYNC251 - the machine is busy with others, and our own clock is late
            await asyncio.sleep(10)
            return True

        limits = HealthLimits(every_seconds=0.01, timeout_seconds=0.1, misses=2)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(wait_until_hung(limits, answers, lambda: 0.0), 5)
        assert asked > limits.misses

    async def test_misses_count_only_in_a_row(self):
        outcomes = [False, False, True] * 20
        over = asyncio.Event()

        async def answers() -> bool:
            if not outcomes:
                over.set()
                await asyncio.sleep(60)
            return outcomes.pop()

        limits = HealthLimits(every_seconds=0.001, timeout_seconds=1, misses=3)
        watching = asyncio.create_task(wait_until_hung(limits, answers, lambda: 0.0))
        await asyncio.wait_for(over.wait(), 10)
        assert not watching.done()
        watching.cancel()
