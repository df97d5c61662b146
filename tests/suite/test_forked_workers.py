"""`--workers N`: tests run in forked processes as they do in one."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
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
STOPPED = {
    "conftest.py": """
        import os
        import time
        import pytest

        _PARENT = os.getpid()

        def pytest_runtest_logreport(report):
            if report.failed and os.getpid() == _PARENT:
                open("stopping", "w").close()

        @pytest.fixture
        def stopping():
            while not os.path.exists("stopping"):
                time.sleep(.01)
    """,
    "test_one.py": """
        def test_fails():
            assert False

        def test_waits(stopping):
            pass

        def test_is_last():
            pass
    """,
    "test_other.py": """
        def test_waits(stopping):
            pass

        def test_is_last():
            pass
    """,
    "test_third.py": """
        def test_is_never_run():
            open("ran", "w").close()
    """,
}


def _run(folder: Path, files: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    for name, text in files.items():
        (folder / name).write_text("\n".join(line.removeprefix(" " * 8) for line in text.splitlines()))
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p tests.factories.forked_workers --workers 2 -rA\n")
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", f"--basetemp={folder / 'temporary'}", *options]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


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
        assert not (tmp_path / "ran").exists()
