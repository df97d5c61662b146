"""What `./stb up` shows of its processes, on a terminal and elsewhere."""

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from spotthebot.cli.commands.log_lines import readable
from spotthebot.cli.commands.up_display import SuiteDisplay
from spotthebot.kit.processes.spec import Event
from spotthebot.local.runtime.running_suite import log_event

PROCESSES = ("postgres", "bots", "fed-worker")
ADDRESSES = {"postgres": "127.0.0.1:5433", "bots": "http://127.0.0.1:8101"}
STARTED = [Event(name, kind, 1) for name in PROCESSES for kind in ("started", "ready")]
DIED = Event("bots", "died", 1, exit_code=-9, delay_seconds=0.4)
BACK = [Event("bots", "started", 2), Event("bots", "ready", 2)]
HUNG = Event("fed-worker", "hung", 1)


@pytest.fixture
def printed() -> io.StringIO:
    return io.StringIO()


def _rows(display: SuiteDisplay) -> list[list[str]]:
    drawn = io.StringIO()
    Console(file=drawn, width=140).print(display.drawn())
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in drawn.getvalue().splitlines() if "│" in line]


class TestTable:
    def test_has_state_restarts_and_address_of_each_process(self, printed: io.StringIO):
        display = SuiteDisplay(Console(file=printed), PROCESSES, ADDRESSES)
        for event in (*STARTED[:3], Event("triton", "started", 7)):
            display.take(event)
        assert _rows(display) == [
            ["postgres", "running", "", "127.0.0.1:5433"],
            ["bots", "starting", "", "http://127.0.0.1:8101"],
            ["fed-worker", "waiting", "", ""],
            ["triton", "starting", "", ""],
        ]
        for event in (*STARTED[3:], DIED, HUNG):
            display.take(event)
        assert [row[1:3] for row in _rows(display)[1:3]] == [
            ["died, is started again in 0.4 s", ""],
            ["does not answer, is killed", ""],
        ]
        for event in BACK:
            display.take(event)
        assert _rows(display)[1][1:3] == ["running", "1"]
        display.take(Event("bots", "stopped", 2, exit_code=0))
        assert _rows(display)[1][1:3] == ["stopped", "1"]

    def test_is_drawn_again_at_each_change_with_what_happened_last(self, printed: io.StringIO):
        terminal = Console(file=printed, width=100, height=40, force_terminal=True)
        display = SuiteDisplay(terminal, PROCESSES, ADDRESSES)
        with display.shown():
            for event in STARTED:
                display.take(event)
            display.is_up(["Logs: ./stb logs [/red]"])
            before = printed.tell()
            assert "runs" not in printed.getvalue()  # the table says it
            for event in (DIED, *BACK, *[HUNG] * 4):
                display.take(event)
            drawn = printed.getvalue()[before:]
        last = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", drawn.rpartition("The suite is up")[2])
        assert "Logs: ./stb logs [/red]" in last  # a path is no markup
        assert [line[9:].strip() for line in last.splitlines() if re.match(r"\d\d:\d\d:\d\d ", line)] == [
            "bots runs again (restarts: 1): http://127.0.0.1:8101.",
            *["fed-worker does not answer: it is killed and started again."] * 4,
        ]


class TestLines:
    def test_are_printed_off_a_terminal_only_when_something_changes(self, printed: io.StringIO):
        display = SuiteDisplay(Console(file=printed, width=20), PROCESSES, ADDRESSES)
        with display.shown():
            for event in STARTED:
                display.take(event)
            display.is_up(["Logs: ./stb logs"])
            for event in (DIED, *BACK, HUNG, Event("postgres", "died", 1)):
                display.take(event)
            display.ends()
            display.take(Event("bots", "stopped", 2, exit_code=0))
        assert printed.getvalue().splitlines() == [
            "postgres runs: 127.0.0.1:5433.",
            "bots runs: http://127.0.0.1:8101.",
            "fed-worker runs.",
            "The suite is up.",
            "Logs: ./stb logs",
            "bots died (exit code -9): it is started again in 0.4 s.",
            "bots runs again (restarts: 1): http://127.0.0.1:8101.",
            "fed-worker does not answer: it is killed and started again.",
            "postgres died: it is started again.",
        ]


class TestLog:
    def test_holds_every_event_as_a_line_that_people_can_read(self, tmp_path: Path):
        for event in (BACK[0], DIED):
            log_event(tmp_path, event)
        lines = (tmp_path / "supervisor.log").read_text().splitlines()
        times = [json.loads(line)["timestamp"] for line in lines]
        shown = [time[:19].replace("T", " ") for time in times]
        assert [readable(line) for line in lines] == [
            f"{shown[0]} process.started process=bots pid=2",
            f"{shown[1]} WARNING process.died process=bots pid=1 exit_code=-9 delay_seconds=0.4",
        ]
        assert times == sorted(times)
        assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", time) for time in times)
