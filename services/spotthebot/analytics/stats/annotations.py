"""The input of every statistic, as columns: one row for each annotation of a conversation, with integer codes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spotthebot.analytics.stats.errors import AnnotationTableMalformed

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

HUMAN: Final = "HU"
_LISTED: Final = 20
"""The most values that the text of a table lists."""


class LabelCode(IntEnum):
    """The integer code of a label. It is also the score that the win function compares."""

    BOT = 0
    UNSURE = 1
    HUMAN = 2


@dataclass(frozen=True, eq=False)
class AnnotationTable:
    """Annotations as columns of equal length n; the second axis of an (n, 2) column is first and second speaker.

    `entity` has indices into `names`. All human speakers together are the entity "HU". `conversation` and `annotator`
    have any non-negative codes. `exchanges` is the inspection time: how many exchanges (pairs of turns) were seen.
    `label` holds `LabelCode` values. `features` maps a feature's name to a column with 1 for "preferred or equal" and 0
    otherwise, so two equal values mean no difference. `text` has a code of the text that annotators see. Conversations
    with the same text are one cluster in every variance, also if their speakers differ. Without `text` each
    conversation has a text of its own. Columns are copied and made read-only. A malformed column raises
    `AnnotationTableMalformed`.
    """

    names: tuple[str, ...]
    conversation: IntArray
    entity: IntArray
    exchanges: IntArray
    label: IntArray
    annotator: IntArray
    features: Mapping[str, IntArray] = field(default_factory=dict)
    text: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __post_init__(self) -> None:
        if len(set(self.names)) != len(self.names):
            raise AnnotationTableMalformed(fault="`names` holds a name twice")
        n = len(self.conversation)
        if not len(self.text):
            object.__setattr__(self, "text", self.conversation)
        columns = (("conversation", 1), ("exchanges", 1), ("annotator", 1), ("text", 1), ("entity", 2), ("label", 2))
        for column, width in columns:
            object.__setattr__(self, column, _column(column, getattr(self, column), n, width))
        features = {name: _column(f"feature {name}", values, n, 2) for name, values in self.features.items()}
        object.__setattr__(self, "features", MappingProxyType(features))
        _require_range("conversation", self.conversation, 0)
        _require_range("annotator", self.annotator, 0)
        _require_range("text", self.text, 0)
        _require_range("exchanges", self.exchanges, 1)
        _require_range("entity", self.entity, 0, len(self.names) - 1)
        _require_range("label", self.label, min(LabelCode), max(LabelCode))
        for name, values in features.items():
            _require_range(f"feature {name}", values, 0, 1)
        self._require_one_pair_and_text_per_conversation()

    @classmethod
    def from_rows(cls, rows: Sequence[tuple[int, str, str, int, str, str, int]]) -> "AnnotationTable":
        """Return a table of rows (conversation, first, second, exchanges, label of first, label of second, annotator).

        Labels are the words human, unsure and bot. This is for notebooks and examples; large data are given as columns.

        >>> table = AnnotationTable.from_rows([(0, "A", "HU", 2, "bot", "human", 0)])
        >>> table.names, table.label.tolist()
        (('A', 'HU'), [[0, 2]])
        """
        found = {name for row in rows for name in row[1:3]}
        names = (*sorted(found - {HUMAN}), *(found & {HUMAN}))
        labels = {label.name.lower(): int(label) for label in LabelCode}
        unknown = {word for row in rows for word in row[4:6]} - set(labels)
        if unknown:
            raise AnnotationTableMalformed(fault=f"{', '.join(sorted(unknown))}: must be one of {', '.join(labels)}")
        return cls(
            names=names,
            conversation=np.array([row[0] for row in rows], dtype=np.int64),
            entity=np.array([[names.index(name) for name in row[1:3]] for row in rows], dtype=np.int64),
            exchanges=np.array([row[3] for row in rows], dtype=np.int64),
            label=np.array([[labels[word] for word in row[4:6]] for row in rows], dtype=np.int64),
            annotator=np.array([row[6] for row in rows], dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.conversation)

    def __repr__(self) -> str:
        return short_repr(self)

    @property
    def bots(self) -> tuple[str, ...]:
        """Return every name but "HU", in the order of `names`."""
        return tuple(name for name in self.names if name != HUMAN)

    def select(self, rows: BoolArray) -> "AnnotationTable":
        """Return a table of the rows where the mask (n,) is true; names and codes stay unchanged."""
        return AnnotationTable(
            names=self.names,
            conversation=self.conversation[rows],
            entity=self.entity[rows],
            exchanges=self.exchanges[rows],
            label=self.label[rows],
            annotator=self.annotator[rows],
            features={name: values[rows] for name, values in self.features.items()},
            text=self.text[rows],
        )

    @property
    def has_games(self) -> bool:
        """Return whether two different bots met in a conversation."""
        met = self.between_bots().entity
        return bool(np.any(met[:, 0] != met[:, 1]))

    def between_bots(self) -> "AnnotationTable":
        """Return the annotations of conversations without people: between two bots, or of a bot with itself."""
        if HUMAN not in self.names:
            return self
        return self.select(np.all(self.entity != self.names.index(HUMAN), axis=1))

    def _require_one_pair_and_text_per_conversation(self) -> None:
        _, first_row, codes = np.unique(self.conversation, return_index=True, return_inverse=True)
        if np.any(self.entity != self.entity[first_row[codes]]):
            raise AnnotationTableMalformed(fault="a conversation has different speakers in different rows")
        if np.any(self.text != self.text[first_row[codes]]):
            raise AnnotationTableMalformed(fault="a conversation has different texts in different rows")


def short_repr(table: object) -> str:
    """Return a text of a table in one line, for notebooks: arrays by their shapes, other fields by their values.

    >>> AnnotationTable.from_rows([(0, "A", "HU", 2, "bot", "human", 0)]).select(np.array([True]))
    AnnotationTable(names=('A', 'HU'), conversation=<1>, entity=<1 x 2>, exchanges=<1>, label=<1 x 2>, annotator=<1>, \
features={}, text=<1>)
    """

    def shown(value: object) -> str:
        if isinstance(value, np.ndarray):
            return f"<{' x '.join(map(str, value.shape))}>"
        if isinstance(value, Mapping):
            return f"{{{', '.join(f'{name!r}: {shown(each)}' for name, each in value.items())}}}"
        return f"<{len(value)}>" if isinstance(value, tuple) and len(value) > _LISTED else repr(value)

    return f"{type(table).__name__}({', '.join(f'{name}={shown(value)}' for name, value in vars(table).items())})"


def last_rows(keys: IntArray) -> IntArray:
    """Return the last row of each group of rows with equal keys (n, d), in the order of the rows.

    >>> last_rows(np.array([[0, 1], [0, 2], [0, 1]])).tolist()
    [1, 2]
    """
    _, first = np.unique(keys[::-1], axis=0, return_index=True)
    return np.sort(len(keys) - 1 - first)


def _column(name: str, values: NDArray[Any], n: int, width: int) -> IntArray:
    given = np.asarray(values)
    shape = (n,) if width == 1 else (n, width)
    if given.shape != shape and given.size + n > 0:
        raise AnnotationTableMalformed(fault=f"column {name} has shape {given.shape}, not {shape}")
    if given.size and given.dtype.kind not in "iub":
        raise AnnotationTableMalformed(fault=f"column {name} holds {given.dtype}, not integers")
    copied = given.astype(np.int64).reshape(shape)
    copied.flags.writeable = False
    return copied


def _require_range(name: str, values: IntArray, low: int, high: int | None = None) -> None:
    if values.size and (values.min() < low or (high is not None and values.max() > high)):
        bound = f"{low} or more" if high is None else f"{low} to {high}"
        raise AnnotationTableMalformed(fault=f"column {name} must be {bound}")
