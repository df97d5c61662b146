import asyncio
import os
import signal
import subprocess
import sys
from time import monotonic

import httpx
import psutil
import pytest

from spotthebot.kit.processes.errors import ServiceDidNotStart
from spotthebot.kit.processes.monitor import RestartDelays
from spotthebot.kit.processes.sockets import bind
from spotthebot.kit.processes.spec import Event, ProcessSpec
from spotthebot.kit.processes.supervisor import Supervisor
from spotthebot.local.runtime.reload import restart_on_change, watched_folders
from tests.factories.bot_servers import raw_server, says
from tests.kit.processes.web_program import WEB

SLEEP = "import time; print('working', flush=True); time.sleep(60)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SLEEP
PARENT = (
    "import subprocess, sys, time\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
    "print('child', child.pid, flush=True); time.sleep(60)"
)
SUPERVISED = """
import asyncio, sys
from pathlib import Path
from spotthebot.kit.processes.spec import ProcessSpec
from spotthebot.kit.processes.supervisor import Supervisor
async def main():
    spec = ProcessSpec("sleep", ("sleep", "60"), Path(sys.argv[1]))
    async with Supervisor([spec]) as supervisor:
        print(supervisor.status()[0].pid, flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""


@pytest.fixture
def spec(tmp_path):
    def make(name, program, *arguments, **options):
        argv = (sys.executable, "-c", program, *arguments)
        return ProcessSpec(name, argv, tmp_path / f"{name}.log", **options)

    return make


@pytest.fixture
def listening():
    with bind("127.0.0.1", 0) as socket:
        yield socket


@pytest.fixture
def web(spec, listening):
    return spec("web", WEB, listener=listening, ready_url=url_of(listening))


def url_of(listening):
    return f"http://127.0.0.1:{listening.getsockname()[1]}/"


def only(supervisor):
    (status,) = supervisor.status()
    return status


async def wait_until(condition):
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


def is_gone(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


class TestStart:
    async def test_waits_for_each_before_the_next(self, spec):
        late = "import time; time.sleep(0.3); print('it is ready now', flush=True); time.sleep(60)"
        events: list[Event] = []
        specs = [spec("first", late, ready_line="ready now"), spec("second", SLEEP, ready_line="working")]
        async with Supervisor(specs, on_event=events.append) as supervisor:
            assert [(event.name, event.kind) for event in events] == [
                ("first", "started"),
                ("first", "ready"),
                ("second", "started"),
                ("second", "ready"),
            ]
            assert [status.healthy for status in supervisor.status()] == [True, True]
            assert [status.pid for status in supervisor.status()] == [events[0].pid, events[2].pid]

    async def test_waits_until_the_url_answers(self, web, listening):
        async with Supervisor([web]) as supervisor, httpx.AsyncClient() as client:
            answer = await client.get(url_of(listening))
            assert int(answer.text) == only(supervisor).pid

    async def test_asks_no_proxy_for_its_own_processes(self, web, monkeypatch):
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        async with Supervisor([web]) as supervisor:
            assert only(supervisor).healthy

    async def test_gives_a_process_its_environment_and_no_other(self, spec, monkeypatch):
        monkeypatch.setenv("STB_OURS", "ours")
        program = "import os; print(os.environ.get('STB_OURS'), os.environ.get('STB_ITS'), flush=True)\n" + SLEEP
        one = spec("one", program, env={"STB_ITS": "its"}, ready_line="working")
        async with Supervisor([one]):
            assert one.log_file.read_text() == "None its\nworking\n"

    async def test_fails_with_the_last_lines_and_stops_the_others(self, spec):
        dying = spec("dying", "for i in range(30): print('line', i)\nraise SystemExit(7)")
        never = spec("never", SLEEP)
        events: list[Event] = []
        supervisor = Supervisor([spec("first", SLEEP), dying, never], on_event=events.append)
        with pytest.raises(ServiceDidNotStart, match=r"dying did not start \(it ended with status 7\)") as caught:
            await supervisor.start()
        assert caught.value.facts["exit_code"] == 7
        assert str(caught.value.facts["lines"]).splitlines() == [f"line {i}" for i in range(10, 30)]
        assert is_gone(events[0].pid)
        assert "never" not in {event.name for event in events}
        assert [status.pid for status in supervisor.status()] == [None, None, None]

    async def test_fails_when_it_takes_too_long(self, spec):
        slow = spec("slow", STUBBORN, ready_line="not this", start_timeout_seconds=0.4)
        events: list[Event] = []
        with pytest.raises(ServiceDidNotStart, match=r"not ready after 0\.4 s.*'working'"):
            await Supervisor([slow], on_event=events.append).start()
        assert is_gone(events[0].pid)

    async def test_says_what_a_service_that_does_not_get_ready_answers(self, spec):
        refusing = says(b'{"detail": "The disk is full."}', status=b"503 Service Unavailable")
        async with raw_server(refusing) as url:
            waiting = spec("waiting", SLEEP, ready_url=url, start_timeout_seconds=1)
            with pytest.raises(ServiceDidNotStart, match=r"\(it is not ready after 1 s: The disk is full\)"):
                await Supervisor([waiting]).start()

    async def test_fails_when_there_is_no_such_program(self, tmp_path):
        missing = ProcessSpec("missing", (str(tmp_path / "nothing"),), tmp_path / "log")
        with pytest.raises(ServiceDidNotStart, match="nothing: No such file or directory"):
            await Supervisor([missing]).start()

    async def test_fails_when_the_log_cannot_be_written(self, tmp_path):
        unlogged = ProcessSpec("unlogged", ("sleep", "60"), tmp_path / "no folder" / "log")
        with pytest.raises(ServiceDidNotStart, match="no folder/log: No such file or directory"):
            await Supervisor([unlogged]).start()

    async def test_leaves_nothing_when_it_is_cancelled(self, spec):
        events: list[Event] = []
        specs = [spec("first", SLEEP, ready_line="working"), spec("second", SLEEP, ready_line="never said")]
        starting = asyncio.create_task(Supervisor(specs, on_event=events.append).start())
        await wait_until(lambda: any(event.name == "second" for event in events))
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert [event.name for event in events if event.kind == "stopped"] == ["second", "first"]
        assert all(is_gone(event.pid) for event in events)


class TestOutput:
    async def test_goes_line_by_line_to_the_log_and_to_the_listener(self, spec):
        program = (
            "import sys; print('out', flush=True); print('err', file=sys.stderr, flush=True);"
            "sys.stdout.buffer.write(b'\\xff and no end'); sys.stdout.flush()\n"
        )
        one = spec("one", program + "import time; time.sleep(60)")
        one.log_file.write_text("from before\n")
        heard = []
        async with Supervisor([one], on_line=lambda name, line: heard.append((name, line))):
            pass
        assert heard == [("one", "out"), ("one", "err"), ("one", "\N{REPLACEMENT CHARACTER} and no end")]
        assert one.log_file.read_bytes() == b"from before\nout\nerr\n\xff and no end\n"

    async def test_survives_a_line_of_a_megabyte(self, spec):
        one = spec("one", "print('x' * 1_000_000, flush=True)\n" + SLEEP, ready_line="working")
        async with Supervisor([one]):
            assert one.log_file.read_text().count("x") == 1_000_000


class TestRestart:
    async def test_keeps_the_port(self, web, listening):
        async with Supervisor([web]) as supervisor, httpx.AsyncClient(timeout=10) as client:
            killed = only(supervisor).pid
            os.kill(killed, signal.SIGKILL)
            await wait_until(lambda: only(supervisor).pid != killed)
            # Asked at once: the request waits in the socket's queue until somebody serves again.
            answer = await client.get(url_of(listening))
            await wait_until(lambda: only(supervisor).healthy)
            assert int(answer.text) == only(supervisor).pid != killed
            assert only(supervisor).restarts == 1

    async def test_waits_longer_each_time(self, spec):
        dying = "import time; print('working', flush=True); time.sleep(0.05); raise SystemExit(3)"
        seen = []

        def note(event):
            seen.append((monotonic(), event))

        supervisor = Supervisor([spec("dying", dying, ready_line="working")], on_event=note)
        async with supervisor:
            await wait_until(lambda: [event.kind for _, event in seen].count("started") == 4)
        deaths = [event for _, event in seen if event.kind == "died"]
        assert [event.delay_seconds for event in deaths[:3]] == pytest.approx([0.2, 0.4, 0.8])
        assert {event.exit_code for event in deaths} == {3}
        for (died, event), (started, _) in zip(seen[2::3], seen[3::3], strict=False):
            assert started - died >= event.delay_seconds

    async def test_goes_on_after_a_restart_that_is_never_ready(self, spec, tmp_path):
        mark = tmp_path / "mark"
        # Ready the first time and from the third on.
        program = (
            "import sys, pathlib, time; mark = pathlib.Path(sys.argv[1])\n"
            "n = len(mark.read_text()) if mark.exists() else 0; mark.write_text('x' * (n + 1))\n"
            "print('silent' if n == 1 else 'working', flush=True); time.sleep(60)"
        )
        one = spec("one", program, str(mark), ready_line="working", start_timeout_seconds=0.5)
        async with Supervisor([one]) as supervisor:
            os.kill(only(supervisor).pid, signal.SIGKILL)
            await wait_until(lambda: only(supervisor).restarts == 2 and only(supervisor).healthy)
        assert one.log_file.read_text().split() == ["working", "silent", "working"]

    async def test_ends_what_the_dead_process_had_started(self, spec):
        heard = []
        one = spec("one", PARENT, ready_line="child")
        async with Supervisor([one], on_line=lambda _, line: heard.append(line)) as supervisor:
            grandchild = int(heard[0].split()[1])
            os.kill(only(supervisor).pid, signal.SIGKILL)
            await wait_until(lambda: is_gone(grandchild))


class TestRestartDelays:
    def test_doubles_to_half_a_minute(self):
        delays = RestartDelays()
        waits = [delays.after(healthy_seconds=59) for _ in range(10)]
        assert waits == pytest.approx([0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30])

    def test_begins_anew_after_a_minute_of_health(self):
        delays = RestartDelays()
        assert [delays.after(seconds) for seconds in (0, 0, 60, 0)] == pytest.approx([0.2, 0.4, 0.2, 0.4])


class TestStop:
    async def test_goes_in_reverse_order(self, spec):
        events: list[Event] = []
        names = ("first", "second", "third")
        async with Supervisor([spec(name, SLEEP) for name in names], on_event=events.append):
            pass
        stopped = [event for event in events if event.kind == "stopped"]
        assert [event.name for event in stopped] == ["third", "second", "first"]
        assert {event.exit_code for event in stopped} == {-signal.SIGTERM}
        assert all(is_gone(event.pid) for event in events)

    async def test_kills_what_ignores_the_request(self, spec):
        events: list[Event] = []
        stubborn = spec("stubborn", STUBBORN, ready_line="working", stop_timeout_seconds=0.3)
        async with Supervisor([stubborn], on_event=events.append):
            asked = monotonic()
        assert 0.3 <= monotonic() - asked < 5
        assert events[-1].exit_code == -signal.SIGKILL

    async def test_leaves_no_grandchild(self, spec):
        heard = []
        one = spec("one", PARENT, ready_line="child")
        async with Supervisor([one], on_line=lambda _, line: heard.append(line)):
            grandchild = int(heard[0].split()[1])
            assert not is_gone(grandchild)
        await wait_until(lambda: is_gone(grandchild))  # another process inherits it and has to collect it

    async def test_ends_a_process_that_waits_for_its_restart(self, spec):
        events: list[Event] = []
        supervisor = Supervisor([spec("one", SLEEP)], on_event=events.append)
        async with supervisor:
            os.kill(only(supervisor).pid, signal.SIGKILL)
            await wait_until(lambda: events[-1].kind == "died")
        await asyncio.sleep(0.4)
        assert events[-1].kind == "died"

    async def test_kills_the_rest_when_it_is_cancelled(self, spec):
        stubborn = [spec(name, STUBBORN, ready_line="working") for name in ("first", "second")]
        supervisor = Supervisor(stubborn)
        await supervisor.start()
        pids = [status.pid for status in supervisor.status()]
        stopping = asyncio.create_task(supervisor.stop())
        await asyncio.sleep(0.2)
        stopping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stopping
        await wait_until(lambda: all(is_gone(pid) for pid in pids))

    def test_happens_when_the_supervisor_is_killed(self, tmp_path):
        arguments = [sys.executable, "-c", SUPERVISED, tmp_path / "log"]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as supervisor:
            assert supervisor.stdout is not None
            child = psutil.Process(int(supervisor.stdout.readline()))
            supervisor.kill()
        child.wait(timeout=10)


class TestRestartOnRequest:
    async def test_replaces_the_named_process_and_no_other(self, spec):
        events: list[Event] = []
        specs = [spec("first", SLEEP, ready_line="working"), spec("second", SLEEP, ready_line="working")]
        async with Supervisor(specs, on_event=events.append) as supervisor:
            before = [status.pid for status in supervisor.status()]
            await supervisor.restart(["second", "nobody"])
            after = [status.pid for status in supervisor.status()]
            assert (after[0], is_gone(before[1])) == (before[0], True)
            assert [status.restarts for status in supervisor.status()] == [0, 1]
            assert [event.kind for event in events[4:]] == ["stopped", "started", "ready"]
            assert after[1] is not None
            os.kill(after[1], signal.SIGKILL)  # it is still watched
            await wait_until(lambda: supervisor.status()[1].pid not in {after[1], None})

    async def test_tries_again_where_the_new_process_does_not_start(self, spec, tmp_path):
        program = f"import pathlib, sys, time; pathlib.Path({str(tmp_path / 'broken')!r}).exists() and sys.exit(3)\n"
        async with Supervisor([spec("one", program + SLEEP, ready_line="working")]) as supervisor:
            (tmp_path / "broken").touch()
            await supervisor.restart(["one"])
            assert not only(supervisor).healthy
            (tmp_path / "broken").unlink()
            await wait_until(lambda: only(supervisor).healthy)


class TestReload:
    async def test_restarts_what_a_changed_file_belongs_to(self, spec, tmp_path):
        changes = []
        folders = {name: (tmp_path / name,) for name in ("first", "second")}
        for (folder,) in folders.values():
            folder.mkdir()
            (folder / "app.py").write_text("")
        specs = [spec(name, SLEEP, ready_line="working") for name in ("first", "second", "second-worker")]
        async with Supervisor(specs) as supervisor:
            watching = asyncio.create_task(
                restart_on_change(supervisor, folders, lambda name, file: changes.append((name, file.name)))
            )
            await asyncio.sleep(0.2)
            (tmp_path / "second" / "new.py").write_text("x = 1")
            await wait_until(lambda: [status.restarts for status in supervisor.status()] == [0, 1, 1])
            await wait_until(lambda: all(status.healthy for status in supervisor.status()))
            watching.cancel()
        assert changes == [("second", "new.py")]

    def test_watches_a_service_and_what_all_services_share(self):
        (own, shared) = watched_folders(["bots"])["bots"]
        assert (own / "app.py").is_file()
        assert (shared / "kit").is_dir()
