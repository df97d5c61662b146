"""Logs are bounded: those of children, and one that another process keeps open."""

import subprocess
import sys
from pathlib import Path

import pytest

from spotthebot.kit.processes import log_file
from spotthebot.kit.processes.log_file import LogFile, cut

APPENDER = (
    "import sys, time\nlog = open(sys.argv[1], 'a')\nfor n in range({n}): log.write(f'line {{n:06}}\\n'); log.flush()"
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "MAX_BYTES", 1000)


class TestLogFile:
    def test_keeps_the_last_lines_in_a_bounded_number_of_bounded_files(self, tmp_path: Path):
        log = LogFile(tmp_path / "a.log")
        for number in range(1000):
            log.write(b"line %06d" % number)
        log.close()
        files = sorted(tmp_path.iterdir())
        assert [file.name for file in files] == ["a.log", "a.log.1", "a.log.2"]
        assert all(file.stat().st_size <= 1000 + 12 for file in files)
        lines = "".join(file.read_text() for file in reversed(files)).splitlines()
        assert lines == [f"line {number:06}" for number in range(1000 - len(lines), 1000)]

    def test_goes_on_where_an_earlier_process_ended(self, tmp_path: Path):
        for text in (b"one", b"two"):
            log = LogFile(tmp_path / "a.log")
            log.write(text)
            log.close()
        assert (tmp_path / "a.log").read_text() == "one\ntwo\n"


class TestCut:
    def test_bounds_a_log_that_another_process_appends_to(self, tmp_path: Path):
        path = tmp_path / "postgres.log"
        program = f"{APPENDER.format(n=200)}\ninput()\n{APPENDER.format(n=3).splitlines()[2]}"
        appending = subprocess.Popen(
            [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        while not path.exists() or len(path.read_text().splitlines()) < 200:
            assert appending.poll() is None
        cut(path)
        assert path.stat().st_size == 0
        appending.communicate("\n")
        assert path.read_text().splitlines() == ["line 000000", "line 000001", "line 000002"]
        kept = path.with_name("postgres.log.1")
        assert kept.stat().st_size == 1000
        assert kept.stat().st_mode & 0o777 == 0o600
        assert kept.read_text().splitlines()[-1] == "line 000199"

    def test_leaves_a_short_log_alone(self, tmp_path: Path):
        path = tmp_path / "postgres.log"
        path.write_text("short\n")
        cut(path)
        cut(tmp_path / "none.log")
        assert [file.name for file in tmp_path.iterdir()] == ["postgres.log"]
