"""The diagrams of the docs, drawn from the code in Mermaid: entities from the tables, states from the domains.

A document names what it shows in a comment, `<!-- diagram: entities conversations -->` or `<!-- diagram: states
spotthebot.bots.bots.domain -->`, and ends it with `<!-- end of diagram -->`. `./stb docs` draws what lies
between the two.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from importlib import import_module
from typing import TypeVar

from sqlalchemy import Column, MetaData, Table
from sqlalchemy.engine import URL

State = TypeVar("State", bound=StrEnum)

_POSTGRESQL = URL.create("postgresql+psycopg").get_dialect()()
_END = "<!-- end of diagram -->"
_DIAGRAM = re.compile(rf"(<!-- diagram: (\w+) ([\w.]+) -->\n).*?(?={re.escape(_END)})", re.DOTALL)


def drawn(text: str) -> str:
    """Return a document with each of its diagrams as the code has it; raises ValueError for an unknown kind."""
    return _DIAGRAM.sub(lambda found: f"{found[1]}\n```mermaid\n{_diagram(found[2], found[3])}\n```\n\n", text)


def entity_diagram(metadata: MetaData) -> str:
    """Draw the tables of a schema, with their columns and foreign keys."""
    tables = sorted(metadata.tables.values(), key=lambda table: table.name)
    return "\n".join(["erDiagram", *(line for table in tables for line in (*_relations(table), *_entity(table)))])


def state_diagram(transitions: Mapping[State, Collection[State]]) -> str:
    """Draw a lifecycle that begins in the first state; a state that nothing leaves is an end."""
    edges = [(state, each, "") for state, following in transitions.items() for each in type(state) if each in following]
    return _states(next(iter(transitions)), edges)


def event_diagram(transitions: Mapping[StrEnum, Mapping[State, State]], initial: State) -> str:
    """Draw a lifecycle that events drive; an event that leaves a state as it is has no arrow."""
    labels: dict[tuple[State, State], list[str]] = {}
    for event, following in transitions.items():
        for before, after in following.items():
            if before != after:
                labels.setdefault((before, after), []).append(event.value.replace("_", " "))
    return _states(initial, [(before, after, ", ".join(events)) for (before, after), events in labels.items()])


def _states(initial: State, edges: Sequence[tuple[State, State, str]]) -> str:
    left = {before for before, _, _ in edges}
    lines = ["stateDiagram-v2", f"    [*] --> {initial.value}"]
    lines += [f"    {before.value} --> {after.value}{label and f': {label}'}" for before, after, label in edges]
    lines += [f"    {state.value} --> [*]" for state in type(initial) if state not in left]
    return "\n".join(lines)


def _diagram(kind: str, subject: str) -> str:
    match kind:
        case "entities":
            return entity_diagram(import_module(f"spotthebot.{subject}.tables").LINEAGE.metadata)
        case "states":
            module = import_module(subject)
            if hasattr(module, "INITIAL"):
                return event_diagram(module.TRANSITIONS, module.INITIAL)
            return state_diagram(module.TRANSITIONS)
    message = f"no diagram shows {kind}: name entities or states"
    raise ValueError(message)


def _entity(table: Table) -> list[str]:
    return [f"    {table.name} {{", *(f"        {_attribute(column)}" for column in table.columns), "    }"]


def _attribute(column: Column[object]) -> str:
    kind = column.type.compile(_POSTGRESQL).lower().replace(" ", "_")
    keys = [name for name, holds in (("PK", column.primary_key), ("FK", bool(column.foreign_keys))) if holds]
    return " ".join([kind, column.name, *([", ".join(keys)] if keys else [])])


def _relations(table: Table) -> list[str]:
    parents = sorted({key.elements[0].column.table.name for key in table.foreign_key_constraints})
    return [f'    {parent} ||--o{{ {table.name} : ""' for parent in parents]
