"""Templates stand on templates as modules do on modules: on those of their own noun, and of nouns below it."""

import re
import tomllib
from pathlib import Path

import pytest

from spotthebot.web.catalogues import FOLDER

WEB = FOLDER.parent
PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
(ROWS,) = [
    contract["layers"]
    for contract in PROJECT["tool"]["importlinter"]["contracts"]
    if contract.get("containers") == ["spotthebot.web"]
]
RANKS = {noun: rank for rank, row in enumerate(ROWS) for noun in row.split(" | ")}


class TestTemplates:
    def test_stand_on_nouns_below(self):
        templates = [*WEB.glob("*/templates/**/*.jinja")]
        assert len(templates) > 50
        upward = {str(path): found for path in templates if (found := _upward(_noun(path), path.read_text()))}
        assert upward == {}

    @pytest.mark.parametrize(
        "planted", ['{% extends "entries/state.html.jinja" %}', '{%- from "results/macros.jinja" import figure %}']
    )
    def test_using_one_of_a_noun_above_would_be_caught(self, planted: str):
        assert _upward("packages", planted)


def _noun(path: Path) -> str:
    return path.relative_to(WEB).parts[0]


def _upward(noun: str, template: str) -> list[str]:
    """Return the nouns beside or above this one whose templates a template uses."""
    used = re.findall(r"""\{%-?\s*(?:extends|include|import|from)\s+["'](\w+)/""", template)
    return [each for each in used if each != noun and RANKS[each] <= RANKS[noun]]
