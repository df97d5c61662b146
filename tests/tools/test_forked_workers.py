"""`--workers N`: tests run in forked processes as they do in one."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.factories.stb_folder import wait_until

ROOT = Path(__file__).parents[2]
PYTEST = """
import signal, sys, pytest
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what it runs behind it ignore this signal
sys.exit(pytest.console_main())
"""
DEAD_AND_LIVING = {
    "conftest.py": """
        import os
        import pytest

        @pytest.fixture(scope="session")
        def opened(tmp_path_factory, request):
            yield os.getpid()
            (request.config.rootpath / f"closed-{os.getpid()}").touch()
    """,
    "test_one.py": """
        import os
        import signal

        def test_passes(opened, tmp_path):
            print("said by the one that passes")

        def test_fails(opened):
            print("said by the one that fails")
            assert opened == 0

        def test_dies():
            os.kill(os.getpid(), signal.SIGKILL)

        def test_follows_the_dead(opened):
            pass
    """,
    "test_other.py": """
        import pytest

        def test_passes_elsewhere(opened, tmp_path):
            pass

        def test_is_skipped():
            pytest.skip("for a reason")
    """,
}
STOPPING = """
        import os
        import time
        import pytest

        _PARENT = os.getpid()

        def _await(name):
            while not os.path.exists(name):
                time.sleep(.01)

        @pytest.fixture(scope="session")
        def opened():
            yield
            open(f"closed-{os.getpid()}", "w").close()

        def pytest_runtest_logreport(report):
            if os.getpid() == _PARENT and report.failed:
                open("failed", "w").close()
            elif os.getpid() == _PARENT and report.when == "call":  # all workers were stopped before
                open("stopped", "w").close()

        @pytest.fixture
        def waiting():
            open("waiting", "w").close()
            _await("failed")
            yield
            _await("stopped")

        @pytest.fixture
        def awaiting_the_other():
            _await("waiting")
"""
NEVER_RUN = """
        def test_is_never_run():
            open("ran", "w").close()
"""
WAITS = """
        def test_waits(opened, waiting):
            pass
"""
STOPPED = {
    "conftest.py": STOPPING,
    "test_one.py": """
        def test_fails(opened, awaiting_the_other):
            assert False
    """
    + NEVER_RUN,
    "test_other.py": WAITS + NEVER_RUN,
    "test_third.py": NEVER_RUN,
}
DIES = {
    "conftest.py": STOPPING,
    "test_one.py": """
        import os

        def test_dies(awaiting_the_other):
            os.abort()
    """
    + NEVER_RUN,
    "test_other.py": WAITS + NEVER_RUN,
    "test_third.py": NEVER_RUN,
}
SAY_AND_WAIT = """
        import os
        import time

        def test_says_{each}():
            print("said by {each}", flush=True)
            open("{each}", "w").close()
            while not os.path.exists("{other}"):
                time.sleep(.01)
            assert False

        def test_is_second():
            pass
"""
SAY = {
    "test_one.py": SAY_AND_WAIT.format(each="one", other="two"),
    "test_two.py": SAY_AND_WAIT.format(each="two", other="one"),
}
BROKEN_OFF = {
    "conftest.py": """
        import os
        import pathlib
        import pytest

        @pytest.fixture(scope="session")
        def opened():
            pathlib.Path(f"opened-{os.getpid()}").touch()
            yield
            pathlib.Path(f"closed-{os.getpid()}").touch()
    """,
    **{
        f"test_{each}.py": """
        import os
        import time

        def test_waits(opened):
            while not os.path.exists("go"):
                time.sleep(.01)

        def test_is_next(opened):
            open("ran", "w").close()
    """
        for each in ("one", "two")
    },
}


def _start(folder: Path, files: dict[str, str], *options: str) -> subprocess.Popen[str]:
    for name, text in files.items():
        (folder / name).write_text("\n".join(line.removeprefix(" " * 8) for line in text.splitlines()))
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p tests.factories.forked_workers --workers 2 -rA\n")
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PYTEST, f"--basetemp={folder / 'temporary'}", *options]
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def _run(folder: Path, files: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    process = _start(folder, files, *options)
    said, complained = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, said, complained)


class TestWorkers:
    def test_report_as_one_process_does_and_outlive_one_of_them(self, tmp_path: Path):
        done = _run(tmp_path, DEAD_AND_LIVING)
        assert done.returncode == 1, done.stderr
        assert "The process died while it ran this test (exit code -9)." in done.stdout
        outcomes = {tuple(line.split()[:2]) for line in done.stdout.splitlines() if "::" in line}
        assert outcomes == {
            ("PASSED", "test_one.py::test_passes"),
            ("FAILED", "test_one.py::test_fails"),
            ("FAILED", "test_one.py::test_dies"),
            ("PASSED", "test_one.py::test_follows_the_dead"),
            ("PASSED", "test_other.py::test_passes_elsewhere"),
        }
        assert "2 failed, 3 passed, 1 skipped" in done.stdout
        assert [done.stdout.count(f"said by the one that {each}") for each in ("passes", "fails")] == [1, 2]
        assert len(list(tmp_path.glob("closed-*"))) == 2  # of the three processes, one had no time to
        assert len(list((tmp_path / "temporary").glob("worker[0-9]"))) == 3

    def test_begin_no_other_file_once_the_session_stops(self, tmp_path: Path):
        done = _run(tmp_path, STOPPED, "-x")
        assert done.returncode == 1, done.stderr
        assert "stopping after 1 failures" in done.stdout
        assert len(list(tmp_path.glob("closed-*"))) == 2
        assert not (tmp_path / "ran").exists()

    def test_begin_no_other_file_after_a_death_that_stops_the_session(self, tmp_path: Path):
        done = _run(tmp_path, DIES, "-x")
        assert done.returncode == 1, done.stderr
        assert "The process died while it ran this test (exit code -6)." in done.stdout
        assert not (tmp_path / "ran").exists()

    def test_capture_what_their_own_tests_print(self, tmp_path: Path):
        done = _run(tmp_path, SAY)
        of_one, of_two = done.stdout.split("___ test_says_")[1:]
        assert [of_one.startswith("one"), of_two.startswith("two")] in ([True, True], [False, False])
        for part in (of_one, of_two):
            assert re.findall(r"^said by (\w+)$", part.partition("= PASSES =")[0], re.MULTILINE) == [part[:3]]

    def test_close_what_they_opened_on_an_interrupt(self, tmp_path: Path):
        process = _start(tmp_path, BROKEN_OFF)
        _await_two_opened(tmp_path)
        os.killpg(process.pid, signal.SIGINT)
        said, _ = process.communicate(timeout=60)
        assert process.returncode == pytest.ExitCode.INTERRUPTED, said
        assert len(list(tmp_path.glob("closed-*"))) == 2
        assert not (tmp_path / "ran").exists()

    def test_close_what_they_opened_once_their_parent_is_dead(self, tmp_path: Path):
        process = _start(tmp_path, BROKEN_OFF)
        _await_two_opened(tmp_path)
        process.kill()
        (tmp_path / "go").touch()
        process.communicate(timeout=60)  # ends with the last that holds the pipes: the workers
        assert len(list(tmp_path.glob("closed-*"))) == 2
        assert not (tmp_path / "ran").exists()


def _await_two_opened(folder: Path) -> None:
    wait_until(lambda: len(list(folder.glob("opened-*"))) == 2, 30)
