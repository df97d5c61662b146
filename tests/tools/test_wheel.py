"""The wheel holds the product alone; where it is installed without a clone, the tools' commands say so."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from tools import ROOT


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel holds, and nothing of a clone around it."""
    folder = tmp_path_factory.mktemp("installed")
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(folder / "built"), versions=["standard"])
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(folder / "packages")
    return folder / "packages"


def _stb(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "spotthebot.cli", *arguments],
        cwd=installed,
        env=os.environ | {"PYTHONPATH": str(installed), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


class TestWheel:
    def test_holds_the_product_alone(self, installed: Path):
        tops = {each.name.partition("-")[0] for each in installed.iterdir()}
        assert tops == {"spotthebot"}
        names = {path.name for path in (ROOT / "tools").iterdir() if path.is_file()} - {"__init__.py"}
        held = {path.name for path in (installed / "spotthebot" / "cli").rglob("*")}
        assert {"tests.py", "pins.py"} <= names
        assert names & held == set()

    def test_holds_the_templates_of_every_noun_of_the_pages(self, installed: Path):
        ours = ROOT / "services"
        templates = {path.relative_to(ours) for path in ours.glob("spotthebot/web/*/templates/**/*") if path.is_file()}
        assert len(templates) > 50
        assert [path for path in templates if not (installed / path).is_file()] == []

    @pytest.mark.parametrize("command", ["docs", "pins", "test"])
    def test_says_in_one_sentence_which_commands_need_a_clone(self, installed: Path, command: str):
        said = _stb(installed, command, "--help")
        sentence = "This command needs the sources: run it in a clone of the repository, not from an installed package."
        assert (said.returncode, said.stdout, said.stderr) == (1, "", f"Error: {sentence}\n")

    def test_lists_the_other_commands(self, installed: Path):
        listed = {line.split()[1] for line in _stb(installed, "--help").stdout.splitlines() if len(line.split()) > 2}
        assert listed >= {"demo", "loadtest", "purge"}
        assert listed & {"docs", "pins", "test"} == set()
