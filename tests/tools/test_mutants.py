"""`stb test --mutants` on a package of two functions: one is tested at its boundary, the other hardly."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner

from spotthebot.cli import app
from tools import mutants, tests
from tools.mutants import NothingToMutate, OtherMutants, Outcome, draw_sample, read_results, run_mutants
from tools.mutations import find_mutations
from tools.reaching_tests import ImportGraph

GIT = shutil.which("git") or "git"
PRICES = '''"""Prices of at least 10 items."""


def is_bulk(items: int) -> bool:
    """Say whether there are 10 or more."""
    return items >= 10


def discount(items: int) -> int:
    return items // 10
'''
FILES = {
    "services/spotthebot/shop/__init__.py": "from spotthebot.shop.prices import discount\n",
    "services/spotthebot/shop/prices.py": PRICES,
    "services/spotthebot/shop/loops.py": (
        "import time\n\n\ndef count_down(n: int) -> None:\n    while n > 0:\n        time.sleep(0.01)\n        n -= 1\n"
    ),
    "tests/shop/test_strong.py": (
        "import os, sys\n\nfrom spotthebot.shop.prices import is_bulk\n\n\n"
        "def test_is_bulk():\n    assert [is_bulk(9), is_bulk(10)] == [False, True]\n\n\n"
        "def test_runs_without_compiled_files():\n"
        "    assert (sys.dont_write_bytecode, os.environ['PYTHONDONTWRITEBYTECODE']) == (True, '1')\n"
    ),
    "tests/shop/test_weak.py": (
        "from spotthebot.shop import discount\n\n\ndef test_discount():\n    assert discount(0) == 0\n"
    ),
    "tests/shop/test_loops.py": (
        "import os\n\nfrom spotthebot.shop.loops import count_down\n\n\n"
        "def test_ends():\n"
        "    with open(os.environ.get('PIDS', os.devnull), 'a') as file:\n        print(os.getpid(), file=file)\n"
        "    count_down(3)\n"
    ),
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib", "-ra"]\n',
    ".gitignore": "__pycache__/\n",
}
# Every mutant, written out by hand: `items >= 10` and `items // 10`, their results and their boundaries.
KILLED = {
    "return items > 10",
    "return items < 10",
    "return items >= 11",
    "return items >= 9",
    "return None",
}
SURVIVED = {"return items * 10", "return items // 11", "return items // 9"}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("clone")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for command in ("init -q -b main", "add -A", "-c user.name=n -c user.email=e commit -qm first"):
        subprocess.run([GIT, *command.split()], cwd=root, check=True)
    return root


@pytest.fixture(autouse=True)
def quick_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start pytest without plugins, of which the package's tests need none, on a machine that keeps compiled files."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)


def _added(difference: str) -> str:
    return re.sub(r"^\+\s*", "", difference.splitlines()[-1])


class TestCommand:
    def test_kills_what_a_test_catches_and_lists_the_rest_and_leaves_the_clone_as_it_is(
        self, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(tests, "ROOT", clone)
        file = tmp_path / "results.json"
        done = CliRunner().invoke(app, ["test", "--mutants", "shop.prices", "--seed", "5", "--json", str(file)])
        assert done.exit_code == 0, done.output
        results = json.loads(file.read_text())
        found = {
            outcome: {_added(each["difference"]) for each in results["mutants"].values() if each["outcome"] == outcome}
            for outcome in Outcome
        }
        assert found == {Outcome.KILLED: KILLED, Outcome.SURVIVED: SURVIVED, Outcome.TIMED_OUT: set()}
        by = Counter(each["test"] for each in results["mutants"].values())
        assert by == {
            "tests/shop/test_strong.py::test_is_bulk": 5,
            "tests/shop/test_weak.py::test_discount": 1,
            None: 3,
        }
        assert (results["seed"], results["killed"], results["survived"]) == (5, 6, 3)
        assert {each["covering"] for each in results["mutants"].values()} == {1}
        assert done.stdout.count("survived: services/spotthebot/shop/prices.py:10 ") == 3
        assert "-    return items // 10\n+    return items * 10" in done.stdout
        assert done.stdout.endswith("6 killed, 3 survived, 0 timed out: 6 of 9 noticed (66.7%)\n")
        changed = subprocess.run([GIT, "status", "--porcelain"], cwd=clone, capture_output=True, text=True, check=True)
        assert changed.stdout == ""

    def test_an_interrupted_run_is_resumed_where_it_stopped(self, clone: Path, tmp_path: Path):
        file = tmp_path / "results.json"
        running = _started(clone, "shop/prices", file)
        _wait_until(file.exists, running)
        running.send_signal(signal.SIGINT)
        assert running.wait(60) != 0
        sample = draw_sample(clone, "shop/prices", seed=1, count=3)
        before = read_results(file, sample)
        assert 1 <= len(before) < 3
        run_mutants(clone, sample, results_file=file)
        after = read_results(file, sample)
        assert len(after) == 3
        assert {name: after[name] for name in before} == before

    def test_a_mutant_that_never_ends_is_timed_out(self, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(mutants, "_MORE_SECONDS", 3)
        sample = draw_sample(clone, "shop/loops", seed=1, count=100)
        (endless,) = (each for each in sample.mutations if each.text == "+")
        file = tmp_path / "results.json"
        run_mutants(clone, replace(sample, mutations=(endless,)), tests=["tests/shop/test_loops.py"], results_file=file)
        (result,) = read_results(file, sample).values()
        assert result.outcome is Outcome.TIMED_OUT

    def test_a_mutant_that_never_ends_dies_with_a_run_that_is_killed(
        self, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        file = tmp_path / "pids"
        monkeypatch.setenv("PIDS", str(file))
        running = _started(clone, "shop/loops", tmp_path / "results.json", only="+")
        _wait_until(lambda: file.exists() and file.read_text().count("\n") == 2, running)  # without, and with a mutant
        endless = psutil.Process(int(file.read_text().split()[1]))
        running.kill()
        running.wait()
        assert psutil.wait_procs([endless], timeout=10)[1] == []


def _started(clone: Path, room: str, results: Path, *, only: str = "") -> subprocess.Popen[bytes]:
    """Start a run on three mutants of a room, of those whose text is `only` where that is given."""
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from dataclasses import replace; from pathlib import Path;"
        "from tools.mutants import _FORKS, draw_sample, run_mutants;"
        "_FORKS.set_forkserver_preload(['pytest']);"  # the other test loads all of them
        "root, room, results, only = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), sys.argv[4];"
        "sample = draw_sample(root, room, seed=1, count=100 if only else 3);"
        "some = tuple(each for each in sample.mutations if only in {'', each.text});"
        "run_mutants(root, replace(sample, mutations=some), results_file=results)"
    )
    argv = [sys.executable, "-c", program, str(clone), room, str(results), only]
    return subprocess.Popen(argv, stderr=subprocess.DEVNULL)


def _wait_until(condition: Callable[[], bool], running: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while not condition() and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)


class TestSample:
    def test_is_the_same_for_the_same_seed_and_another_for_another(self, clone: Path):
        one, again, other = (draw_sample(clone, "shop", seed=seed, count=4) for seed in (1, 1, 2))
        assert one == again
        assert len(set(one.mutations)) == 4
        assert set(one.mutations) != set(other.mutations)

    def test_grows_with_its_count(self, clone: Path):
        few, more = (draw_sample(clone, "shop", seed=1, count=count) for count in (4, 6))
        assert more.mutations[:4] == few.mutations

    def test_is_refused_of_an_unknown_package(self, clone: Path):
        with pytest.raises(NothingToMutate, match="nothing/here"):
            draw_sample(clone, "nothing/here", seed=1, count=4)

    def test_has_no_results_of_another_sample(self, clone: Path, tmp_path: Path):
        file = tmp_path / "results.json"
        first = draw_sample(clone, "shop", seed=1, count=1)
        file.write_text(json.dumps({**first.heading, "mutants": {}}))
        assert read_results(file, first) == {}
        with pytest.raises(OtherMutants):
            read_results(file, draw_sample(clone, "shop", seed=2, count=1))


class TestReachingTests:
    def test_those_that_import_a_module_come_first_even_through_its_package(self, clone: Path):
        stages = ImportGraph(clone).stages("services/spotthebot/shop/prices.py")
        assert stages == (["tests/shop/test_strong.py", "tests/shop/test_weak.py"], ["tests/shop/test_loops.py"])

    def test_those_that_import_the_package_around_a_module_are_as_near(self, clone: Path):
        (clone / "tests/shop/test_loops.py").write_text("from spotthebot import shop\n")
        nearest, others = ImportGraph(clone).stages("services/spotthebot/shop/prices.py")
        assert (nearest[-1], others) == ("tests/shop/test_loops.py", [])

    def test_those_that_reach_a_module_through_a_tool_are_found(self, tmp_path: Path):
        files = {
            "services/spotthebot/shop/prices.py": PRICES,
            "tools/receipts.py": "from spotthebot.shop.prices import discount\n",
            "tests/shop/test_receipts.py": "from tools.receipts import discount\n",
            "tests/shop/test_others.py": "",
        }
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        stages = ImportGraph(tmp_path).stages("services/spotthebot/shop/prices.py")
        assert stages == (["tests/shop/test_receipts.py"], ["tests/shop/test_others.py"])


def _changes(source: str) -> set[str]:
    """Return the mutated lines of a source of one line."""
    return {each.apply(source).strip() for each in find_mutations("m.py", source)}


class TestMutations:
    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("x = a < b", {"x = a <= b", "x = a >= b"}),
            ("x = a is not None", {"x = a is None"}),
            ("x = (a) not in (b)", {"x = (a) in (b)"}),
            ("x = a + b", {"x = a - b"}),
            ("x = a ** b", {"x = a * b"}),
            ("x = -a", {"x = a"}),
            ("x -= y", {"x += y", "pass"}),
            ("x = a and b", {"x = a or b", "x = True and b", "x = a and True"}),
            ("x = not a", {"x = a"}),
            ("x = b if a else c", {"x = b if True else c", "x = b if False else c"}),
            ("x = [a for a in b if a]", {"x = [a for a in b if True]"}),
            ("x = 7", {"x = 8", "x = 6"}),
            ("x = 0.5", {"x = 1.5"}),
            ("x = True", {"x = False"}),
            ("x = np.maximum(a, b)", {"x = np.minimum(a, b)"}),
            ("x = zip(a, b, strict=False)", {"x = zip(a, b, strict=True)"}),
            ("x = Field(strict=True)", {"x = Field(strict=False)"}),
            ("é = é + b", {"é = é - b"}),
            ("x.a = y", {"pass"}),
            ("raise x", {"pass"}),
            ("x(y)", {"pass"}),
            (
                "x = 'SELECT a FROM b WHERE c <= d AND e'",
                {"x = 'SELECT a FROM b WHERE c < d AND e'", "x = 'SELECT a FROM b WHERE c <= d OR e'"},
            ),
            ("x = f'SELECT {a} FROM b LEFT JOIN c'", {"x = f'SELECT {a} FROM b JOIN c'"}),
        ],
    )
    def test_change_one_place(self, source: str, expected: set[str]):
        assert _changes(source) == expected

    @pytest.mark.parametrize(
        "source",
        [
            '"""At most 3 < 4."""',
            "x = 'a text of 3 < 4 and more'",
            "_log.warning('a', n=1)",
            "x: Literal[3]",
            "def f(x: Literal[1]) -> Literal[2]: ...",
            "def __repr__(self): return 3",
            "@dataclass(frozen=True)\nclass A: ...",
            "__all__ = [*a, *b[:3]]",
            "X = A | None",
            "from a import b",
            "if TYPE_CHECKING:\n    x = 3",
            "x = zip(a, b, strict=True)",
        ],
    )
    def test_leave_texts_types_logs_and_assertions_of_lengths_alone(self, source: str):
        assert _changes(source) == set()
