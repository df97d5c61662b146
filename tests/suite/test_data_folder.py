"""The lock of a data folder: one suite at a time, however many commands look at it."""

import fcntl
import os
import threading
from pathlib import Path

import pytest

from spotthebot.suite.errors import AlreadyRunning
from spotthebot.suite.runtime.data_folder import DataFolder


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    made = DataFolder(tmp_path / "data")
    made.create()
    return made


class TestLock:
    def test_is_had_while_others_look_who_has_it(self, folder: DataFolder):
        """`stb status` shares the lock for a moment; here the moment is long."""
        with (folder.path / "suite.lock").open("w") as looking:
            fcntl.flock(looking, fcntl.LOCK_SH)
            threading.Timer(0.1, fcntl.flock, (looking, fcntl.LOCK_UN)).start()
            with folder.lock():
                assert folder.holder() == os.getpid()

    def test_is_refused_while_another_has_it(self, folder: DataFolder):
        with folder.lock(), pytest.raises(AlreadyRunning, match=f"process {os.getpid()}"), folder.lock():
            pass

    def test_is_nobodys_when_it_was_let_go(self, folder: DataFolder):
        assert folder.holder() is None
        with folder.lock():
            assert folder.holder() == os.getpid()
        assert folder.holder() is None

    def test_names_nobody_between_the_lock_and_the_name(self, folder: DataFolder, monkeypatch: pytest.MonkeyPatch):
        """`stb down` at that moment would signal process 0, which is all of its own group."""
        seen: list[int | None] = []
        write = os.pwrite

        def look_and_write(handle: int, text: bytes, offset: int) -> int:
            looking = threading.Thread(target=lambda: seen.append(folder.holder()))
            looking.start()
            looking.join()
            return write(handle, text, offset)

        monkeypatch.setattr(os, "pwrite", look_and_write)
        with folder.lock():
            pass
        assert seen == [None]
