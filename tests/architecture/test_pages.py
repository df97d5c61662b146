"""Pages that lead a newcomer through the code name files that are there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("docs/architecture.md", "docs/develop.md", "docs/events.md", "services/README.md")
_PATH = re.compile(r"`(?P<path>(?:\w+/)*\w+\.py|(?:\w+/){2,})(?:: (?P<name>\w+))?`")


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


def _exists(path: str, name: str | None) -> bool:
    """Return whether a path is there, below the root, a service or a shared package, and defines the name."""
    defined = re.compile(rf"(?m)^(?:async )?(?:def|class) {name}\b")
    return any(name is None or defined.search(found.read_text()) for found in _below(path))


def _below(path: str) -> Iterator[Path]:
    for folder in ("services/spotthebot/**/", "shared/spotthebot/**/", ""):
        yield from ROOT.glob(f"{folder}{path}")
