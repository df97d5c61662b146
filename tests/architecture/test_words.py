"""The words of the code are those of the field: what a newcomer searches for is there, and private images are not."""

import io
import keyword
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = [ROOT / folder for folder in ("services", "shared", "tests", "benchmarks", "tools")]
PAGES = [ROOT / folder for folder in ("benchmarks", "deploy", "docs", "services")]
PROSE = [*ROOT.glob("*.md"), *(page for folder in PAGES for page in folder.rglob("*.md"))]

BANNED = {
    "wave": "batch",
    "waves": "batches",
    "holding": "the turn loop",
    "gathering": "request batching",
    "stepping": "transitions",
    "overseeing": "maintenance",
    "oversee": "maintenance",
    "oversight": "maintenance",
    "parked": "waiting",
    "telling": "events",
    "notifying": "subscriptions",
    "courier": "dispatcher",
    "workshop": "context",
    "fate": "outcome",
    "fates": "outcomes",
    "edition": "version",
    "begun": "started",
    "furnishing": "seeding",
    "foundation": "bootstrap",
    "keeper": "process monitor",
    "house": "the running suite",
    "wanted": "request",
    "told": "payload, message, result",
    "judging": "annotating",
    "judgement": "annotation",
    "judgements": "annotations",
}
"""Words that no name may hold, with what the field says instead. `judge` names only programs that label,
and `judged` what they saw."""
GIVEN_NAMES = {"pairs_told_apart"}
"""Names of fields that readers of our JSON expect."""
BANNED_NAMES = {"Line", "Lines", "Ways", "Pace", "Sight", "Cast", "Post", "Ground", "Wanted", "Taken"}
BANNED_PREFIXES = ("most_", "_most_")
BANNED_IN_PROSE = (
    *("the house", "whoever", "anew", "wave", "courier", "workshop", "overseeing", "oversight", "parked"),
    *("judging", "judgement", "let go", "lets go"),
)

FIELD_NOUNS_IN_ING = {
    *("batching", "request_batching", "caching", "ceiling", "censoring", "interval_censoring", "embedding"),
    *("hosting", "logging"),
    *("packaging", "planning", "ranking", "rendering", "sampling", "scoring", "seeding", "serving", "string"),
    *("testing", "tracing", "training"),
}
"""Modules whose names end so and are what the field calls the thing."""
CONTINUATIONS = ("that", "of", "nor", "and", "but", "or", "which", "who")
"""A test whose name begins so is the rest of a sentence that began elsewhere."""


class TestNames:
    def test_hold_no_private_word(self):
        found = {
            f"{path.relative_to(ROOT)}: {name}": _instead(name)
            for path in _files()
            for name in _names(path.read_text())
            if _instead(name)
        }
        assert found == {}

    @pytest.mark.parametrize("name", ["write_wave", "Courier", "most_attempts", "_MOST_ROWS", "Ways", "run_house"])
    def test_would_be_caught(self, name: str):
        assert _instead(name)

    @pytest.mark.parametrize("name", ["most_common", "newline", "households", "caveat", "placed"])
    def test_are_split_into_whole_words(self, name: str):
        assert _instead(name) is None


class TestModules:
    def test_are_named_by_nouns(self):
        """One that ends in -ing is there only where the field calls the thing so."""
        gerunds = [
            str(path.relative_to(ROOT))
            for path in _files()
            if path.parts[len(ROOT.parts)] in {"services", "shared", "tools"}
            for name in (path.stem if path.name != "__init__.py" else path.parent.name,)
            if name.endswith("ing") and name not in FIELD_NOUNS_IN_ING
        ]
        assert gerunds == []

    def test_have_one_form_per_layer(self):
        """A layer is a module or a package of its name, never a second module beside it."""
        layers = ("store", "api", "domain", "use_cases", "clients", "tables")
        beside = [
            str(path.relative_to(ROOT))
            for path in _files()
            if path.parts[len(ROOT.parts)] == "services"
            and path.stem.startswith(tuple(f"{layer}_" for layer in layers))
        ]
        assert beside == []


class TestProse:
    def test_names_things_instead_of_private_images(self):
        texts = {path: path.read_text() for path in (*PROSE, *_files()) if path != Path(__file__)}
        found = [
            f"{path.relative_to(ROOT)}:{number}: {match[0]}"
            for path, text in texts.items()
            for number, line in enumerate(text.splitlines(), 1)
            if (match := _PROSE.search(line))
        ]
        assert found == []


class TestTests:
    def test_have_names_that_can_be_read_alone(self):
        found = [
            f"{path.relative_to(ROOT)}: {name}"
            for path in (ROOT / "tests").rglob("test_*.py")
            for name in re.findall(r"def (test_\w+)", path.read_text())
            if name.split("_")[1] in CONTINUATIONS
        ]
        assert found == []


_PROSE = re.compile(rf"(?i)\b({'|'.join(BANNED_IN_PROSE)})s?\b")


_WORDS = re.compile(r"[^\W\d]\w*")


def _files() -> list[Path]:
    found = [path for folder in CODE for path in sorted(folder.rglob("*.py"))]
    return [path for path in found if path != Path(__file__) and "_downloads" not in path.parts]  # of a built site


def _names(source: str) -> Iterator[str]:
    """Return the names of the code; of a file without a private word, comments and strings included, none."""
    if not any(map(_instead, {*_WORDS.findall(source)})):  # to find the names takes far longer
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
            yield token.string


@cache
def _instead(name: str) -> str | None:
    """Return what a name should say; None where it says nothing private."""
    if name in GIVEN_NAMES:
        return None
    if name in BANNED_NAMES:
        return "the field's word"
    if name.lower().startswith(BANNED_PREFIXES) and name != "most_common":
        return "max_"
    words = (word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name))
    return next((BANNED[word] for word in words if word in BANNED), None)
