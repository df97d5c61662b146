"""Values that no annotator gives: scores of a program, and times that bots took."""

import hashlib
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from spotthebot.analytics.values.domain.measure_values import NOBODY, Row, Values, rated_values
from spotthebot.analytics.values.domain.value_table import RatedValue
from spotthebot.contracts.analytics.provenance import Counts
from spotthebot.contracts.annotation.measures import Measure
from spotthebot.contracts.repeated_texts import RepeatedTexts, find_repeated_texts


class ComputedUnit(NamedTuple):
    """A bot's dialogue or one of its turns, with its value by each measure. `turn` is empty of a dialogue."""

    conversation: UUID
    bot: str
    turn: str
    values: Mapping[str, float]


@dataclass(frozen=True)
class ComputedValues:
    """The values of some measures over conversations of one or several collections.

    `campaign` is what results call them in place of a campaign. `speakers` has the names of both speakers of each
    complete conversation; units of others are not among `units`. `texts` has a hash of the text of each conversation.
    `complete` says that no value can be added.
    """

    campaign: str
    domain: str
    complete: bool
    measures: Mapping[str, Measure]
    units: Sequence[ComputedUnit]
    speakers: Mapping[UUID, tuple[str, str]]
    texts: Mapping[UUID, str]

    @property
    def campaign_id(self) -> None:
        """Return None: the values belong to no campaign."""

    @property
    def bots(self) -> frozenset[str]:
        """Return the names of the bots that have values."""
        return frozenset(each.bot for each in self.units)

    @property
    def counts(self) -> Counts:
        """Return how many data there are. Nobody annotated."""
        return Counts(
            conversations=len(self.speakers),
            annotated_conversations=len({each.conversation for each in self.units}),
            annotations=0,
            annotators=0,
            segments=len(self.units),
            simulated_annotators=0,
            judges=0,
        )

    @property
    def repeated_texts(self) -> tuple[RepeatedTexts, ...]:
        """Return the pairs of speakers whose conversations repeat texts."""
        held = dict.fromkeys(each.conversation for each in self.units)
        return find_repeated_texts((self.speakers[each], self._text_of(each)) for each in held)

    @property
    def sha256(self) -> str:
        """Return a fingerprint of bots and values."""
        digest = hashlib.sha256()
        for each in self.units:
            digest.update(
                repr((self.speakers[each.conversation], each.bot, each.turn, [*each.values.items()])).encode()
            )
        return digest.hexdigest()

    def values(self, name: str) -> Values:
        """Return the values of a measure; raises KeyError if there is no measure of this name."""
        return Values.of(self.measures[name], [*self._rows(name)])

    def rated(self, name: str) -> Iterator[RatedValue]:
        """Yield the values of a measure for a table of values."""
        yield from rated_values(self._rows(name), math.nan)

    @property
    def shown_texts(self) -> Iterator[tuple[str, str]]:
        """Yield conversations with their texts, as far as these are known."""
        for conversation, text in self.texts.items():
            yield str(conversation), text

    def _rows(self, name: str) -> Iterator[Row]:
        for each in self.units:
            own = str(each.conversation)
            unit, text = (own, each.bot, each.turn), self._text_of(each.conversation)
            yield Row(unit, text, NOBODY, each.bot, each.values[name], own, each.turn)

    def _text_of(self, conversation: UUID) -> Hashable:
        return self.texts.get(conversation, (conversation,))
