"""The page on the papers names commands and endpoints that exist."""

import re
from functools import cache
from pathlib import Path

import pytest

from spotthebot.contracts.services import SERVICE_NAMES
from tests.architecture.documents import committed_document
from tests.factories.command_line import run_stb

PAGE = (Path(__file__).parents[2] / "docs" / "papers.md").read_text()
REPORT = Path(__file__).parents[2] / "services" / "spotthebot" / "local" / "report"
COMMANDS = sorted(set(re.findall(r"`(\./stb [^`]+)`", PAGE)))
ENDPOINTS = sorted(set(re.findall(r"`((?:GET|POST|PUT) /[^`]+)`", PAGE)))


@cache
def _help(*path: str) -> str:
    shown = run_stb(*path, "--help")
    return shown.stdout if shown.returncode == 0 else ""


def _is_command(command: str) -> bool:
    """Return whether all words in lower case are commands, and the last one has the options."""
    words = command.removeprefix("./stb ").split()
    path = [word for word in words if re.fullmatch(r"[a-z][a-z-]+", word)]
    groups = [path[:1], path[:2]] if " COMMAND " in _help(*path[:1]) else [path[:1]]
    options = [word for word in words if word.startswith("--")]
    return all(_help(*each) for each in groups) and all(option in _help(*groups[-1]) for option in options)


def _is_endpoint(endpoint: str) -> bool:
    method, path = endpoint.split()
    known = {
        f"{method.upper()} {re.sub(r'{[^}]+}', '{}', path)}"
        for service in SERVICE_NAMES
        for path, methods in committed_document(service)["paths"].items()
        for method in methods
    }
    return f"{method} {re.sub(r'{[^}]+}', '{}', path)}" in known


class TestPapers:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_name_commands_that_exist(self, command: str):
        assert _is_command(command)

    def test_name_in_each_row_a_command_or_a_page_that_does_it_or_why_nothing_does(self):
        rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| Where")]
        assert len(rows) > 60
        done_by = re.compile(r"`\./stb |\]\(|not here|the same")
        assert [row for row in rows if not done_by.search(row.rpartition(" | ")[2])] == []

    def test_name_tables_that_a_report_has(self):
        named = re.findall(r"`(\w+)`(?: and `(\w+)`)? of `\./stb report CAMPAIGN", PAGE)
        made = "".join(file.read_text() for file in REPORT.glob("*_tables.py")) + (REPORT / "tables.py").read_text()
        assert [name for names in named for name in names if name and f'key="{name}"' not in made] == []

    def test_name_endpoints_that_exist(self):
        assert len(ENDPOINTS) > 20
        assert [each for each in ENDPOINTS if not _is_endpoint(each)] == []

    @pytest.mark.parametrize("command", ["./stb rankle", "./stb fed scores", "./stb rank CAMPAIGN --polarity"])
    def test_with_another_command_would_be_caught(self, command: str):
        assert not _is_command(command)

    @pytest.mark.parametrize("endpoint", ["GET /v1/campaigns/{id}/nothing", "POST /v1/campaigns/{id}/survival"])
    def test_with_another_endpoint_would_be_caught(self, endpoint: str):
        assert not _is_endpoint(endpoint)
