"""The wheel: it demonstrates the suite in an empty environment, holds the product alone, rebuilds to the same bytes."""

import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

import pytest

from spotthebot.local.environments import Environment, ensure
from tests.architecture.test_requirements import PROJECT, packages_of
from tests.factories.stb_folder import data_folder
from tools import ROOT
from tools.builds import build, exported, run

SUITE = Environment("suite", tuple(f"{name}=={version}" for name, version in sorted(packages_of("suite").items())))
OF_CLONES = {"dev", "docs"}
"""Extras that only those need who work on the project."""
SMALL_DEMO = """
import sys
from spotthebot.local.demonstration import run
run._CONVERSATIONS_PER_PAIR, run._HUMAN_CONVERSATIONS, run._ANNOTATORS = 2, 6, 6
sys.argv = ["stb", *sys.argv[1:]]
from spotthebot.cli.__main__ import start
start()
"""
"""Takes all steps of the demonstration, with a sixth of the conversations."""


def _wheel(sources: Path, folder: Path, *, epoch: int) -> Path:
    """Build the wheel alone: to compress an sdist takes longer."""
    command = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    run(*command, folder=sources, SOURCE_DATE_EPOCH=str(epoch))
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _wheel(ROOT, tmp_path_factory.mktemp("built"), epoch=0)


class Installed:
    """An environment that holds the wheel, and what its extra `suite` brings with the pinned versions, linked."""

    def __init__(self, folder: Path, wheel: Path, *, suite: bool) -> None:
        venv.EnvBuilder(symlinks=True).create(folder)
        self.python = folder / "bin" / "python"
        (self.packages,) = folder.glob("lib/python3*/site-packages")
        options = ("--quiet", "--no-index", "--no-deps", "--no-compile", "--disable-pip-version-check")
        subprocess.run([sys.executable, "-m", "pip", "--python", self.python, "install", *options, wheel], check=True)
        if suite:
            (packages,) = ensure(SUITE).parents[1].glob("lib/python3*/site-packages")
            (self.packages / "suite.pth").write_text(f"{packages}\n")

    def run(self, *command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, in a folder without a clone, and without what tests are told."""
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(
            [self.python.with_name(str(command[0])), *command[1:]],
            cwd=self.packages.parents[2],
            env=inherited | {"COLUMNS": "200"} | environment,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed"), wheel, suite=True)


@pytest.fixture
def folder() -> Iterator[Path]:
    with data_folder() as made:
        yield made.parent


class TestInstalled:
    def test_demonstrates_the_suite_as_the_first_thing(self, installed: Installed, folder: Path):
        small = ("python", "-c", SMALL_DEMO, "demo", "--data-dir", folder / "data")
        done = installed.run(*small, SPOTTHEBOT_POSTGRES_HOME=str(folder / "homes"))
        assert done.returncode == 0, done.stderr
        assert "simulated annotators" in done.stdout
        assert "\nRead it again: ./stb rank demo" in done.stdout

    def test_is_called_by_its_script(self, installed: Installed):
        said = installed.run("stb", "--help")
        assert said.stdout.split()[:2] == ["Usage:", "stb"], said.stderr
        listed = {line.split()[1] for line in said.stdout.splitlines() if len(line.split()) > 2}
        assert listed >= {"demo", "loadtest", "purge"}
        assert listed & {"docs", "pins", "test"} == set()
        assert installed.run("stb", "--version").stdout == f"Spot The Bot {PROJECT['project']['version']}\n"

    @pytest.mark.parametrize("command", ["docs", "pins", "release", "test", "verify"])
    def test_says_in_one_sentence_which_commands_need_a_clone(self, installed: Installed, command: str):
        said = installed.run("stb", command, "--help")
        sentence = "This command needs the sources: run it in a clone of the repository, not from an installed package."
        assert (said.returncode, said.stdout, said.stderr) == (1, "", f"Error: {sentence}\n")

    def test_says_without_its_extras_which_one_brings_the_command_line(self, tmp_path: Path, wheel: Path):
        said = Installed(tmp_path, wheel, suite=False).run("stb", "demo")
        assert (said.returncode, said.stdout) == (1, "")
        assert said.stderr.endswith("install spotthebot[suite].\n")


class TestWheel:
    def test_holds_the_product_alone(self, installed: Installed):
        ours = {each.name.partition("-")[0] for each in installed.packages.iterdir()} - {"suite.pth"}
        assert {each for each in ours if not each.startswith(("pip", "setuptools", "_distutils", "pkg_"))} == {
            "spotthebot"
        }
        names = {path.name for path in (ROOT / "tools").iterdir() if path.is_file()} - {"__init__.py"}
        held = {path.name for path in (installed.packages / "spotthebot" / "cli").rglob("*")}
        assert {"tests.py", "pins.py"} <= names
        assert names & held == set()

    def test_holds_every_file_of_the_sources(self, installed: Installed):
        """Templates, styles, texts, migrations and the sample: what is committed is installed."""
        listed = run("git", "ls-files", "services/spotthebot", "shared/spotthebot", folder=ROOT)
        committed = [path.partition("/")[2] for path in listed.splitlines()]
        assert len([path for path in committed if "/templates/" in path]) > 50
        assert [path for path in committed if not (installed.packages / path).is_file()] == []

    def test_has_the_extras_that_the_documents_name(self, installed: Installed):
        page = (ROOT / "docs" / "release.md").read_text()
        named = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
        (ours,) = distributions(name="spotthebot", path=[str(installed.packages)])
        assert named == set(ours.metadata.get_all("Provides-Extra") or ()) - OF_CLONES


class TestBuild:
    def test_makes_the_same_bytes_in_any_folder_under_any_umask_and_from_the_sdist(self, tmp_path: Path):
        """The sources of two builds lie in folders of other names, with other times and rights."""
        built = []
        for name, umask in (("one", 0o022), ("another", 0o077)):
            before = os.umask(umask)
            try:
                sources = exported(ROOT, "HEAD", tmp_path / name)
                built.append(build(sources, tmp_path / f"{name}-built", epoch=1_000_000_000))
            finally:
                os.umask(before)
        (wheel, sdist), again = built
        assert (wheel.read_bytes(), sdist.read_bytes()) == tuple(each.read_bytes() for each in again)
        run("tar", "-xzf", sdist, folder=tmp_path)
        from_sdist = _wheel(tmp_path / sdist.name.removesuffix(".tar.gz"), tmp_path / "third", epoch=1_000_000_000)
        assert from_sdist.read_bytes() == wheel.read_bytes()
        later = _wheel(tmp_path / "one", tmp_path / "later", epoch=1_000_000_002)
        assert later.read_bytes() != wheel.read_bytes()
