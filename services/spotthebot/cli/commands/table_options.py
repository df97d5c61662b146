"""Options of commands that read tables of other tools. Shows and confirms the mapping of a table's columns."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table as Printed
from rich.text import Text

from spotthebot.cli.commands.questions import is_interactive
from spotthebot.contracts.annotation.annotations import FEATURES, Label, Preference
from spotthebot.importers.tables.errors import MappingNotConfirmed, ValuesUnknown
from spotthebot.local.progress import screen
from spotthebot.readers.files.cells import shown
from spotthebot.readers.files.rows import Table, open_table
from spotthebot.readers.labels import is_lead
from spotthebot.readers.meanings.columns import ColumnMapping, Kind, find_columns, parse_map, parse_values
from spotthebot.readers.meanings.values import ValueWords
from spotthebot.readers.tables import mapped_columns

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
AllowRejectedOption = Annotated[
    bool, typer.Option("--allow-rejected", help="Use the other rows where half of them or more are rejected.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Take the columns as they are guessed; do not ask.")]
DomainOption = Annotated[str, typer.Option(help="What the conversations are about.")]
_EXAMPLES = 4
_MAX_MEANINGS = 12
_LABELS = ("label_a", "label_b", "label")


@dataclass(frozen=True)
class MappedTable:
    """A table, with the meaning of its columns and values."""

    table: Table
    mapping: ColumnMapping
    words: ValueWords


def read_words(values: Sequence[str] | None, people: Sequence[str] | None) -> ValueWords:
    """Return the meanings of values from the options; raises MappingFault."""
    return ValueWords.of(parse_values(values or ()), people or ())


def map_table(
    path: Path,
    kinds: Sequence[Kind],
    given: Sequence[str] | None,
    words: ValueWords,
    *,
    known: frozenset[str] = frozenset(),
) -> MappedTable:
    """Open a table, and find the meaning of its columns; raises the errors of the package `tables`."""
    table = open_table(path)
    return MappedTable(table, find_columns(table, kinds, parse_map(given or ()), words, known=known), words)


def sha256_of(path: Path, values: Sequence[str] | None, people: Sequence[str] | None) -> str:
    """Return a hash of a table and of the meanings of its values. The table is a file or a folder."""
    digest = hashlib.sha256(repr((values, people)).encode())
    for file in sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]:
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()


def show_mapping(mapped: MappedTable) -> None:
    """Print the field of each column with examples, and the meanings of values.

    Raises ValuesUnknown if no value of a column has a known meaning.
    """
    table, mapping = mapped.table, mapped.mapping
    title = f"{shown(table.path.name)}: {table.form}, {mapping.kind}"
    printed = Printed("Field", "Column", "Examples", title=Text(title), title_justify="left")
    for each in mapped_columns(table, mapping):
        guessed = " (guessed)" if each.is_guessed else ""
        printed.add_row(Text(each.field), Text(f"{each.column}{guessed}"), Text(each.examples))
    screen.print(printed)
    words = mapped.words
    for field, column in mapping.columns.items():
        if field in _LABELS:
            _show_meanings(table, column, "label", (Label.HUMAN, Label.BOT, Label.UNSURE), words.label)
        elif field in FEATURES:
            _show_meanings(table, column, "preference", Preference, _preferences(mapped, column))


def _preferences(mapped: MappedTable, column: str) -> Callable[[str], str | None]:
    """Return a function that returns the meaning of a preference. The name of a side also has a meaning: this side."""
    sides = [mapped.mapping.columns.get(side, "") for side in ("side_a", "side_b")]
    names = {name for side in sides for name in mapped.table.values_of(side)}
    lead = is_lead(column)

    def meaning_of(value: str) -> str | None:
        return mapped.words.preference(value, lead=lead) or ("the side of this name" if value in names else None)

    return meaning_of


def _show_meanings(
    table: Table, column: str, kind: str, names: Iterable[str], meaning_of: Callable[[str], str | None]
) -> None:
    values = table.values_of(column)
    meanings = {value: meaning_of(value) for value in values}
    if not any(meanings.values()):
        found = ", ".join(map(shown, values[:_EXAMPLES])) or "it is empty"
        example = ",".join(f"{name}={value}" for name, value in zip(names, values or ("1",), strict=False))
        raise ValuesUnknown(column=shown(column), kind=kind, found=found, example=shown(example))
    said = [f"{shown(value)} is {meaning or 'unknown, and rejected'}" for value, meaning in meanings.items()]
    screen.print(Text(f"{shown(column)}: {'; '.join(said[:_MAX_MEANINGS])}"))


def confirm(mapped: MappedTable, *, yes: bool) -> None:
    """Ask for a confirmation of guessed columns; raises MappingNotConfirmed if there is no terminal.

    Nothing is asked with `yes`, or if the user gave every required column or they are called as their fields.
    """
    if yes or mapped.mapping.confirmed:
        return
    if not is_interactive():
        raise MappingNotConfirmed(mapping=mapped.mapping.option)
    typer.confirm("Is that so?", abort=True, err=True)
