"""`./stb` before anything is installed: it answers what it can, and refuses what no command knows."""

import ast
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from spotthebot.suite.cli import app
from spotthebot.suite.cli.front_door import COMMANDS_FILE, commands_text

ROOT = Path(__file__).parents[2]
FILES = ("stb", "pyproject.toml", "constraints.txt", "requirements.txt", str(COMMANDS_FILE))
Run = Callable[..., int]


def _contents(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone in which nothing was installed yet."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def stb(clone: Path) -> ModuleType:
    """The script of the clone, not yet run."""
    loader = SourceFileLoader("front_door_of_a_clone", str(clone / "stb"))
    specification = importlib.util.spec_from_loader(loader.name, loader)
    assert specification is not None
    module = importlib.util.module_from_spec(specification)
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = written
    return module


@pytest.fixture
def run(clone: Path, stb: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the script where a process that it starts is a failure; it leaves the clone as it was."""

    def refuse(*command: object, **_settings: object) -> None:
        message = f"a process was started: {command}"
        raise AssertionError(message)

    for target in ("subprocess.call", "subprocess.Popen", "os.execv"):
        monkeypatch.setattr(target, refuse)

    def run_script(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["stb", *arguments])
        before = _contents(clone)
        with pytest.raises(SystemExit) as ended:
            stb.main()
        assert _contents(clone) == before
        assert isinstance(ended.value.code, int)
        return ended.value.code

    return run_script


class TestAnswers:
    @pytest.mark.parametrize(
        ("arguments", "code", "first"),
        [
            ([], 2, "Usage: ./stb [OPTIONS] COMMAND"),
            (["--help"], 0, "Usage: ./stb [OPTIONS] COMMAND"),
            (["keys"], 2, "Usage: ./stb keys [OPTIONS] COMMAND"),
            (["rank", "-h"], 0, "Usage: ./stb rank [OPTIONS]"),
            (["keys", "create", "--role=team", "--help"], 0, "Usage: ./stb keys create"),
            (["logs", "-n5", "--lines", "7", "-h"], 0, "Usage: ./stb logs"),
            (["test", "-k", "words", "--help"], 0, "Usage: ./stb test"),
            (["--version"], 0, "Spot The Bot 0."),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else "",
    )
    def test_are_given_without_installing(
        self, run: Run, arguments: list[str], code: int, first: str, capsys: pytest.CaptureFixture[str]
    ):
        assert run(*arguments) == code
        assert capsys.readouterr().out.startswith(first)

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["stauts"], "No such command 'stauts'. Did you mean 'status'?\nTry './stb --help' for help.\n"),
            (["keys", "creat"], "No such command 'creat'. Did you mean 'create'?\nTry './stb keys --help' for help.\n"),
            (["rank", "x", "--jsn", "f"], "No such option '--jsn'. Did you mean '--json'?\nTry './stb rank --help'"),
            (["logs", "-x"], "No such option '-x'.\nTry './stb logs --help' for help.\n"),
            (["--dance"], "No such option '--dance'.\n"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else "",
    )
    def test_refuse_what_no_command_knows(
        self, run: Run, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
    ):
        assert run(*arguments) == 2
        assert capsys.readouterr().err.startswith(said)

    def test_say_how_tests_are_run_where_the_suite_alone_is_installed(
        self, clone: Path, run: Run, stb: ModuleType, capsys: pytest.CaptureFixture[str]
    ):
        (clone / ".venv").mkdir()
        (clone / ".venv" / ".installed-suite").write_text(stb.fingerprint("suite"))
        assert run("test", "--help") == 0
        assert "--mutants" in capsys.readouterr().out

    @pytest.mark.parametrize(
        "arguments",
        [["status"], ["rank", "x", "--seed", "-1"], ["test", "-k", "x", "-x"], ["logs", "--lines", "--help"]],
        ids=" ".join,
    )
    def test_leave_work_to_the_commands(self, stb: ModuleType, arguments: list[str]):
        stb.answer_without_installing(arguments)

    def test_come_from_what_the_commands_say(self):
        assert (ROOT / COMMANDS_FILE).read_text(encoding="utf-8") == commands_text(app), "renew it: ./stb docs"


class TestScript:
    def test_installs_when_a_command_has_work_to_do(self, clone: Path):
        """A `venv` that fails stands before Python's own, and so shows whether it was asked."""
        (clone / "first").mkdir()
        (clone / "first" / "venv.py").write_text("import sys; sys.exit(1)")
        environment = {"PYTHONPATH": str(clone / "first"), "PATH": "/nowhere"}
        printed = [
            subprocess.run(
                [sys.executable, clone / "stb", *arguments],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            for arguments in (["status", "-h"], ["status"])
        ]
        assert [each.returncode for each in printed] == [0, 1]
        assert "Making .venv" not in printed[0].stderr
        assert "Making .venv" in printed[1].stderr

    def test_can_be_read_by_pythons_that_are_too_old_to_run_it(self):
        ast.parse((ROOT / "stb").read_text(encoding="utf-8"), feature_version=(3, 4))
