"""The meaning of columns: guessed from their names and values, or given by `--map`."""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from spotthebot.contracts.annotation.annotations import FEATURES, Label, Preference
from spotthebot.readers.errors import ColumnsUnknown, MappingFault, NoNumbers
from spotthebot.readers.files.cells import column_name, is_missing, shown
from spotthebot.readers.files.numbers import is_numeric
from spotthebot.readers.files.rows import Table
from spotthebot.readers.meanings.kinds import KIND
from spotthebot.readers.meanings.synonyms import FIELDS, plain, synonyms, without_brackets
from spotthebot.readers.meanings.texts import PROMPT, TEXT_FIELDS, is_text
from spotthebot.readers.meanings.values import ValueWords

MAX_ID: Final = 150
"""The maximum of letters of a conversation's or an annotator's id, so that ids derived from it are short enough."""
VALUE_OF: Final = "value."
"""The prefix of a field for a dimension's column of ratings: `value.fluency`."""
BOT_OF: Final = "bot."
"""The prefix of a field for a bot's column of ratings: `bot.alpha`."""
_ALIASES: Final = {"item": "conversation", "model_a": "side_a", "model_b": "side_b"}
_SHOWN_TEXT: Final = "shown_text"
"""The names of columns with complete texts, as opposed to single turns."""
_MAX_COLUMNS_SHOWN, _MAX_CODES = 30, 5
_OTHER_SIDE: Final = {"1": "2", "a": "b"}


class Kind(StrEnum):
    """The kind of a table, by the content of its rows."""

    LABELS = "labels, both sides in a row"
    SIDES = "labels, a row for each side"
    VOTES = "votes between two bots"
    OUTCOMES = "votes between two bots, a column for each outcome"
    RATINGS = "ratings"
    TURNS = "turns of conversations"


@dataclass(frozen=True)
class Form:
    """The fields of a kind of table. Each required field must have a column.

    A `sparse` field has the column of its very name, even if the first rows have no value there.
    """

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    sparse: tuple[str, ...] = (KIND,)

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.required, *self.optional, *self.sparse)))


FORMS: Final[Mapping[Kind, Form]] = {
    Kind.LABELS: Form(
        ("conversation", "side_a", "side_b", "label_a", "label_b", "annotator"), ("exchanges", *FEATURES)
    ),
    Kind.SIDES: Form(("conversation", "bot", "label", "annotator"), ("side", "exchanges")),
    Kind.VOTES: Form(
        ("side_a", "side_b", "winner"), ("conversation", "annotator", "turn", "winner_swapped", *TEXT_FIELDS)
    ),
    Kind.OUTCOMES: Form(
        ("side_a", "side_b", "winner_a", "winner_b"), ("conversation", "winner_tie", "annotator", "turn", *TEXT_FIELDS)
    ),
    Kind.RATINGS: Form(
        ("conversation", "bot", "value"),
        ("annotator", "dimension", "turn", "seconds", *TEXT_FIELDS),
        ("turn", "seconds", "text", "exchanges", "pair", KIND),
    ),
    Kind.TURNS: Form(("conversation", "speaker", "text"), ("position", "bot_name"), ()),
}


@dataclass(frozen=True)
class ColumnMapping:
    """The column of each field of a table; `guessed` has those that are neither given nor called as their field."""

    kind: Kind
    columns: Mapping[str, str]
    guessed: frozenset[str]

    @property
    def option(self) -> str:
        """The `--map` option that gives the same mapping."""
        return f"--map {shlex.quote(','.join(f'{name}={column}' for name, column in self.columns.items()))}"

    @property
    def confirmed(self) -> bool:
        """Whether no column of a required field is guessed."""
        return not self.guessed & set(FORMS[self.kind].required)


COMPARED: Final = (Kind.VOTES, Kind.OUTCOMES, Kind.RATINGS)
"""The kinds of tables that are ranked without an import."""
_FIELDS: Final = {*_ALIASES, *(name for form in FORMS.values() for name in form.fields)}


def parse_map(given: Sequence[str]) -> list[tuple[str, str]]:
    """Parse the values of `--map` to pairs of a field and its column; raises MappingFault."""
    return _pairs("--map", given, {*_FIELDS, *(rf"{re.escape(wide)}[^=,]+" for wide in (VALUE_OF, BOT_OF))})


def parse_values(given: Sequence[str]) -> list[tuple[str, str]]:
    """Parse the values of `--values` to pairs of a meaning and a value; raises MappingFault."""
    return _pairs("--values", given, {*Label, *Preference})


def _pairs(option: str, given: Sequence[str], names: Iterable[str]) -> list[tuple[str, str]]:
    """Parse `NAME=VALUE,NAME=VALUE`; a comma belongs to a value unless one of the `names` follows the comma."""
    next_pair = re.compile(rf",(?=\s*(?:{'|'.join(names)})\s*=)")
    pairs = []
    for text in given:
        for pair in next_pair.split(text):
            name, equals, value = (part.strip() for part in pair.partition("="))
            if not (name and equals and value):
                raise MappingFault(
                    option=option, given=shown(text), reason="write NAME=VALUE, with a comma between pairs"
                )
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
    """Find the first of `kinds` for which the table has all required columns, and return the column of each field.

    Fields in `known` need no column. Raises MappingFault for a `--map` that does not fit the table, and ColumnsUnknown
    if no kind has all its columns.
    """
    mapped = _checked(table, kinds, given)
    sides = _has_two_sides(table)
    found: list[tuple[bool, list[str], dict[str, str]]] = []
    for kind in kinds:
        form = FORMS[kind]
        wide = [name for name in mapped if name.startswith((VALUE_OF, BOT_OF))] if "value" in form.fields else []
        if set(mapped) - {*form.fields, *wide}:
            continue
        columns = mapped | _guessed(table, form, mapped, words)
        if "value" in form.fields and not wide and "value" not in mapped:
            own = _named_as_fields(table)
            wide = [*own]
            columns = {name: column for name, column in columns.items() if column not in own} | own
        said = {"value"} if wide else set()
        if any(name.startswith(BOT_OF) for name in wide):
            said.add("bot")
        columns = {name: column for name, column in columns.items() if name in mapped or name not in said}
        there = {*columns, *known, *said}
        missing = [name for name in form.required if name not in there]
        if not missing:
            ordered = {name: columns[name] for name in (*form.fields, *wide) if name in columns}
            guessed = {name for name, column in ordered.items() if name not in mapped and name != column}
            return ColumnMapping(kind, ordered, frozenset(guessed))
        found.append((("side_a" in form.fields) is not sides, missing, columns))
    if not found:
        fields = ", ".join(mapped)
        raise MappingFault(option="--map", given=fields, reason="these fields belong to different kinds of tables")
    _, missing, columns = min(found, key=lambda each: (each[0], len(each[1])))
    if missing == ["value"] and (column := _named(synonyms(FIELDS)["value"], table.columns)) is not None:
        examples = dict.fromkeys(value for value in table.values_of(column) if not is_missing(value))
        raise NoNumbers(file=table.path.name, column=shown(column), found=", ".join(map(shown, [*examples][:3])))
    raise ColumnsUnknown(
        file=table.path.name,
        missing=", ".join(missing),
        columns=", ".join(map(shown, table.columns[:_MAX_COLUMNS_SHOWN])),
        example=shlex.quote(",".join(_examples(table, missing, columns))),
    )


def _named_as_fields(table: Table) -> dict[str, str]:
    """Return the numeric columns with names that `--map` would use: `value.DIMENSION`, or else `bot.BOT`."""
    numeric = [column for column in table.columns if _mostly(is_numeric, table.values_of(column))]
    for beginning in (VALUE_OF, BOT_OF):
        own = {column: column for column in numeric if column.startswith(beginning) and column != beginning}
        if own:
            return own
    return {}


def _has_two_sides(table: Table) -> bool:
    """Return whether columns come in pairs, such as `bot1` and `bot2`."""
    names = {plain(column) for column in table.columns}
    return any(f"{name[:-1]}{_OTHER_SIDE[name[-1]]}" in names for name in names if name[-1:] in _OTHER_SIDE)


def _examples(table: Table, missing: Sequence[str], columns: Mapping[str, str]) -> Iterator[str]:
    """Yield examples of mappings. For ratings, each numeric column is an example of a dimension."""
    for name in missing:
        free = [column for column in table.columns if column not in columns.values()]
        numbers = [column for column in free if _mostly(is_numeric, table.values_of(column))]
        if name == "value" and numbers:
            yield from (f"{BOT_OF if 'bot' in missing else VALUE_OF}{column}={column}" for column in numbers)
        elif name != "bot" or "value" not in missing or not numbers:
            yield f"{name}=COLUMN"


def _checked(table: Table, kinds: Sequence[Kind], given: Iterable[tuple[str, str]]) -> dict[str, str]:
    known = dict.fromkeys(name for kind in kinds for name in FORMS[kind].fields)
    mapped: dict[str, str] = {}
    for alias, written_column in given:
        name = _ALIASES.get(alias, alias)
        column = written_column if written_column in table.columns else column_name(written_column)
        written = shown(f"{alias}={column}")
        if name not in known and not (name.startswith((VALUE_OF, BOT_OF)) and "value" in known):
            raise MappingFault(
                option="--map", given=written, reason=f"'{shown(alias)}' is not one of {', '.join(known)}"
            )
        if column not in table.columns:
            there = ", ".join(map(shown, table.columns[:_MAX_COLUMNS_SHOWN]))
            reason = f"there is no such column: the columns are {there}"
            raise MappingFault(option="--map", given=written, reason=reason)
        mapped[name] = column
    return mapped


def _guessed(table: Table, form: Form, mapped: Mapping[str, str], words: ValueWords) -> dict[str, str]:
    fits, by_values = _fits(words), ("label_a", "label_b", "label")
    columns: dict[str, str] = {}
    for name in form.fields:
        taken = {*mapped.values(), *columns.values()}
        free = [each for each in table.columns if each not in taken]
        own = _named_so(table, form, name, free)
        if name in form.optional:
            free = [each for each in free if not all(map(is_missing, table.values_of(each)))]
        if name in mapped or (name == PROMPT and not {*TEXT_FIELDS} & {*mapped, *columns}):
            continue
        words_of = name
        if name in TEXT_FIELDS and name in form.optional:
            free = [each for each in free if _mostly(is_text, table.values_of(each))]
            words_of = _SHOWN_TEXT if name == "text" else name
        test = fits.get(name)
        named = own or _named(
            synonyms(FIELDS)[words_of] if name in (*form.required, *form.optional) else (),
            [each for each in free if test is None or any(map(test, table.values_of(each)))],
        )
        if named is None and test is not None and name in by_values:
            # Few columns hold words such as human and bot, whatever their names; a label's may hold codes, such as 1.
            by_value = next((each for each in free if _mostly(test, table.values_of(each))), None)
            coded = [each for each in free if 0 < len(table.values_of(each)) <= _MAX_CODES]
            named = by_value or _named(synonyms(FIELDS)[name], coded)
        if named is not None:
            columns[name] = named
    return columns


def _named_so(table: Table, form: Form, name: str, free: Sequence[str]) -> str | None:
    """Return the column with the very name of a sparse field.

    If the field has synonyms, the column counts only if the first rows have no value in it.
    """
    if name not in form.sparse:
        return None
    own = (each for each in free if plain(each) == name)
    return next(
        (each for each in own if name not in form.optional or all(map(is_missing, table.values_of(each)))), None
    )


def _fits(words: ValueWords) -> dict[str, Callable[[str], bool]]:
    def is_label(value: str) -> bool:
        return words.label(value) is not None

    def is_id(value: str) -> bool:
        return len(value) <= MAX_ID and value.isprintable()

    named = dict.fromkeys(("label", "label_a", "label_b"), is_label)
    numbers = dict.fromkeys(("value", "exchanges", "seconds"), is_numeric)
    return {**named, **numbers, "conversation": is_id}


def _mostly(fits: Callable[[str], bool], values: Sequence[str]) -> bool:
    return 0 < len(values) <= sum(map(fits, values)) * 2


def _named(names: Sequence[str], columns: Sequence[str]) -> str | None:
    """Return the column with the likeliest of `names`.

    Full names of columns are compared first, then names without brackets, then the part after the last dot.
    """
    for part in (
        plain,
        lambda column: plain(without_brackets(column)),
        lambda column: plain(column.rpartition(".")[2]),
    ):
        by_name = {part(column): column for column in reversed(columns)}
        for name in map(plain, names):
            if name in by_name:
                return by_name[name]
    return None
