"""Pages of the docs fit what they explain: a file, templates for CI, fields of an answer."""

import pytest
import yaml

from spotthebot.cli.gates.declaration import read_gate
from spotthebot.contracts.analytics.standings import StandingBot, StandingOut, StandingPair
from tests.docs.following import ROOT, blocks, commands

EXAMPLES = ROOT / "docs" / "examples"
PAGE = [command for block in blocks((ROOT / "docs" / "gate.md").read_text()) for command in commands(block)]


def _word_after(words: str) -> str:
    """Return the word that follows in each command that begins with these words."""
    (found,) = {each.removeprefix(words).split()[0] for each in PAGE if each.startswith(words)}
    return found


def test_the_file_of_a_gate_names_what_the_commands_make():
    gate = read_gate(EXAMPLES / "gate.yaml").request
    assert gate.scorer.model == _word_after("./stb fed train-scorer sample --out ")
    assert getattr(gate.partners, "set", None) == _word_after("./stb partners create ")
    assert gate.new.bot == gate.old.bot == _word_after("./stb bots register ")
    assert _word_after("./stb gate ") == "gate.yaml"


@pytest.mark.parametrize("name", ["gate.github.yml", "gate.gitlab-ci.yml"])
def test_a_gate_in_ci_runs_the_same_commands(name: str):
    text = (EXAMPLES / name).read_text()
    assert yaml.safe_load(text)
    gates = [line.partition("stb gate ")[2] for line in text.splitlines() if "stb gate " in line]
    assert [f"./stb gate {each}" for each in gates] == [each for each in PAGE if each.startswith("./stb gate ")]
    assert f"stb bots register {read_gate(EXAMPLES / 'gate.yaml').request.new.bot} " in text
    assert "role admin" in " ".join(text.split()).replace("# ", "")


def test_the_page_of_a_standing_explains_each_field():
    page = (ROOT / "docs" / "standings.md").read_text()
    fields = {name for each in (StandingOut, StandingBot, StandingPair) for name in each.model_fields}
    assert sorted(name for name in fields if f"`{name}`" not in page) == []
