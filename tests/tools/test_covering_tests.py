"""Which tests a mutant meets: those that execute its line, in fixtures and processes as well, or what it binds."""

from pathlib import Path

import pytest

from tools.covering_tests import DependentLines, Recording
from tools.mutants import NoTestsRan, find_covering_tests
from tools.mutations import Mutation

LEDGER = "services/spotthebot/shop/ledger.py"
SOURCE = """\
LIMIT = 3
_DOUBLE = LIMIT * 2


class Page:
    size: int = 5


def opened() -> list[int]:
    return []


def counted(rows: list[int]) -> int:
    return min(
        len(rows),
        _DOUBLE,
    )


def closed(rows: list[int], *, at_most: int = 9) -> bool:
    if len(rows) <= at_most:
        return Page().size > 0
    return False


def doubled(n: int) -> int:
    return n * 2


TWICE = doubled(2)


def twice() -> int:
    return TWICE
"""
FILES = {
    LEDGER: SOURCE,
    "tests/shop/test_ledger.py": """\
import subprocess, sys
import pytest
from spotthebot.shop.ledger import counted, opened

@pytest.fixture(scope="module")
def rows():
    return opened()

def test_counts(rows):
    assert counted(rows) == 0

def test_closes():
    subprocess.run([sys.executable, "-c", "from spotthebot.shop.ledger import closed; assert closed([])"], check=True)

def test_adds():
    assert 1 + 1 == 2

def test_fails(rows):
    assert counted(rows) == 1
""",
    "tests/shop/test_counting.py": """\
from spotthebot.shop import ledger

def test_counts_one():
    assert ledger.counted([1]) == 1
""",
    "services/spotthebot/yard/gate.py": "WIDTH = 2\n",
    "tests/yard/test_gate.py": """\
from spotthebot.yard.gate import WIDTH

def test_opens():
    assert WIDTH == 2
""",
    "tests/shop/test_broken.py": "from spotthebot.shop.ledger import missing\n",
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib", "-ra"]\n',
}
IN_LEDGER = {f"tests/shop/test_ledger.py::{name}" for name in ("test_counts", "test_closes", "test_adds")}
COUNTED = {"tests/shop/test_ledger.py::test_counts", "tests/shop/test_counting.py::test_counts_one"}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "clone" / name).write_text(text)
    return tmp_path / "clone"


def _mutation(text: str) -> Mutation:
    """Return a mutation of the line that holds a text."""
    return Mutation(LEDGER, SOURCE[: SOURCE.index(text)].count("\n") + 1, "boundary", 0, 0, "")


@pytest.fixture(autouse=True)
def quick_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start pytest without plugins, of which these tests need none."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def test_a_line_is_covered_by_tests_that_execute_it_and_by_a_file_whose_fixtures_or_processes_do(
    clone: Path,
):
    expected = {
        "len(rows),": COUNTED,
        "return []": IN_LEDGER,
        "at_most: int = 9": IN_LEDGER | COUNTED,
        "return False": set(),
        "LIMIT = 3": IN_LEDGER | COUNTED,
    }
    mutations = {text: _mutation(text) for text in expected}
    covering = find_covering_tests(clone, list(mutations.values()), [])
    assert {text: covering[mutation].keys() for text, mutation in mutations.items()} == expected


def test_only_named_files_cover_a_line_and_all_lines_that_run_on_import_where_they_import_nothing_of_it(clone: Path):
    counting, constant = _mutation("len(rows),"), _mutation("LIMIT = 3")
    width = Mutation("services/spotthebot/yard/gate.py", 1, "boundary", 0, 0, "")
    covering = find_covering_tests(clone, [counting, constant, width], ["tests/shop/test_counting.py", "tests/yard"])
    counts, opens = "tests/shop/test_counting.py::test_counts_one", "tests/yard/test_gate.py::test_opens"
    assert {mutation: covering[mutation].keys() for mutation in (counting, constant)} == {
        counting: {counts},
        constant: {counts, opens},
    }
    assert opens in covering[width]


def test_a_path_without_tests_is_refused(clone: Path):
    with pytest.raises(NoTestsRan, match="no test file"):
        find_covering_tests(clone, [_mutation("return []")], ["tests/nowhere"])


def test_tests_that_cannot_be_imported_tell_nothing_of_mutants(clone: Path):
    with pytest.raises(NoTestsRan, match="cannot import name"):
        find_covering_tests(clone, [_mutation("return []")], ["tests/shop/test_broken.py"])


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("len(rows),", {14, 15, 16, 17}),  # all of a statement
        ("len(rows) <=", {21}),  # without the statements in it
        ("at_most: int = 9", {20, 21, 22, 23}),  # an argument's default: all of the function
        ("LIMIT = 3", {1, 14, 15, 16, 17}),  # by way of _DOUBLE
        ("size: int = 5", {6, 21, 22, 23}),
        ("return n * 2", {27, 34}),  # by way of TWICE
    ],
)
def test_a_change_can_be_noticed_where_its_statement_runs_or_what_it_binds_is_mentioned(
    clone: Path, text: str, lines: set[int]
):
    assert DependentLines(clone).of(_mutation(text)) == {LEDGER: lines}


class TestCovering:
    recording = Recording(
        seconds={"a.py::slow": 5.0, "b.py::first": 2.0, "a.py::quick": 0.1, "b.py::second": 1.0},
        lines={
            "m.py": {
                1: frozenset({"a.py::slow", "b.py::first"}),
                2: frozenset({"", "b.py"}),
                3: frozenset({""}),
                4: frozenset({"a.py::quick", "b.py::second"}),
            }
        },
    )

    @pytest.mark.parametrize(
        ("line", "tests"),
        [
            (1, ["b.py::first", "a.py::slow"]),
            (2, ["b.py::first", "b.py::second"]),
            (3, ["b.py::first", "b.py::second", "a.py::slow", "a.py::quick"]),
            (4, ["a.py::quick", "b.py::second"]),
            (5, []),
        ],
    )
    def test_begins_with_the_file_whose_tests_are_quickest(self, line: int, tests: list[str]):
        assert self.recording.covering({"m.py": frozenset({line})}) == tests

    def test_selects_all_tests_of_further_files(self):
        found = self.recording.covering({"m.py": frozenset({5})}, and_files=["a.py"])
        assert found == ["a.py::slow", "a.py::quick"]
