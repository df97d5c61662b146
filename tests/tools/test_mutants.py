"""`stb test --mutants` on a package of two functions: one is tested at its boundary, the other hardly."""

import shutil
import subprocess
from pathlib import Path

import pytest
from cosmic_ray.work_db import use_db
from typer.testing import CliRunner

from spotthebot.cli.application import app
from tools import mutants, tests
from tools.mutants import FailsWithoutMutant, NothingToMutate, OtherMutants, run_mutants

GIT = shutil.which("git") or "git"
FILES = {
    "services/spotthebot/shop/__init__.py": "",
    "services/spotthebot/shop/strong.py": "def is_bulk(items: int) -> bool:\n    return items >= 10\n",
    "services/spotthebot/shop/weak.py": "def discount(items: int) -> int:\n    return items // 10\n",
    "services/spotthebot/shop/loops.py": (  # one that never ends sleeps, and leaves the processor to others
        "from sys import getswitchinterval\nfrom time import sleep\n\n\n"
        "def count_down(n: int) -> None:\n    while n != 0:\n        n -= 1\n        sleep(getswitchinterval())\n"
    ),
    "services/spotthebot/shop/migrations/first.py": "REVISION = 1\n",
    "tests/shop/test_strong.py": (
        "from spotthebot.shop.strong import is_bulk\n\n\n"
        "def test_is_bulk():\n    assert [is_bulk(each) for each in (9, 10, 11)] == [False, True, True]\n"
    ),
    "tests/shop/test_weak.py": (
        "from spotthebot.shop.weak import discount\n\n\ndef test_discount():\n    assert discount(0) == 0\n"
    ),
    "tests/shop/test_loops.py": (
        "from spotthebot.shop.loops import count_down\n\n\ndef test_ends():\n    count_down(3)\n"
    ),
    "tests/broken/test_broken.py": "def test_fails():\n    raise AssertionError\n",
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib"]\n',
    ".gitignore": "__pycache__/\n",
}


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


def _outcomes(session: Path) -> list[tuple[str, bool]]:
    with use_db(str(session)) as database:
        return sorted(
            (item.mutations[0].module_path.name, result.is_killed) for item, result in database.completed_work_items
        )


class TestRunMutants:
    def test_tells_what_a_test_notices_from_what_none_does_and_leaves_the_clone_as_it_is(
        self, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        """The comparison and its boundary are tested; a quotient of 0 is 0 whatever 10 becomes."""
        monkeypatch.setattr(tests, "ROOT", clone)
        session = tmp_path / "session.sqlite"
        arguments = ["test", "--mutants", "shop", "--seed", "5", "--count", "9", "--session", str(session)]
        done = CliRunner().invoke(app, [*arguments, "tests/shop/test_strong.py", "tests/shop/test_weak.py"])
        assert done.exit_code == 0, done.output
        outcomes = _outcomes(session)
        assert {killed for name, killed in outcomes if name == "strong.py"} == {True}
        assert ("weak.py", False) in outcomes
        noticed = sum(killed for _, killed in outcomes)
        assert f"shop, seed 5: {noticed} of {len(outcomes)} mutants were noticed" in done.output
        assert "-    return items // 10\n+    return items " in done.output
        changed = subprocess.run([GIT, "status", "--porcelain"], cwd=clone, capture_output=True, text=True, check=True)
        assert changed.stdout == ""

    def test_runs_the_nearest_tests_and_goes_on_where_it_was_interrupted(
        self, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        session, run = tmp_path / "session.sqlite", mutants._run
        ran: list[str] = []
        stops = True

        def watched(item, commands):
            if stops and ran:
                raise KeyboardInterrupt
            ran.append(item.job_id)
            return run(item, commands)

        monkeypatch.setattr(mutants, "_run", watched)
        with pytest.raises(KeyboardInterrupt):
            run_mutants(clone, "shop/strong.py", seed=1, count=2, session=session)
        stops = False
        assert run_mutants(clone, "shop/strong.py", seed=1, count=2, session=session) == 1.0
        assert len(ran) == len(set(ran)) == 2
        with pytest.raises(OtherMutants, match=r"session\.sqlite has mutants of another room"):
            run_mutants(clone, "shop/strong.py", seed=2, count=2, session=session)

    def test_counts_one_that_never_ends_as_noticed(self, clone: Path, monkeypatch: pytest.MonkeyPatch):
        """Whether 3 falls by 0 or by 2 a round, it is never 0."""
        monkeypatch.setattr(mutants, "_SECONDS_OF_TESTS", 5.0)
        assert run_mutants(clone, "shop.loops", seed=4, count=20) > 0

    @pytest.mark.parametrize("room", ["nothing/here", "shop/migrations"])
    def test_refuses_a_room_without_sources(self, clone: Path, room: str):
        with pytest.raises(NothingToMutate, match=room):
            run_mutants(clone, room, seed=1, count=4)

    def test_refuses_tests_that_fail_without_a_mutant(self, clone: Path):
        with pytest.raises(FailsWithoutMutant, match=r"tests/broken/test_broken\.py says"):
            run_mutants(clone, "shop", seed=1, count=1, tests=["tests/broken/test_broken.py"])
