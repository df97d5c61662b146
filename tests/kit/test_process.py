"""The command line of a service: what it prints, which settings it misses, and how its worker stops and beats."""

import asyncio
import gc
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import uvicorn
from fastapi import FastAPI
from pydantic import SecretStr

from spotthebot.kit.service import process as service_process
from spotthebot.kit.service.process import Worker, _beat, _import, _serve, _until_stopped, run
from spotthebot.kit.settings import EdgeSettings, ServiceSettings

pytestmark = pytest.mark.usefixtures("no_services")

ROOT = Path(__file__).parents[2]


@pytest.fixture
def garbage() -> Iterator[None]:
    """Collect garbage afterwards as before: a service does so less often."""
    thresholds = gc.get_threshold()
    gc.set_threshold(700, 10, 10)  # as Python begins
    gc.unfreeze()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


@pytest.mark.usefixtures("garbage")
class TestRun:
    def test_prints_the_document_as_it_is_committed(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        monkeypatch.setattr(sys, "argv", ["bots", "openapi"])
        run("bots")
        assert capsys.readouterr().out == (ROOT / "openapi" / "bots.json").read_text()
        assert gc.isenabled()
        assert gc.get_freeze_count()
        assert gc.get_threshold() == (20_000, 20, 20)

    def test_collects_no_garbage_while_it_imports(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(service_process, "import_module", lambda _name: gc.isenabled())
        assert _import("spotthebot.bots.app") is False
        assert gc.isenabled()

    def test_names_the_settings_that_are_missing(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        monkeypatch.delenv("SPOTTHEBOT_ANALYTICS_DATABASE_URL", raising=False)
        for command in ("serve", "work", "migrate"):
            monkeypatch.setattr(sys, "argv", ["analytics", command])
            with pytest.raises(SystemExit, match="78"):
                run("analytics")
            said = "analytics: SPOTTHEBOT_ANALYTICS_DATABASE_URL is missing. See 'Settings' in the documentation.\n"
            assert capsys.readouterr().err == said

    @pytest.mark.parametrize("command", ["serve", "work"])
    def test_starts_nothing_with_a_setting_that_is_unusable(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
    ):
        monkeypatch.setenv("SPOTTHEBOT_ANALYTICS_DATABASE_URL", "localhost")
        monkeypatch.setenv("SPOTTHEBOT_ANALYTICS_SERVICE_KEY", "stb_service_x")
        monkeypatch.setattr(service_process, "configure_logs", lambda *_, **__: None)
        for start in ("_serve", "_run_on_uvloop"):
            monkeypatch.setattr(service_process, start, lambda *_: pytest.fail("it was started"))
        monkeypatch.setattr(sys, "argv", ["analytics", command])
        with pytest.raises(SystemExit, match="78"):
            run("analytics")
        assert "SPOTTHEBOT_ANALYTICS_DATABASE_URL can't be used: it must be a URL" in capsys.readouterr().err

    def test_migrates_or_serves_by_its_command(self, monkeypatch: pytest.MonkeyPatch):
        done: list[tuple[object, ...]] = []
        monkeypatch.setenv("SPOTTHEBOT_BOTS_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
        monkeypatch.setenv("SPOTTHEBOT_BOTS_LOG_LEVEL", "ERROR")
        monkeypatch.setenv("SPOTTHEBOT_BOTS_REQUEST_LOG_LINES_PER_SECOND", "7")
        logs: list[tuple[object, ...]] = []
        checked: list[str] = []
        monkeypatch.setattr(service_process, "configure_logs", lambda *given, **more: logs.append((*given, more)))
        monkeypatch.setattr(
            service_process, "check_settings", lambda _settings, lineage: checked.append(lineage.schema)
        )
        monkeypatch.setattr(service_process, "upgrade", lambda lineage, url: done.append((lineage.schema, url)))
        monkeypatch.setattr(service_process, "_serve", lambda app, *where: done.append((app.title, *where)))
        for arguments in ("migrate", "serve", "serve --host 127.0.0.2 --port 81 --fd 3"):
            monkeypatch.setattr(sys, "argv", ["bots", *arguments.split()])
            run("bots")
        assert done == [
            ("bots", "postgresql://nobody@127.0.0.1:1/none"),
            ("Spot The Bot: bots", "127.0.0.1", 8000, None),
            ("Spot The Bot: bots", "127.0.0.2", 81, 3),
        ]
        assert logs == [("bots", "ERROR", {"request_lines_per_second": 7})] * 3
        assert checked == ["bots"] * 2

    def test_works_until_it_is_stopped(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
        worked: list[object] = []

        async def work(settings: ServiceSettings) -> None:
            worked.append(settings.database_url.get_secret_value())

        async def until_stopped(work: Awaitable[None], heartbeat_file: Path | None) -> None:
            await work
            worked.append(heartbeat_file)

        class Settings(ServiceSettings):
            database_url: SecretStr = SecretStr("postgresql://a")
            heartbeat_file: Path | None = tmp_path / "heartbeat"

        module = SimpleNamespace(WORKER=Worker(Settings, work))
        modules = {"spotthebot.conversations.worker": module}
        modules["spotthebot.conversations.tables"] = SimpleNamespace(LINEAGE="its lineage")
        monkeypatch.setattr(service_process, "_import", modules.__getitem__)
        monkeypatch.setattr(service_process, "check_settings", lambda _settings, lineage: worked.append(lineage))
        monkeypatch.setattr(service_process, "configure_logs", lambda *_, **__: None)
        monkeypatch.setattr(service_process, "_until_stopped", until_stopped)
        monkeypatch.setattr(sys, "argv", ["conversations", "work"])
        run("conversations")
        assert worked == ["its lineage", "postgresql://a", tmp_path / "heartbeat"]

    def test_knows_no_worker_of_a_service_that_has_none(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        monkeypatch.setattr(sys, "argv", ["bots", "work"])
        with pytest.raises(SystemExit):
            run("bots")
        assert "invalid choice: 'work'" in capsys.readouterr().err


@pytest.mark.parametrize("inherits", [False, True])
def test_a_service_listens_on_the_socket_that_it_inherits(monkeypatch: pytest.MonkeyPatch, inherits: bool):
    served: list[list[socket.socket] | None] = []

    async def serve(server: uvicorn.Server, sockets: list[socket.socket] | None = None) -> None:
        served.append(sockets)
        assert server.config.timeout_graceful_shutdown == 8  # supervisors wait 10 s

    monkeypatch.setattr(uvicorn.Server, "serve", serve)
    monkeypatch.setattr(service_process, "allow_many_files", lambda: None)
    app = FastAPI()
    app.state.core = SimpleNamespace(settings=EdgeSettings())
    with socket.create_server(("127.0.0.1", 0)) as listening:
        _serve(app, "127.0.0.1", 0, os.dup(listening.fileno()) if inherits else None)
        (sockets,) = served
        assert [each.getsockname() for each in sockets or ()] == [listening.getsockname()] * inherits
    for each in sockets or ():
        each.close()


@pytest.fixture
async def signals() -> AsyncIterator[None]:
    """Give both signals their handlers back: the loop goes on after the test."""
    numbers = (signal.SIGTERM, signal.SIGINT)
    handlers = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, handlers, strict=True):
        asyncio.get_running_loop().remove_signal_handler(number)
        signal.signal(number, handler)


@pytest.mark.usefixtures("signals")
class TestUntilStopped:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    async def test_a_worker_beats_until_a_signal_cancels_it(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: signal.Signals
    ):
        monkeypatch.setattr(service_process, "_HEARTBEAT_SECONDS", 0.01)
        file, stopped = tmp_path / "heartbeat", False

        async def work() -> None:
            nonlocal stopped
            try:
                for _ in range(2):  # the second time it was deleted
                    while not file.exists():
                        await asyncio.sleep(0.001)
                    file.unlink()
                os.kill(os.getpid(), number)
                await asyncio.sleep(30)
            finally:
                stopped = True

        await asyncio.wait_for(_until_stopped(work(), file), 20)
        assert stopped
        file.unlink(missing_ok=True)
        await asyncio.sleep(0.05)
        assert not file.exists()

    async def test_a_worker_without_a_heartbeat_does_nothing_beside_its_work(self):
        tasks = len(asyncio.all_tasks())

        async def work() -> None:
            assert len(asyncio.all_tasks()) == tasks + 1

        await _until_stopped(work(), None)

    async def test_a_worker_beats_once_a_second(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
        waits: list[float] = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)
            if len(waits) == 2:
                raise asyncio.CancelledError

        monkeypatch.setattr(service_process, "asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": sleep}))
        with pytest.raises(asyncio.CancelledError):
            await _beat(tmp_path / "heartbeat")
        assert waits == [1.0, 1.0]

    async def test_a_worker_that_cannot_write_its_heartbeat_goes_on(self, tmp_path: Path):
        done = False

        async def work() -> None:
            nonlocal done
            await asyncio.sleep(0)
            done = True

        await _until_stopped(work(), tmp_path / "missing" / "heartbeat")
        assert done
