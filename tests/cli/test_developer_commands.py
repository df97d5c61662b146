"""`stb up --only --reload`, `env`, `doctor` and `logs`: what a developer of one service uses."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from spotthebot.cli.application import app
from spotthebot.cli.commands import doctor, logs
from spotthebot.local.runtime.data_folder import KEY_OF_ADMIN, DataFolder, RunningService, State

SETTINGS = {"SPOTTHEBOT_WEB_SESSION_HOURS": "3"}
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
                urls={name: f"http://127.0.0.1:{28600 + n}" for n, name in enumerate(("web", "bots", "conversations"))},
                environments={"bots": {"SPOTTHEBOT_BOTS_DATABASE_URL": SECRET}, "conversations": {}, "web": SETTINGS},
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

    @pytest.mark.parametrize(
        ("name", "held"), [("bots", "a database password and an API key"), ("web", "an API key")], ids=["bots", "web"]
    )
    def test_says_which_secrets_it_printed(self, folder: DataFolder, name: str, held: str):
        assert f"These lines hold {held}: keep" in _stb("env", name, "--secrets", folder=folder).stderr

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
        assert said == f"No suite runs on {tmp_path}: start one with './stb up --data-dir {tmp_path}'."


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
            "bots | 2026-01-01 00:00:01 first n=1",
            "conversations-worker | 2026-01-01 00:00:02 second n=2",
            "bots | 2026-01-01 00:00:03 third n=3",
            "bots | Traceback: a line without a time",
        ]

    @pytest.mark.usefixtures("written")
    def test_include_a_service_and_its_worker_where_one_is_named(self, folder: DataFolder):
        assert _stb("logs", "conversations", folder=folder).stdout.split() == [
            "conversations-worker",
            "|",
            "2026-01-01",
            "00:00:02",
            "second",
            "n=2",
        ]

    def test_are_limited_to_a_level(self, written: Path, folder: DataFolder):
        warned = {"timestamp": "2026-01-01T00:00:00Z", "event": "bot.probe_failed", "level": "warning", "bot": "b"}
        (written / "supervisor.log").write_text(json.dumps(warned) + "\n")
        (written / "suite.log").write_text("bots runs.\nError: no room\n")
        shown = _stb("logs", "--level", "warning", folder=folder).stdout.splitlines()
        expected = "supervisor | 2026-01-01 00:00:00 WARNING bot.probe_failed bot=b"
        others = ["suite | Error: no room", "bots | Traceback: a line without a time"]
        assert sorted(line.strip() for line in shown) == sorted([expected, *others])
        assert _stb("logs", "supervisor", folder=folder).stdout.strip() == expected

    def test_include_those_of_postgresql_by_its_name(self, folder: DataFolder):
        (folder.path / "postgres.log").write_text("FATAL: no space left\n")
        assert _stb("logs", "postgres", folder=folder).stdout.strip() == "postgres | FATAL: no space left"

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


class TestDoctor:
    def test_says_what_an_operator_looks_for_first(self, folder: DataFolder):
        (folder.path / "postgres").mkdir()
        (folder.path / "postgres" / "rows").write_bytes(bytes(2_000_000))
        printed = _stb("doctor", "--json", folder=folder)
        found = {each["part"]: each for each in json.loads(printed.stdout)["parts"]}
        assert found["Database"]["detail"] == f"{folder.path}/postgres: 2 MB"
        assert found["Data folder"]["detail"].startswith(f"{folder.path}: 2 MB, free on its disk: ")
        assert found["Ports"]["detail"].endswith("in use by the suite")
        assert found["Documentation"]["detail"] in {"built", "not found"}

    def test_names_settings_without_values_and_the_last_backup(
        self, folder: DataFolder, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(os, "environ", os.environ.copy())
        file = folder.path / "settings.env"
        names = [f"SPOTTHEBOT_WEB_{name}" for name in ("SESSION_HOUR", "SESSION_HOURS", "ANNOTATOR_DAYS")]
        file.write_text("".join(f"{name}=3\n" for name in names))
        file.chmod(0o600)
        folder.keep_backup(Path("monday.zip"))
        found = {each["part"]: each for each in json.loads(_stb("doctor", "--json", folder=folder).stdout)["parts"]}
        given = found["Settings"]["detail"].split(", ")
        noted = [f"{names[0]} (unknown)", names[1], f"{names[2]} (not in effect until the next start)"]
        assert set(noted) <= set(given)
        assert found["Last backup"]["detail"].endswith(f" UTC: {Path.cwd()}/monday.zip")

    def test_names_taken_ports_before_a_start(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        folder = DataFolder(tmp_path / "new")
        folder.create()
        folder.keep_port_base(22500)
        monkeypatch.setattr(doctor, "_answers", lambda port: port == 22501)
        printed = _stb("doctor", "--json", folder=folder)
        (ports,) = [each for each in json.loads(printed.stdout)["parts"] if each["part"] == "Ports"]
        assert not ports["found"]
        assert ports["detail"].startswith("22501 to 22506: taken by others: 22501;")


class TestUp:
    def test_refuses_an_unknown_service_before_anything_starts(self, tmp_path: Path):
        refused = _stb("up", "--only", "bots,nobody", folder=DataFolder(tmp_path / "data"))
        assert refused.exit_code == 2
        assert "there is no service nobody" in re.sub(r"\W+", " ", refused.output)
        assert not (tmp_path / "data").exists()
