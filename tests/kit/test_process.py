"""The command line of a service: what it prints, which settings it misses, and how its worker stops and beats."""

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spotthebot.kit import process
from spotthebot.kit.process import run

ROOT = Path(__file__).parents[2]


@pytest.fixture
def garbage() -> Iterator[None]:
    """Collect garbage afterwards as before: a service does so less often."""
    thresholds = gc.get_threshold()
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

    def test_names_the_settings_that_are_missing(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.delenv("SPOTTHEBOT_ANALYTICS_DATABASE_URL", raising=False)
        for command in ("serve", "work", "migrate"):
            monkeypatch.setattr(sys, "argv", ["analytics", command])
            with pytest.raises(SystemExit, match="settings of analytics are incomplete: database_url: Field required"):
                run("analytics")

    def test_knows_no_worker_of_a_service_that_has_none(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        monkeypatch.setattr(sys, "argv", ["bots", "work"])
        with pytest.raises(SystemExit):
            run("bots")
        assert "invalid choice: 'work'" in capsys.readouterr().err


class TestUntilStopped:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    async def test_a_worker_beats_until_a_signal_cancels_it(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: signal.Signals
    ):
        monkeypatch.setattr(process, "_HEARTBEAT_SECONDS", 0.01)
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

        tasks = asyncio.all_tasks()
        await asyncio.wait_for(process._until_stopped(work(), file), 20)
        assert stopped
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == tasks

    async def test_a_worker_that_cannot_write_its_heartbeat_goes_on(self, tmp_path: Path):
        done = False

        async def work() -> None:
            nonlocal done
            await asyncio.sleep(0)
            done = True

        await process._until_stopped(work(), tmp_path / "missing" / "heartbeat")
        assert done
