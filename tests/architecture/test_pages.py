"""Pages that lead a newcomer through the code name files that are there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("docs/architecture.md", "docs/develop.md", "docs/events.md", "services/README.md")
_PATH = re.compile(r"`(?P<path>(?:\w+/)*\w+\.py|(?:\w+/){2,})(?:: (?P<name>\w+))?`")


_TITLE = re.compile(r'"([A-Z][^"]+)"\s+in\s+the\s+documentation')


class TestPages:
    @pytest.mark.parametrize("page", PAGES)
    def test_name_paths_that_exist(self, page: str):
        named = list(_PATH.finditer((ROOT / page).read_text()))
        assert len(named) >= 2
        assert [match[0] for match in named if not _exists(match["path"], match["name"])] == []

    @pytest.mark.parametrize("code", ["`store/nothing.py`", "`kit/nothing/`", "`store/turns.py: nothing_of_this_name`"])
    def test_with_a_path_that_is_gone_would_be_caught(self, code: str):
        match = _PATH.fullmatch(code)
        assert match is not None
        assert not _exists(match["path"], match["name"])


class TestTexts:
    def test_name_pages_by_a_title_that_the_contents_have(self):
        contents = re.findall(r"(?m)^- \[([^\]]+)\]", (ROOT / "docs" / "index.md").read_text())
        texts = {file: file.read_text() for file in (ROOT / "services" / "spotthebot").rglob("*.py")}
        named = [title for text in texts.values() for title in _TITLE.findall(text)]
        assert len(named) > 10
        assert set(named) <= set(contents)
        by_file = [file for file, text in texts.items() if re.search(r"docs/[\w-]+\.md", text)]
        assert [str(file) for file in by_file if "cli" in file.parts] == []


def _exists(path: str, name: str | None) -> bool:
    """Return whether a path is there, below the root, a service or a shared package, and defines the name."""
    defined = re.compile(rf"(?m)^(?:async )?(?:def|class) {name}\b")
    return any(name is None or defined.search(found.read_text()) for found in _below(path))


def _below(path: str) -> Iterator[Path]:
    for folder in ("services/spotthebot/**/", "shared/spotthebot/**/", ""):
        yield from ROOT.glob(f"{folder}{path}")
