"""The lock of a data folder: one suite at a time, however many commands look at it."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from spotthebot.suite.errors import AlreadyRunning
from spotthebot.suite.runtime.data_folder import DataFolder

LOOKER = """
import sys
from pathlib import Path
from spotthebot.suite.runtime.data_folder import DataFolder
folder = DataFolder(Path(sys.argv[1]))
print("looking", flush=True)
while True:
    folder.holder()
"""


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    made = DataFolder(tmp_path / "data")
    made.create()
    return made


class TestLock:
    def test_is_had_while_others_look_who_has_it(self, folder: DataFolder):
        """Two processes that ask all the time, as `stb status` does once, refuse nobody the lock."""
        with folder.lock():
            pass
        lookers = [
            subprocess.Popen([sys.executable, "-c", LOOKER, str(folder.path)], stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        try:
            for looker in lookers:
                assert looker.stdout is not None
                assert looker.stdout.readline() == "looking\n"
            for _ in range(200):
                with folder.lock():
                    assert folder.holder() == os.getpid()
        finally:
            for looker in lookers:
                looker.kill()
                looker.wait()
                assert looker.stdout is not None
                looker.stdout.close()

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
