"""Which column holds what: guessed from the names of columns and from their values, or given by `--map`."""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from spotthebot.contracts.annotation import Label, Preference
from spotthebot.suite.tables.errors import ColumnsUnknown, MappingFault
from spotthebot.suite.tables.rows import Table, number_of, shown
from spotthebot.suite.tables.synonyms import FIELDS, plain, synonyms
from spotthebot.suite.tables.values import ValueWords

MAX_ID: Final = 150
"""Letters of a conversation's or an annotator's id, so that ids made of it are short enough."""
FEATURES: Final = ("fluency", "sensibleness", "specificity")
VALUE_OF: Final = "value."
"""How a field begins that is a dimension's column of ratings: `value.fluency`."""
_ALIASES: Final = {"item": "conversation", "model_a": "side_a", "model_b": "side_b"}
_MAX_COLUMNS_SHOWN = 30


class Kind(StrEnum):
    """What the rows of a table are."""

    LABELS = "labels, both sides in a row"
    SIDES = "labels, a row for each side"
    VOTES = "votes between two bots"
    RATINGS = "ratings"
    TURNS = "turns of conversations"


@dataclass(frozen=True)
class Form:
    """The fields of a kind: without a required one nothing can be read."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        return (*self.required, *self.optional)


FORMS: Final[Mapping[Kind, Form]] = {
    Kind.LABELS: Form(
        ("conversation", "side_a", "side_b", "label_a", "label_b", "annotator"), ("exchanges", *FEATURES)
    ),
    Kind.SIDES: Form(("conversation", "bot", "label", "annotator"), ("side", "exchanges")),
    Kind.VOTES: Form(("conversation", "side_a", "side_b", "winner", "annotator"), ("turn",)),
    Kind.RATINGS: Form(("conversation", "bot", "annotator", "value"), ("dimension",)),
    Kind.TURNS: Form(("conversation", "speaker", "text"), ("position", "bot_name")),
}


@dataclass(frozen=True)
class ColumnMapping:
    """The column of each field of a table of some kind; `guessed` were not given."""

    kind: Kind
    columns: Mapping[str, str]
    guessed: frozenset[str]

    @property
    def option(self) -> str:
        """The `--map` that says the same."""
        return f"--map {shlex.quote(','.join(f'{name}={column}' for name, column in self.columns.items()))}"

    @property
    def confirmed(self) -> bool:
        """Whether every column without which nothing can be read was given."""
        return not self.guessed & set(FORMS[self.kind].required)


_FIELDS: Final = {*_ALIASES, *(name for form in FORMS.values() for name in form.fields)}


def parse_map(given: Sequence[str]) -> list[tuple[str, str]]:
    """Read what `--map` gives, the column of each field; raises MappingFault."""
    return _pairs("--map", given, {*_FIELDS, rf"{re.escape(VALUE_OF)}[^=,]+"})


def parse_values(given: Sequence[str]) -> list[tuple[str, str]]:
    """Read what `--values` gives, a meaning and a value that has it; raises MappingFault."""
    return _pairs("--values", given, {*Label, *Preference})


def _pairs(option: str, given: Sequence[str], names: Iterable[str]) -> list[tuple[str, str]]:
    """Read `NAME=VALUE,NAME=VALUE`; a value may hold a comma, unless one of the names follows it."""
    next_pair = re.compile(rf",(?=\s*(?:{'|'.join(names)})\s*=)")
    pairs = []
    for text in given:
        for pair in next_pair.split(text):
            name, equals, value = (part.strip() for part in pair.partition("="))
            if not (name and equals and value):
                raise MappingFault(option=option, given=shown(text), reason="write NAME=VALUE, and a comma between two")
            pairs.append((name, value))
    return pairs


def find_columns(
    table: Table,
    kinds: Sequence[Kind],
    given: Iterable[tuple[str, str]],
    words: ValueWords,
    *,
    known: frozenset[str] = frozenset(),
) -> ColumnMapping:
    """Find what a table is, the first of `kinds` whose columns are all there, and its columns.

    Fields in `known` need no column. Raises MappingFault for a `--map` that does not fit the table, and
    ColumnsUnknown where no kind is complete.
    """
    mapped = _checked(table, kinds, given)
    nearest: tuple[list[str], Form] | None = None
    for kind in kinds:
        form = FORMS[kind]
        dimensions = [name for name in mapped if name.startswith(VALUE_OF)] if "value" in form.fields else []
        if set(mapped) - {*form.fields, *dimensions}:
            continue
        columns = mapped | _guessed(table, form, mapped, words)
        if dimensions and "value" not in mapped:
            columns.pop("value", None)
        there = {*columns, *known, *(["value"] if dimensions else [])}
        missing = [name for name in form.required if name not in there]
        if not missing:
            ordered = {name: columns[name] for name in (*form.fields, *dimensions) if name in columns}
            return ColumnMapping(kind, ordered, frozenset(ordered) - set(mapped))
        if nearest is None or len(missing) < len(nearest[0]):
            nearest = missing, form
    if nearest is None:
        fields = ", ".join(mapped)
        raise MappingFault(option="--map", given=fields, reason="these fields belong to different kinds of tables")
    raise ColumnsUnknown(
        file=table.path.name,
        missing=", ".join(nearest[0]),
        columns=", ".join(map(shown, table.columns[:_MAX_COLUMNS_SHOWN])),
        example=",".join(f"{name}=COLUMN" for name in nearest[0]),
    )


def _checked(table: Table, kinds: Sequence[Kind], given: Iterable[tuple[str, str]]) -> dict[str, str]:
    known = dict.fromkeys(name for kind in kinds for name in FORMS[kind].fields)
    mapped: dict[str, str] = {}
    for alias, column in given:
        name = _ALIASES.get(alias, alias)
        written = shown(f"{alias}={column}")
        if name not in known and not (name.startswith(VALUE_OF) and "value" in known):
            raise MappingFault(option="--map", given=written, reason=f"'{shown(alias)}' is none of {', '.join(known)}")
        if column not in table.columns:
            there = ", ".join(map(shown, table.columns[:_MAX_COLUMNS_SHOWN]))
            raise MappingFault(option="--map", given=written, reason=f"there is no such column; there are {there}")
        mapped[name] = column
    return mapped


def _guessed(table: Table, form: Form, mapped: Mapping[str, str], words: ValueWords) -> dict[str, str]:
    fits, by_values = _fits(words), ("label_a", "label_b", "label")
    columns: dict[str, str] = {}
    for name in form.fields:
        free = [each for each in table.columns if each not in {*mapped.values(), *columns.values()}]
        if name in mapped:
            continue
        test = fits.get(name)
        named = _named(
            synonyms(FIELDS)[name], [each for each in free if test is None or any(map(test, table.values_of(each)))]
        )
        if named is None and test is not None and name in by_values:
            # Few columns hold such words as human and bot, whatever the columns are called.
            named = next((each for each in free if _mostly(test, table.values_of(each))), None)
        if named is not None:
            columns[name] = named
    return columns


def _fits(words: ValueWords) -> dict[str, Callable[[str], bool]]:
    def is_label(value: str) -> bool:
        return words.label(value) is not None

    def is_id(value: str) -> bool:
        return len(value) <= MAX_ID and value.isprintable()

    def is_number(value: str) -> bool:
        return number_of(value) is not None

    named = dict.fromkeys(("label", "label_a", "label_b"), is_label)
    numbers = dict.fromkeys(("value", "exchanges"), is_number)
    return {**named, **numbers, "conversation": is_id}


def _mostly(fits: Callable[[str], bool], values: Sequence[str]) -> bool:
    return 0 < len(values) <= sum(map(fits, values)) * 2


def _named(names: Sequence[str], columns: Sequence[str]) -> str | None:
    """Return the column with the likeliest name; that of a nested object counts by its last part, too."""
    for part in (plain, lambda column: plain(column.rpartition(".")[2])):
        by_name = {part(column): column for column in reversed(columns)}
        for name in names:
            if name in by_name:
                return by_name[name]
    return None
