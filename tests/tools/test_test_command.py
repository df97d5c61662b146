"""`stb test --fast` and `--coverage`, and how `stb test` calls pytest."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spotthebot.cli.application import app
from tests.factories.fast_selection import is_pure
from tools import ROOT, tests
from tools.coverage import read_packages


def _pytest_fast(*arguments: str) -> tuple[int, str]:
    plugins = ("-p", "no:cacheprovider", "-p", "tests.factories.fast_selection")
    command = [sys.executable, "-m", "pytest", *plugins, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


class TestFastSelection:
    def test_knows_tests_that_need_no_database(self, request: pytest.FixtureRequest):
        assert is_pure(request.node, "tests/tools/test_test_command.py")
        assert not is_pure(request.node, "tests/e2e/test_stb.py")

    def test_runs_changed_files_first_and_says_what_it_left_out(self):
        files = [f"tests/kit/{name}.py" for name in ("test_ids", "test_wire", "test_jobs")]
        code, printed = _pytest_fast("-v", *files, "--fast-changed=tests/kit/test_wire.py")
        order = re.findall(r"^tests/kit/(\w+)\.py::", printed, flags=re.MULTILINE)
        assert code == 0
        assert order[0] == "test_wire"
        assert set(order) == {"test_wire", "test_ids"}
        assert re.search(r"Left out: [1-9]\d* tests that need a database or processes; 0 for which", printed)

    def test_stops_when_the_time_is_up(self):
        code, printed = _pytest_fast("tests/kit/test_ids.py", "--fast-seconds=0.000001")
        assert code == 0
        assert "the time is up" in printed
        assert re.search(r"[1-9]\d* for which the time was too short", printed)


class TestTestCommand:
    def test_keeps_compiled_files_even_on_a_machine_that_does_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        """A test worker compiles each file of tests in a fresh clone, and reads it in the next run."""
        monkeypatch.setattr(tests, "ROOT", tmp_path)
        monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        (tmp_path / "tests").mkdir()
        (tmp_path / "tests" / "test_nothing.py").write_text("def test_nothing():\n    pass\n")
        assert CliRunner().invoke(app, ["test", "-q", "tests/test_nothing.py"]).exit_code == 0
        assert [each.name.split(".")[0] for each in (tmp_path / "tests").rglob("*.pyc")] == ["test_nothing"]


class TestCoverage:
    def test_is_summed_up_by_package(self, tmp_path: Path):
        def file(statements: int, lines: int, branches: int, covered: int) -> dict[str, dict[str, int]]:
            names = ("num_statements", "covered_lines", "num_branches", "covered_branches")
            return {"summary": dict(zip(names, (statements, lines, branches, covered), strict=True))}

        report = tmp_path / "coverage.json"
        files = {
            "services/spotthebot/bots/app.py": file(10, 10, 0, 0),
            "services/spotthebot/bots/questions/domain/replies.py": file(6, 4, 4, 1),
            "shared/spotthebot/kit/ids.py": file(3, 0, 1, 0),
        }
        report.write_text(json.dumps({"files": files}))
        assert read_packages(report) == {"services/bots": (16, 4, 0.75), "shared/kit": (3, 1, 0.0)}

    def test_shows_no_report_of_an_earlier_run_where_no_test_ran(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(tests, "ROOT", tmp_path)
        (tmp_path / "tests").mkdir()
        (tmp_path / "coverage.json").write_text('{"files": {}}')
        done = CliRunner().invoke(app, ["test", "--coverage", "--no-such-option"])
        assert (done.exit_code, "Branch coverage" in done.output) == (1, False), done.output
