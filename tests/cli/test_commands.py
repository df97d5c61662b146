"""The table of commands, and what a command imports before its own work."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spotthebot.cli.application import app
from spotthebot.cli.command_table import COMMANDS
from spotthebot.cli.commands import doctor
from spotthebot.cli.lazy import Command, CommandGroup, load_command
from spotthebot.contracts.services import SERVICES
from tests.factories.command_line import run_stb

ROOT = Path(__file__).parents[2]
# typer itself imports pydantic to read options.
FRAMEWORKS = {"alembic", "fastapi", "numpy", "procrastinate", "psycopg", "pyarrow", "scipy", "sqlalchemy", "starlette"}
SLOW = FRAMEWORKS | {"torch", "transformers", "uvicorn", *(service.package for service in SERVICES)}
PROGRAM = """\
import contextlib, io, sys
from spotthebot.cli.application import main
sys.argv = ["stb", *sys.argv[1:]]
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    with contextlib.suppress(SystemExit):
        main()
print(*sys.modules)
"""


NOT_IN_THE_SUITE = """\
import sys
for name in ("hypothesis", "importlinter", "mypy", "pytest", "respx", "schemathesis", "torch", "transformers"):
    sys.modules[name] = None  # as if it were not installed
from spotthebot.cli.command_table import COMMANDS
from spotthebot.cli.lazy import CommandGroup, load_command

for name, entry in COMMANDS.items():
    for word, command in entry.commands.items() if isinstance(entry, CommandGroup) else [(name, entry)]:
        if name != "test":
            load_command(word, command)
"""


def _entries() -> list[tuple[str, Command]]:
    found = []
    for word, entry in COMMANDS.items():
        if isinstance(entry, CommandGroup):
            found += [(f"{word} {name}", command) for name, command in entry.commands.items()]
        else:
            found.append((word, entry))
    return found


def _modules_after(*arguments: str) -> set[str]:
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


class TestTable:
    @pytest.mark.parametrize(("words", "entry"), _entries(), ids=lambda value: value if isinstance(value, str) else "")
    def test_gives_each_command_the_help_that_its_function_gives(self, words: str, entry: Command):
        loaded = load_command(words.rsplit(maxsplit=1)[-1], entry)
        assert loaded.name == words.rsplit(maxsplit=1)[-1]
        assert loaded.help.startswith(entry.help.removesuffix("."))
        shown = CliRunner().invoke(app, [*words.split(), "-h"])
        assert shown.exit_code == 0
        assert f"./stb {words}".split()[-1] in shown.output

    def test_needs_nothing_that_tests_or_trains_but_for_the_tests_themselves(self):
        done = subprocess.run([sys.executable, "-c", NOT_IN_THE_SUITE], capture_output=True, text=True, check=False)
        assert done.stderr == ""

    def test_gives_its_groups_the_short_option_for_help_too(self):
        assert CliRunner().invoke(app, ["-h"]).output == CliRunner().invoke(app, ["--help"]).output
        assert "revoke" in CliRunner().invoke(app, ["keys", "-h"]).output

    def test_is_what_help_lists(self):
        shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"})
        assert shown.exit_code == 0
        for word, entry in COMMANDS.items():
            assert any(word in line and entry.help in line for line in shown.output.splitlines()), word

    def test_lists_commands_where_none_is_named(self):
        assert "status" in CliRunner().invoke(app, []).output
        assert "score" in CliRunner().invoke(app, ["fed"]).output

    @pytest.mark.parametrize("arguments", [["dance"], ["keys", "dance"], ["status", "--dance"]])
    def test_refuses_what_it_does_not_hold(self, arguments: list[str]):
        assert CliRunner().invoke(app, arguments).exit_code == 2


class TestVersion:
    def test_is_that_of_the_project(self):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        shown = CliRunner().invoke(app, ["--version"])
        assert (shown.exit_code, shown.output) == (0, f"Spot The Bot {project['version']}\n")


class TestMissingPackages:
    def test_are_one_sentence_that_names_the_extra(self, monkeypatch: pytest.MonkeyPatch):
        def missing() -> None:
            message, package = "No module named 'aiohttp'", "aiohttp"
            raise ModuleNotFoundError(message, name=package)

        monkeypatch.setattr(doctor, "check_plugins", missing)
        done = run_stb("doctor")
        said = "Error: This needs 'aiohttp', which is not installed: install spotthebot[suite].\n"
        assert (done.returncode, done.stderr) == (1, said)


class TestImports:
    @pytest.mark.parametrize(
        "arguments",
        [("--help",), ("keys", "--help"), ("status", "--data-dir", "/nowhere"), ("down", "--data-dir", "/nowhere")],
        ids=" ".join,
    )
    def test_hold_no_framework_where_no_service_is_asked(self, arguments: tuple[str, ...]):
        loaded = _modules_after(*arguments)
        assert "spotthebot.cli" in loaded
        assert loaded & (SLOW | {"asyncio", "httpx", "urllib.request"}) == set()

    @pytest.mark.parametrize("arguments", [("rank", "--help"), ("rank", "x", "--resamples", "0")], ids=" ".join)
    def test_hold_no_service_and_no_schema_where_a_ranking_is_not_computed(self, arguments: tuple[str, ...]):
        loaded = _modules_after(*arguments)
        assert "spotthebot.cli.commands.rank" in loaded
        assert loaded & (SLOW | {"httpx", "spotthebot.contracts.analytics.provenance"}) == set()

    def test_hold_the_clients_that_were_used_and_no_service(self):
        program = (
            "import sys; from spotthebot.local.runtime.session import Clients; "
            "urls = dict.fromkeys(('annotation', 'analytics'), 'http://127.0.0.1:1'); "
            "opened = Clients(urls, admin_key='key', frontend_key='key'); opened.annotation, opened.analytics; "
            "print(*sys.modules)"
        )
        printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        loaded = set(printed.stdout.split())
        assert {"httpx", "spotthebot.clients.annotation", "spotthebot.clients.analytics"} <= loaded
        assert loaded & (SLOW | {"spotthebot.clients.bots", "spotthebot.clients.conversations"}) == set()
