"""Labels of people in a table: a row for both sides of a conversation, or a row for each side."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from spotthebot.contracts.annotation.annotations import FEATURES, AnnotatorKind, Answer, Label
from spotthebot.contracts.names import HUMAN_NAME, fault_of_bot_name
from spotthebot.readers.files.cells import TableRow, shown
from spotthebot.readers.files.numbers import number_of
from spotthebot.readers.files.rows import Table
from spotthebot.readers.meanings.columns import MAX_ID, ColumnMapping, Kind
from spotthebot.readers.meanings.kinds import KIND, Kinds
from spotthebot.readers.meanings.synonyms import plain
from spotthebot.readers.meanings.values import ValueWords, code_of
from spotthebot.readers.rejected import FieldFault, Rejected

_MAX_NAME: Final = 100
_MAX_EXCHANGES: Final = 500
_SIDES: Final = {
    **dict.fromkeys(("a", "first", "left", "speaker a", "side a", "bot_a"), 0),
    **dict.fromkeys(("b", "second", "right", "speaker b", "side b", "bot_b"), 1),
}
_FROM_0: Final = {"0": 0, "1": 1}
_FROM_1: Final = {"1": 0, "2": 1}


class KnownConversation(NamedTuple):
    """The speakers and the number of exchanges of an existing conversation."""

    sides: tuple[str, str]
    exchanges: int


@dataclass(frozen=True)
class LabelledSegment:
    """An annotation of the first exchanges of a conversation; its answer is by the protocol of `protocol_of`."""

    row: TableRow
    conversation: str
    sides: tuple[str, str]
    exchanges: int
    annotator: str
    annotator_kind: AnnotatorKind
    answer: Answer


def is_lead(column: str) -> bool:
    """Return whether a column's numbers tell which side leads, as in tables that `analytics` writes."""
    return plain(column).startswith("lead_")


def protocol_of(mapping: ColumnMapping) -> str:
    """Return the protocol for a table of labels; the protocol has features if the table has all features."""
    return "spot_the_bot" if set(FEATURES) <= set(mapping.columns) else "spot_the_bot_labels"


def read_labels(
    table: Table, mapping: ColumnMapping, words: ValueWords, known: Mapping[str, KnownConversation] | None = None
) -> Iterator[LabelledSegment | Rejected]:
    """Yield the annotations of a table; an annotator labels a conversation at a length only once.

    With `known`, only these conversations count, and rows need not name the sides. To find repeats, it keeps one number
    for each annotation, which takes about ten megabytes for a million annotations.
    """
    codes = set(map(code_of, table.values_of(mapping.columns.get("side", ""))))
    reader = _Reader(mapping, words, known, _SIDES | (_FROM_1 if "2" in codes else _FROM_0))
    for row in table.rows():
        if isinstance(row, Rejected):
            yield row
        elif mapping.kind is Kind.SIDES:
            yield from reader.side(row)
        else:
            yield reader.segment(row)
    yield from reader.without_other_side()


class _Said(NamedTuple):
    """The fields of a row that tables of both forms have."""

    conversation: str
    exchanges: int
    annotator: str


class _OneSide(NamedTuple):
    """The label of one side, waiting for the other side's label."""

    row: TableRow
    bot: str
    side: int | None
    label: Label


@dataclass
class _Reader:
    mapping: ColumnMapping
    words: ValueWords
    known: Mapping[str, KnownConversation] | None
    side_codes: Mapping[str, int]
    sides: dict[str, tuple[str, str]] = field(default_factory=dict)
    waiting: dict[_Said, _OneSide] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    codes: dict[str, int] = field(default_factory=dict)
    kinds: Kinds = field(default_factory=Kinds)

    def segment(self, row: TableRow) -> LabelledSegment | Rejected:
        """Read a row with both sides."""
        try:
            said = self._said(row)
            sides = self._sides(row, said.conversation)
            labels = self._label(row, "label_a"), self._label(row, "label_b")
            return self._labelled(row, said, sides, labels, self._features(row, sides))
        except FieldFault as fault:
            return row.rejected(str(fault), self._bots(row))

    def side(self, row: TableRow) -> Iterator[LabelledSegment | Rejected]:
        """Read a row with one side.

        An annotation has two rows, one for each side. The second of them yields the annotation.
        """
        try:
            said = self._said(row)
            this = _OneSide(row, self._name(row, "bot"), self._side(row), self._label(row, "label"))
            other = self.waiting.pop(said, None)
            if other is None:
                self._require_new(said, keep=False)
                self.waiting[said] = this
                return
            first, second = self._ordered(said.conversation, other, this)
            yield self._labelled(row, said, (first.bot, second.bot), (first.label, second.label), {})
        except FieldFault as fault:
            yield row.rejected(str(fault), self._bots(row))

    def without_other_side(self) -> Iterator[Rejected]:
        """Yield the rows whose other side has no label."""
        for one in self.waiting.values():
            reason = "the annotator labelled only this side: both sides need a label"
            yield one.row.rejected(reason, self._bots(one.row))

    def _bots(self, row: TableRow) -> list[str]:
        """Return the names of the sides in a row."""
        columns = (self.mapping.columns.get(name, "") for name in ("side_a", "side_b", "bot"))
        return [self.words.side(name) for column in columns if (name := row.named(column))]

    def _said(self, row: TableRow) -> _Said:
        conversation, annotator = self._id(row, "conversation"), self._id(row, "annotator")
        if self.known is not None and conversation not in self.known:
            raise FieldFault(reason=f"conversation '{shown(conversation)}' is not in the collection")
        return _Said(conversation, self._exchanges(row, conversation), annotator)

    def _cell(self, row: TableRow, name: str) -> str:
        return row.composed(self.mapping.columns.get(name, ""))

    def _id(self, row: TableRow, name: str) -> str:
        value = row.id(self.mapping.columns.get(name, ""))
        if not value:
            raise FieldFault(reason=f"it names no {name}")
        if len(value) > MAX_ID or "\0" in value:
            raise FieldFault(reason=f"its {name} has more than {MAX_ID} letters, or a NUL character")
        return value

    def _exchanges(self, row: TableRow, conversation: str) -> int:
        most = _MAX_EXCHANGES if self.known is None else self.known[conversation].exchanges
        if "exchanges" not in self.mapping.columns:
            return 1 if self.known is None else most
        value = self._cell(row, "exchanges")
        number = number_of(value)
        if number is None or not number.is_integer() or not 1 <= number <= most:
            raise FieldFault(reason=f"its exchanges '{shown(value)}' must be a whole number from 1 to {most}")
        return int(number)

    def _name(self, row: TableRow, name: str) -> str:
        value = row.named(self.mapping.columns.get(name, ""))
        if not value:
            raise FieldFault(reason=f"it names no {name}")
        if len(value) > _MAX_NAME or "\0" in value:
            raise FieldFault(reason=f"its {name} has more than {_MAX_NAME} letters, or a NUL character")
        side = self.words.side(value)
        if side != HUMAN_NAME and (fault := fault_of_bot_name(side)) is not None:
            raise FieldFault(reason=f"its {name} {value!a}: {fault}")
        return side

    def _label(self, row: TableRow, name: str) -> Label:
        value = self._cell(row, name)
        label = self.words.label(value)
        if label is None:
            raise FieldFault(reason=f"its {name} '{shown(value)}' is not one of {', '.join(Label)}")
        return label

    def _features(self, row: TableRow, sides: tuple[str, str]) -> dict[str, str]:
        """Return the preference for each feature, if the table has all features."""
        if protocol_of(self.mapping) != "spot_the_bot":
            return {}
        found: dict[str, str] = {}
        for name in FEATURES:
            value = self._cell(row, name)
            if self.words.names_two(value, sides):
                reason = f"its {name} '{shown(value)}' can be a bot's name, or the other side or a tie"
                raise FieldFault(reason=f"{reason}: add --values A=A,B=B,tie=tie to read it as the side or the tie")
            preference = self.words.preference(value, sides, lead=is_lead(self.mapping.columns[name]))
            if preference is None:
                raise FieldFault(reason=f"its {name} '{shown(value)}' is neither a side nor a tie")
            found[name] = preference.value
        return found

    def _sides(self, row: TableRow, conversation: str) -> tuple[str, str]:
        if self.known is not None and "side_a" not in self.mapping.columns:
            return self.known[conversation].sides
        return self._name(row, "side_a"), self._name(row, "side_b")

    def _side(self, row: TableRow) -> int | None:
        if "side" not in self.mapping.columns:
            return None
        value = self._cell(row, "side")
        if code_of(value) not in self.side_codes:
            raise FieldFault(reason=f"its side '{shown(value)}' is neither A nor B")
        return self.side_codes[code_of(value)]

    def _ordered(self, conversation: str, first: _OneSide, second: _OneSide) -> tuple[_OneSide, _OneSide]:
        """Return the sides in the order A, B: by the column `side`, else as in earlier rows, else as they arrived."""
        if first.side is not None and first.side == second.side:
            raise FieldFault(reason=f"the annotator labelled this side already, on line {first.row.line}")
        if first.side == 1:
            return second, first
        before = self.known[conversation].sides if self.known else self.sides.get(conversation)
        if first.side is None and before == (second.bot, first.bot):
            return second, first
        return first, second

    def _labelled(
        self,
        row: TableRow,
        said: _Said,
        sides: tuple[str, str],
        labels: tuple[Label, Label],
        features: dict[str, str],
    ) -> LabelledSegment:
        before = self.known[said.conversation].sides if self.known else self.sides.setdefault(said.conversation, sides)
        if before != sides:
            this, that = (" and ".join(f"'{shown(side)}'" for side in each) for each in (sides, before))
            raise FieldFault(reason=f"its sides are {this}, but conversation '{shown(said.conversation)}' has {that}")
        kind = self.kinds.read(said.annotator, row.named(self.mapping.columns.get(KIND, "")))
        self._require_new(said, keep=True)
        answer: Answer = {"entity": {"A": labels[0].value, "B": labels[1].value}, **features}
        return LabelledSegment(row, said.conversation, sides, said.exchanges, said.annotator, kind, answer)

    def _require_new(self, said: _Said, *, keep: bool) -> None:
        conversation, annotator = (
            self.codes.setdefault(f"{kind}{name}", len(self.codes))
            for kind, name in (("c", said.conversation), ("a", said.annotator))
        )
        key = ((conversation << 32 | annotator) << 9) | said.exchanges
        if key in self.seen:
            raise FieldFault(
                reason=f"annotator '{shown(said.annotator)}' has labelled this conversation at this length already"
            )
        if keep:
            self.seen.add(key)
