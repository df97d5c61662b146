"""The rules of the house that no reader should have to check by hand."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [ROOT / "services", ROOT / "shared"]


def test_imports_keep_to_the_contracts():
    told = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stdout[-4000:]


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_the_namespace_holds_no_init_file(source: Path):
    """A stray `spotthebot/__init__.py` in one source root would hide the other."""
    assert (source / "spotthebot").is_dir()
    assert not (source / "spotthebot" / "__init__.py").exists()


def test_both_source_roots_import():
    program = "import spotthebot.kit, spotthebot.bots, spotthebot; print(len(list(spotthebot.__path__)))"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(told.stdout) >= 2


def test_no_file_is_longer_than_400_lines():
    files = [path for folder in (*SOURCES, ROOT / "tests") for path in folder.rglob("*.py")]
    assert len(files) > 100
    long = {str(path.relative_to(ROOT)): lines for path in files if (lines := _lines(path)) > 400}
    assert long == {}


def test_kit_knows_no_noun_of_our_domain():
    """Kit could serve any product: it must not know what a bot or a campaign is."""
    nouns = ("bot_", "_bot", "campaign", "conversation", "annotation_", "annotator", "dialogue", "corpus", "ranking")
    kit = ROOT / "shared" / "spotthebot" / "kit"
    found = [
        f"{path.name}: {line.strip()}"
        for path in kit.rglob("*.py")
        for line in path.read_text().lower().replace("spotthebot", "").splitlines()
        if any(noun in line for noun in nouns)
    ]
    assert found == []


def _lines(path: Path) -> int:
    return len(path.read_text().splitlines())
