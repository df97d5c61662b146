"""The table of values of several measures. Campaigns, chats and tables of ratings come to this form to be assessed.

Names are stored once, and numbers as columns, so that a million values take about 100 MB.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import isnan, nan
from typing import Final, NamedTuple

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.values.domain.assessed_values import Dialogues, MeasuredValues
from spotthebot.analytics.values.domain.shown_items import SIDES
from spotthebot.contracts.analytics.tables import ValueRow
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.statistics.cells import cell_code

LONGEST_SECONDS: Final = 24 * 3600
"""An annotator who took longer did not work all the time, so the time does not count."""
_ROWS_AT_ONCE: Final = 10_000


class RatedValue(NamedTuple):
    """One value that an annotator gives to a bot in a conversation, or to one of its turns.

    `exchanges` says how much of the conversation was shown. `pair` names the comparison if the value is a preference.
    Texts are empty if they do not apply or are unknown. `seconds` is the annotator's time for this value, or NaN.
    """

    conversation: str
    bot: str
    annotator: str
    turn: str
    exchanges: str
    pair: str
    value: float
    seconds: float = nan
    annotator_kind: AnnotatorKind = AnnotatorKind.PERSON


_NAMES: Final = RatedValue._fields[:6]


@dataclass(frozen=True)
class _Column:
    """The values of one measure: the codes of the six names of each value, in the order in which they were added."""

    names: tuple["array[int]", ...] = field(default_factory=lambda: tuple(array("i") for _ in _NAMES))
    value: "array[float]" = field(default_factory=lambda: array("d"))
    seconds: "array[float]" = field(default_factory=lambda: array("d"))


class ValueTable:
    """Values by measure, and the texts of conversations.

    If `pairs_named`, a value is a preference only if it has a `pair`. Otherwise the values that an annotator gives to
    two bots in one conversation may be a preference.
    """

    def __init__(self, *, pairs_named: bool) -> None:
        self._pairs_named = pairs_named
        self._known: tuple[dict[str, int], ...] = tuple({} for _ in _NAMES)
        self._kinds: dict[str, AnnotatorKind] = {}
        self._columns: dict[str, _Column] = {}
        self._texts: dict[tuple[str, str], None] = {}

    @property
    def measures(self) -> tuple[str, ...]:
        """Return the measures that have values, in the order in which they were added."""
        return tuple(self._columns)

    def add(self, measure: str, values: Iterable[RatedValue]) -> None:
        """Add values of a measure. Of two values of one annotator for the same thing the first counts."""
        rows = iter(values)
        while batch := [*islice(rows, _ROWS_AT_ONCE)]:
            column = self._columns.setdefault(measure, _Column())
            *names, value, seconds, kinds = zip(*batch, strict=True)
            self._kinds.update(zip(names[_ANNOTATOR], kinds, strict=True))
            for own, known, codes in zip(names, self._known, column.names, strict=True):
                codes.extend([known.setdefault(name, len(known)) for name in own])
            column.value.extend(value)
            column.seconds.extend(seconds)

    def add_text(self, conversation: str, text: str) -> None:
        """Add a text of a conversation. Conversations that have a text in common, directly or not, vary together."""
        self._texts[conversation, text] = None

    def __len__(self) -> int:
        return sum(len(each.value) for each in self._columns.values())

    def __iter__(self) -> Iterator[ValueRow]:
        """Yield the values as rows of a table of ratings, measure by measure."""
        names = tuple(tuple(known) for known in self._known)
        texts = self._shared_texts()
        for measure, column in self._columns.items():
            for *codes, value, seconds in zip(*column.names, column.value, column.seconds, strict=True):
                conversation, bot, annotator, turn, exchanges, pair = (
                    known[code] for known, code in zip(names, codes, strict=True)
                )
                yield ValueRow(
                    conversation=conversation,
                    turn=turn or None,
                    bot=bot,
                    annotator=annotator,
                    annotator_kind=self._kinds[annotator] if annotator else None,
                    dimension=measure,
                    value=value,
                    exchanges=int(exchanges) if exchanges else None,
                    pair=pair or None,
                    text=texts.get(conversation),
                    seconds=None if isnan(seconds) else seconds,
                )

    def measured(self, outcome: str) -> tuple[list[MeasuredValues], MeasuredValues, Dialogues]:
        """Return the measures by their names in order, apart from them the outcome, and the dialogues of all values.

        The result does not depend on the order in which values of different things were added. Raises KeyError if the
        outcome has no values.
        """
        names = tuple(_Names.of(known) for known in self._known)
        coded = {measure: _Coded.of(column, names) for measure, column in sorted(self._columns.items())}
        n_bots = max(len(names[_BOT].ordered), 1)
        keys = [each.conversation * n_bots + each.bot for each in coded.values()]
        dialogues = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *keys]))
        measured = {
            measure: each.measured(measure, np.searchsorted(dialogues, key), names, pairs_named=self._pairs_named)
            for (measure, each), key in zip(coded.items(), keys, strict=True)
        }
        clusters = self._clusters(names[_CONVERSATION].ordered)
        text = _in_order(clusters[dialogues // n_bots])
        rated = measured.pop(outcome)
        return list(measured.values()), rated, Dialogues(names[_BOT].ordered, dialogues % n_bots, text)

    def _shared_texts(self) -> dict[str, str]:
        """Return a text for each conversation that varies together with another one: the same for all of them."""
        conversations = tuple(dict.fromkeys(conversation for conversation, _ in self._texts))
        cluster = dict(zip(conversations, self._clusters(conversations).tolist(), strict=True))
        sizes = Counter(cluster.values())
        shared: dict[int, str] = {}
        for conversation, text in self._texts:
            at = cluster[conversation]
            shared[at] = min(text, shared.get(at, text))
        return {name: shared[at] for name, at in cluster.items() if sizes[at] > 1}

    def _clusters(self, conversations: Sequence[str]) -> IntArray:
        """Return for each of these conversations the code of those that vary together with it."""
        place = {name: at for at, name in enumerate(conversations)}
        texts: dict[str, int] = {}
        known = [(place[one], texts.setdefault(text, len(texts))) for one, text in self._texts if one in place]
        rows, columns = np.array(known, dtype=np.int64).reshape(-1, 2).T
        size = len(place) + len(texts)
        links = scipy.sparse.csr_array((np.ones(len(rows)), (rows, len(place) + columns)), shape=(size, size))
        _, labels = scipy.sparse.csgraph.connected_components(links, directed=False)
        return np.asarray(labels[: len(place)], dtype=np.int64)


_CONVERSATION, _BOT, _ANNOTATOR, _TURN, _, _PAIR = range(len(_NAMES))


@dataclass(frozen=True, eq=False)
class _Names:
    """The names of one kind in alphabetical order, and the place (k,) in this order of each name as it was added."""

    ordered: tuple[str, ...]
    place: IntArray

    @classmethod
    def of(cls, known: Mapping[str, int]) -> "_Names":
        ordered = sorted(known)
        place = np.empty(len(ordered), dtype=np.int64)
        place[[known[name] for name in ordered]] = np.arange(len(ordered))
        return cls(tuple(ordered), place)


class _Coded(NamedTuple):
    """The n values of one measure as columns (n,). Names are codes in alphabetical order."""

    conversation: IntArray
    bot: IntArray
    annotator: IntArray
    turn: IntArray
    exchanges: IntArray
    pair: IntArray
    value: FloatArray
    seconds: FloatArray

    @classmethod
    def of(cls, column: _Column, names: Sequence[_Names]) -> "_Coded":
        conversation, bot, annotator, turn, exchanges, pair = (
            each.place[np.frombuffer(own, dtype=np.intc)] for each, own in zip(names, column.names, strict=True)
        )
        value, seconds = np.frombuffer(column.value), np.frombuffer(column.seconds)
        return cls(conversation, bot, annotator, turn, exchanges, pair, value, seconds)

    def measured(
        self, measure: str, dialogue: IntArray, names: Sequence[_Names], *, pairs_named: bool
    ) -> MeasuredValues:
        """Return the values that count, in the order of the things that were rated and of the annotators."""
        has_annotators = any(names[_ANNOTATOR].ordered[code] for code in np.unique(self.annotator).tolist())
        part = np.unique(cell_code(self.turn, self.exchanges)[0], return_inverse=True)[1]
        key = dialogue
        for column in (part, self.pair, self.annotator):
            key = np.unique(cell_code(key, column)[0], return_inverse=True)[1]
        _, first = np.unique(key, return_index=True)
        rows = first if has_annotators else np.lexsort((self.seconds, self.value, key))
        turns = {names[_TURN].ordered[code] for code in np.unique(self.turn).tolist()}
        compared: IntArray | None = self.pair if pairs_named else self.conversation
        if pairs_named and names[_PAIR].ordered[:1] == ("",) and not np.all(self.pair):
            compared = None
        who = self.annotator[rows] if has_annotators else None
        return MeasuredValues(
            name=measure,
            level="turn" if turns - {"", *SIDES} else "dialogue",
            dialogue=dialogue[rows],
            turn=part[rows],
            annotator=who,
            value=self.value[rows],
            minutes=_minutes(self.seconds[rows], dialogue[rows], np.arange(len(rows)) if who is None else who),
            compared=None if compared is None else compared[rows],
        )


def _in_order(codes: IntArray) -> IntArray:
    """Return codes in the order of their first occurrence."""
    _, first, code = np.unique(codes, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[code]


def _minutes(seconds: FloatArray, dialogue: IntArray, who: IntArray) -> float | None:
    """Return the median of the minutes that an annotator takes for all rated turns of a dialogue."""
    known = (seconds >= 0) & (seconds <= LONGEST_SECONDS)
    if not known.any():
        return None
    work, at = np.unique(cell_code(dialogue, who)[0][known], return_inverse=True)
    return float(np.median(np.bincount(at, weights=seconds[known], minlength=len(work)))) / 60
