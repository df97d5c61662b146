"""The rules of the project that no reader should have to check by hand."""

import ast
import io
import keyword
import os
import re
import shutil
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

from tests.architecture.import_faults import FAULTS

ROOT = Path(__file__).parents[2]
SOURCES = [ROOT / "services", ROOT / "shared"]
VAGUE = {"service.py", "utils.py", "helpers.py", "common.py", "manager.py", "base.py"}
NOUNS = {
    *("annotation", "annotator", "annotators", "bot", "bots", "campaign", "campaigns", "collection", "collections"),
    *("conversation", "conversations", "corpora", "corpus", "dialogue", "dialogues", "label"),
    *("opening", "packages", "participant", "ranking", "reply", "replies", "segment", "study", "turn", "turns"),
}
OTHERS = {"spotthebot", "collections"}  # the namespace, and the standard library's
EXPORTS = {
    "shared/spotthebot/clients/__init__.py": "names the clients for programs of users",
    "services/spotthebot/analytics/stats/__init__.py": "names the statistics for notebooks of users",
    "services/spotthebot/analytics/figures/__init__.py": "names the plots for notebooks of users",
}
"""The only packages that name again what their modules define, and for whom."""
LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


class TestImports:
    def test_keep_to_the_contracts(self):
        linted = _lint(ROOT)
        assert linted.returncode == 0, linted.stdout[-4000:]

    def test_are_named_where_they_break_a_contract(self, tmp_path: Path):
        """Plant one fault of each kind in a copy of the sources, and see the chain printed."""
        for source in SOURCES:
            shutil.copytree(source, tmp_path / source.name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", tmp_path)
        for file, line, _ in FAULTS.values():
            with (tmp_path / file).open("a") as planted:
                planted.write(f"\n{line}\n")
        paths = os.pathsep.join(str(tmp_path / source.name) for source in SOURCES)
        linted = _lint(tmp_path, PYTHONPATH=paths, COLUMNS="200")  # so that a chain is one line
        assert linted.returncode == 1, linted.stdout + linted.stderr
        unnoticed = [fault for fault, (_, _, chain) in FAULTS.items() if chain not in linted.stdout]
        assert unnoticed == [], linted.stdout


class TestNamespace:
    @pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
    def test_holds_no_init_file(self, source: Path):
        """A stray `spotthebot/__init__.py` in one source root would hide the other."""
        assert (source / "spotthebot").is_dir()
        assert not (source / "spotthebot" / "__init__.py").exists()

    def test_spans_both_source_roots(self):
        program = "import spotthebot.kit, spotthebot.bots, spotthebot; print(*spotthebot.__path__, sep='\\n')"
        printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert len(set(printed.stdout.split("\n")) - {""}) >= 2


class TestPackages:
    def test_import_nothing_of_ours(self):
        """A name has one home: callers import it from the module that defines it."""
        files = [path for folder in (*SOURCES, ROOT / "tools") for path in folder.rglob("__init__.py")]
        found = {str(path.relative_to(ROOT)) for path in files if _imports_ours(path.read_text())}
        assert found == EXPORTS.keys(), (
            "import from the module that defines a name, or say here for whom it is exported"
        )

    @pytest.mark.parametrize(
        "planted",
        [
            "from spotthebot.kit.jobs.queue import Jobs",
            "import spotthebot.kit.jobs.queue",
            "from .queue import Jobs",
            "def late():\n    from . import queue",
        ],
    )
    def test_would_be_caught_naming_again_what_a_module_defines(self, planted: str):
        assert _imports_ours(planted)

    def test_may_define_names_of_their_own(self):
        assert not _imports_ours("from pathlib import Path\n\nROOT = Path(__file__).parents[1]")


class TestFiles:
    def test_are_no_longer_than_400_lines(self):
        files = _files()
        assert len(files) > 100
        lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files}
        assert {name: length for name, length in lengths.items() if length > 400} == {}

    def test_have_names_that_say_what_is_inside(self):
        assert [str(path.relative_to(ROOT)) for path in _files() if path.name in VAGUE] == []

    def test_say_in_their_first_line_what_they_are_for(self):
        silent = [
            str(path.relative_to(ROOT))
            for source in (*SOURCES, ROOT / "tools")
            for path in source.rglob("*.py")
            if not path.read_text().startswith('"""')
        ]
        assert silent == []


class TestApplicationState:
    def test_holds_four_objects_one_of_them_the_resources_of_the_service(self):
        sources = [path.read_text() for folder in SOURCES for path in folder.rglob("*.py")]
        names = {name for source in sources for name in re.findall(r"\bapp\.state\.(\w+)", source)}
        assert names == {"core", "database", "bearer", "resources"}


class TestKit:
    def test_knows_no_noun_of_our_domain(self):
        """Kit could serve any product: it must not know what a bot or a campaign is."""
        kit = ROOT / "shared" / "spotthebot" / "kit"
        found = {str(path.relative_to(kit)): nouns for path in kit.rglob("*.py") if (nouns := _nouns(path.read_text()))}
        assert found == {}

    @pytest.mark.parametrize(
        "planted", ["def close_campaign(): ...", "class BotRow: ...", "x.turns = 1", "def f(*, corpus_id): ..."]
    )
    def test_would_be_caught_learning_one(self, planted: str):
        assert _nouns(planted)

    def test_may_speak_of_things_in_prose(self):
        assert _nouns('"""Not a word of a campaign."""  # nor of a bot\n') == set()


def _lint(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LINT],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _imports_ours(source: str) -> bool:
    return any(
        (isinstance(node, ast.ImportFrom) and (node.level > 0 or str(node.module).split(".")[0] == "spotthebot"))
        or (isinstance(node, ast.Import) and any(each.name.split(".")[0] == "spotthebot" for each in node.names))
        for node in ast.walk(ast.parse(source))
    )


def _files() -> list[Path]:
    return [path for folder in (*SOURCES, ROOT / "tools", ROOT / "tests") for path in folder.rglob("*.py")]


def _nouns(source: str) -> set[str]:
    """Return the nouns of our domain among the words of a source's identifiers."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    names = {token.string for token in tokens if token.type == tokenize.NAME and not keyword.iskeyword(token.string)}
    words = {word.lower() for name in names - OTHERS for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}
    return words & NOUNS
