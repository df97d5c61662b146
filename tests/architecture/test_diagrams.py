"""The diagrams of the docs show what the code has: entities, states, and the sequence of a turn."""

import json
import re
from enum import StrEnum
from importlib import import_module
from pathlib import Path

import pytest
from sqlalchemy import Column, ForeignKey, Integer, MetaData, Table

from spotthebot.contracts.services import API_NAMES
from tools.diagrams import drawn, entity_diagram, event_diagram, state_diagram

ROOT = Path(__file__).parents[2]
DEVELOP = (ROOT / "docs" / "develop.md").read_text()
_TURN_LOOP = ROOT / "services/spotthebot/conversations/turn_loop/use_cases"
RUNNER = "".join((_TURN_LOOP / f"{name}.py").read_text() for name in ("runner", "turn_commits"))
REQUESTS = (ROOT / "services/spotthebot/conversations/turn_loop/use_cases/bot_requests.py").read_text()


class Light(StrEnum):
    GREEN = "green"
    RED = "red"
    BROKEN = "broken"


class Press(StrEnum):
    STOP = "stop"
    KICK = "kick"


class TestDiagrams:
    def test_are_those_of_the_code(self):
        assert drawn(DEVELOP) == DEVELOP, "draw them again: ./stb docs"

    def test_show_the_entities_of_every_service(self):
        assert set(re.findall(r"<!-- diagram: entities (\w+) -->", DEVELOP)) == set(API_NAMES)

    def test_show_every_lifecycle(self):
        modules = {
            ".".join(path.relative_to(source).with_suffix("").parts)
            for source in (ROOT / "services", ROOT / "shared")
            for path in source.rglob("*.py")
            if re.search(r"^TRANSITIONS\b", path.read_text(), re.MULTILINE)
        }
        assert set(re.findall(r"<!-- diagram: states ([\w.]+) -->", DEVELOP)) == modules

    def test_would_change_with_a_column(self):
        metadata = MetaData()
        parent = Table("parents", metadata, Column("id", Integer, primary_key=True))
        before = entity_diagram(metadata)
        parent.append_column(Column("born", Integer))
        Table("children", metadata, Column("parent", ForeignKey(parent.c.id), primary_key=True))
        after = entity_diagram(metadata).splitlines()
        assert before.splitlines() == ["erDiagram", "    parents {", "        integer id PK", "    }"]
        assert [line.strip() for line in after[1:4]] == [
            'parents ||--o{ children : ""',
            "children {",
            "integer parent PK, FK",
        ]
        assert "        integer born" in after

    def test_would_change_with_a_transition(self):
        lifecycle = {Light.GREEN: [Light.RED], Light.RED: [Light.GREEN, Light.BROKEN], Light.BROKEN: []}
        assert state_diagram(lifecycle).splitlines() == [
            "stateDiagram-v2",
            "    [*] --> green",
            "    green --> red",
            "    red --> green",
            "    red --> broken",
            "    broken --> [*]",
        ]

    def test_name_the_events_that_change_a_state(self):
        transitions: dict[StrEnum, dict[Light, Light]] = {
            Press.STOP: {Light.GREEN: Light.RED, Light.RED: Light.RED},
            Press.KICK: {Light.GREEN: Light.RED, Light.RED: Light.BROKEN},
        }
        assert event_diagram(transitions, Light.RED).splitlines() == [
            "stateDiagram-v2",
            "    [*] --> red",
            "    green --> red: stop, kick",
            "    red --> broken: kick",
            "    broken --> [*]",
        ]

    def test_unknown_kinds_are_an_error(self):
        with pytest.raises(ValueError, match="no diagram shows colours"):
            drawn("<!-- diagram: colours bots -->\n<!-- end of diagram -->")


class TestWorkedChanges:
    def test_name_files_that_are_there(self):
        changes = DEVELOP.partition("## Five changes")[2].partition("## The turn loop")[0]
        named = {path for path in re.findall(r"`([a-z_]+/[\w/.]+)`", changes) if "..." not in path}
        assert len(named) > 20
        roots = (ROOT, ROOT / "services/spotthebot", ROOT / "shared/spotthebot")
        assert [path for path in sorted(named) if not any((root / path).exists() for root in roots)] == []


class TestSequenceOfATurn:
    def test_names_calls_that_the_runner_makes_in_this_order(self):
        calls = re.findall(r"\b(\w+\.(?:store|domain)(?:\.\w+)+)", _sequence())
        assert len(calls) > 6
        for call in calls:
            module, _, function = call.rpartition(".")
            assert callable(getattr(import_module(f"spotthebot.conversations.{module}"), function)), call
        stores = [call.split(".")[-2:] for call in calls if ".store." in call]
        assert [function for module, function in stores if f"{module}_store.{function}(" not in RUNNER] == []

    def test_names_the_endpoint_that_is_asked(self):
        (path,) = re.findall(r"POST (\S+)", _sequence())
        assert "post" in json.loads((ROOT / "openapi" / "bots.json").read_text())["paths"][path]
        assert "bots.reply(" in REQUESTS


def _sequence() -> str:
    found = re.search(r"```mermaid\nsequenceDiagram\n.*?```", DEVELOP, re.DOTALL)
    assert found is not None
    return found[0]
