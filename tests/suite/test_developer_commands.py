"""`stb up --only --reload`, `env`, `logs`, `test --fast` and `--coverage`: what a developer of one service uses."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from spotthebot.suite.cli import app, logs, tests
from spotthebot.suite.cli.changed_tests import changed_files, pick_tests
from spotthebot.suite.cli.coverage import read_packages
from spotthebot.suite.runtime.data_folder import KEY_OF_ADMIN, DataFolder, RunningService, State
from tests.factories.fast_selection import is_pure

ROOT = Path(__file__).parents[2]
GIT = shutil.which("git") or "git"
SECRET = "postgresql://app:p$ss word@127.0.0.1/spotthebot"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[DataFolder]:
    """A data folder on which a suite seems to run: this process holds its lock."""
    folder = DataFolder(tmp_path / "data")
    folder.create()
    with folder.lock():
        folder.write_state(
            State(
                pid=os.getpid(),
                ready=True,
                database_owner_urls={},
                urls={"bots": "http://127.0.0.1:28601", "conversations": "http://127.0.0.1:28602"},
                environments={"bots": {"SPOTTHEBOT_BOTS_DATABASE_URL": SECRET}, "conversations": {}},
                services=(RunningService("bots", "http://127.0.0.1:28601", None),),
                workers=(),
            )
        )
        yield folder


def _stb(*arguments: str, folder: DataFolder) -> Result:
    return CliRunner().invoke(app, [*arguments, "--data-dir", str(folder.path)])


class TestEnv:
    def test_prints_lines_that_a_shell_reads_back(self, folder: DataFolder):
        printed = _stb("env", "bots", "--secrets", folder=folder)
        assert printed.exit_code == 0
        script = f'{printed.stdout}\nprintf %s "$SPOTTHEBOT_BOTS_DATABASE_URL"'
        assert subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True).stdout == SECRET

    def test_says_how_a_service_that_does_not_run_is_run_where_the_others_look_for_it(self, folder: DataFolder):
        printed = _stb("env", "conversations", "--secrets", folder=folder)
        assert "python -m spotthebot.conversations serve --port 28602" in printed.stderr

    def test_keeps_secrets_from_files_and_pipes(self, folder: DataFolder):
        printed = _stb("env", "bots", folder=folder)
        assert printed.exit_code == 1
        assert "SECRET" not in printed.stdout
        assert "--secrets" in str(printed.exception)

    def test_keeps_secrets_from_other_users(self, folder: DataFolder, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("os.geteuid", lambda: folder.path.stat().st_uid + 1)
        assert "secrets of the owner" in str(_stb("env", "bots", folder=folder).exception)

    def test_is_wrong_usage_for_an_unknown_service(self, folder: DataFolder):
        assert _stb("env", "nobody", folder=folder).exit_code == 2

    def test_needs_a_running_suite(self, tmp_path: Path):
        stopped = DataFolder(tmp_path)
        stopped.keep_secret(KEY_OF_ADMIN, "key")
        said = str(_stb("env", "bots", folder=stopped).exception)
        assert said == f"No suite runs on {tmp_path}: start one with './stb up'."


class TestLogs:
    @pytest.fixture
    def written(self, folder: DataFolder) -> Path:
        for name, second, event in (("bots", 1, "first"), ("conversations-worker", 2, "second"), ("bots", 3, "third")):
            line = json.dumps(
                {"timestamp": f"2026-01-01T00:00:0{second}Z", "event": event, "level": "info", "n": second}
            )
            with (folder.logs / f"{name}.log").open("a") as file:
                file.write(line + "\n")
        with (folder.logs / "bots.log").open("a") as file:
            file.write("Traceback: a line without a time\n")
        return folder.logs

    @pytest.mark.usefixtures("written")
    def test_are_shown_readable_in_the_order_of_their_times(self, folder: DataFolder):
        lines = _stb("logs", folder=folder).stdout.splitlines()
        assert [line.strip() for line in lines] == [
            "bots | first n=1",
            "conversations-worker | second n=2",
            "bots | third n=3",
            "bots | Traceback: a line without a time",
        ]

    @pytest.mark.usefixtures("written")
    def test_include_a_service_and_its_worker_where_one_is_named(self, folder: DataFolder):
        assert _stb("logs", "conversations", folder=folder).stdout.split() == [
            "conversations-worker",
            "|",
            "second",
            "n=2",
        ]

    @pytest.mark.usefixtures("written")
    def test_end_with_the_last_lines(self, folder: DataFolder):
        assert "Traceback" in _stb("logs", "--lines", "1", folder=folder).stdout
        assert _stb("logs", "--lines", "0", folder=folder).stdout == ""

    @pytest.mark.usefixtures("written")
    def test_can_be_had_as_they_are_written(self, folder: DataFolder):
        first = _stb("logs", "--raw", folder=folder).stdout.splitlines()[0]
        assert json.loads(first)["event"] == "first"

    def test_are_followed_line_by_line(self, written: Path):
        file = written / "bots.log"
        ends = {file: file.stat().st_size}
        lines = logs._new_lines(lambda: [file], ends)
        with file.open("a") as opened:
            opened.write("one\ntwo\nhal")
        assert [next(lines), next(lines)] == [("bots", "one"), ("bots", "two")]
        with file.open("a") as opened:
            opened.write("f\n")
        assert next(lines) == ("bots", "half")


class TestChangedTests:
    @pytest.fixture
    def clone(self, tmp_path: Path) -> Path:
        files = {
            "services/spotthebot/bots/use_cases/replies.py": "",
            "shared/spotthebot/kit/ids.py": "",
            "tests/bots/test_replies.py": "import pytest\n",
            "tests/conversations/test_replies.py": "import pytest\n",
            "tests/kit/test_identity.py": "from spotthebot.kit import ids\n",
            "tests/kit/test_other.py": "import spotthebot.kit.errors\n",
        }
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        commit = "-c user.name=n -c user.email=e commit -qm first"
        for command in ("init -q -b main", "add -A", commit, "checkout -qb branch"):
            subprocess.run([GIT, *command.split()], cwd=tmp_path, check=True)
        return tmp_path

    def test_are_none_where_nothing_changed(self, clone: Path):
        assert changed_files(clone) == []
        assert pick_tests([], clone) == []

    def test_import_what_changed_or_bear_its_name_in_its_package(self, clone: Path):
        (clone / "services/spotthebot/bots/use_cases/replies.py").write_text("x = 1\n")
        (clone / "shared/spotthebot/kit/ids.py").write_text("x = 1\n")
        changed = changed_files(clone)
        assert changed == ["services/spotthebot/bots/use_cases/replies.py", "shared/spotthebot/kit/ids.py"]
        assert pick_tests(changed, clone) == ["tests/bots/test_replies.py", "tests/kit/test_identity.py"]

    def test_include_those_that_changed_or_are_new_themselves(self, clone: Path):
        (clone / "tests/kit/test_new.py").write_text("")
        (clone / "tests/kit/test_other.py").unlink()
        assert pick_tests(changed_files(clone), clone) == ["tests/kit/test_new.py"]


def _pytest_fast(*arguments: str) -> tuple[int, str]:
    plugins = ("-p", "no:cacheprovider", "-p", "tests.factories.fast_selection")
    command = [sys.executable, "-m", "pytest", *plugins, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


class TestFastSelection:
    def test_knows_tests_that_need_no_database(self, request: pytest.FixtureRequest):
        assert is_pure(request.node, "tests/suite/test_developer_commands.py")
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
            "services/spotthebot/bots/domain/replies.py": file(6, 4, 4, 1),
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


class TestUp:
    def test_refuses_an_unknown_service_before_anything_starts(self, tmp_path: Path):
        refused = _stb("up", "--only", "bots,nobody", folder=DataFolder(tmp_path / "data"))
        assert refused.exit_code == 2
        assert "there is no service nobody" in re.sub(r"\W+", " ", refused.output)
        assert not (tmp_path / "data").exists()
