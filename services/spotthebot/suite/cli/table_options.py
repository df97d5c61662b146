"""Options of commands that read tables of other tools, and how a mapping is shown and confirmed."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table as Printed
from rich.text import Text

from spotthebot.suite.progress import screen
from spotthebot.suite.tables.columns import FORMS, ColumnMapping, Kind, find_columns, parse_pairs
from spotthebot.suite.tables.errors import MappingNotConfirmed
from spotthebot.suite.tables.rows import Table, open_table, shown
from spotthebot.suite.tables.values import ValueWords

MapOption = Annotated[
    list[str] | None,
    typer.Option(
        "--map", help="Which column holds what: conversation=dialog_id,annotator=worker. Columns left out are guessed."
    ),
]
ValuesOption = Annotated[
    list[str] | None,
    typer.Option("--values", help="What values mean: human=1,bot=0,unsure=2; of preferences A=left,B=right,tie=same."),
]
PeopleOption = Annotated[
    list[str] | None, typer.Option("--people", help="Name of a side or speaker that is people: --people customer.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Take the columns as they are guessed; do not ask.")]
DomainOption = Annotated[str, typer.Option(help="What the conversations are about.")]
_EXAMPLES = 4


@dataclass(frozen=True)
class MappedTable:
    """A table with what its columns and values mean."""

    table: Table
    mapping: ColumnMapping
    words: ValueWords


def read_words(values: Sequence[str] | None, people: Sequence[str] | None) -> ValueWords:
    """Return what values mean; raises MappingFault."""
    return ValueWords.of(parse_pairs("--values", values or ()), people or ())


def map_table(
    path: Path,
    kinds: Sequence[Kind],
    given: Sequence[str] | None,
    words: ValueWords,
    *,
    known: frozenset[str] = frozenset(),
) -> MappedTable:
    """Open a table and find its columns; raises the errors of `tables`."""
    table = open_table(path)
    return MappedTable(table, find_columns(table, kinds, parse_pairs("--map", given or ()), words, known=known), words)


def show_mapping(mapped: MappedTable, meanings: Iterable[tuple[str, str]] = ()) -> None:
    """Print which column holds what, with examples, and what values mean."""
    table, mapping = mapped.table, mapped.mapping
    title = f"{shown(table.path.name)}: {table.form}, {mapping.kind}"
    printed = Printed("Field", "Column", "Examples", title=Text(title), title_justify="left")
    for field in FORMS[mapping.kind].fields:
        column = mapping.columns.get(field)
        if column is None:
            continue
        examples = ", ".join(map(shown, table.values_of(column)[:_EXAMPLES]))
        guessed = " (guessed)" if field in mapping.guessed else ""
        printed.add_row(field, Text(f"{shown(column)}{guessed}"), Text(examples))
    screen.print(printed)
    for value, meaning in meanings:
        screen.print(Text(f"  {shown(value)}: {meaning}"))


def confirm(mapped: MappedTable, *, yes: bool) -> None:
    """Go on where the columns were given, or are confirmed; raises MappingNotConfirmed where nobody can be asked."""
    if yes or mapped.mapping.confirmed:
        return
    if not sys.stdin.isatty():
        raise MappingNotConfirmed(mapping=mapped.mapping.option)
    typer.confirm("Import it so?", abort=True, err=True)
