"""The table of values: what annotators say about bots by one measure, whatever the protocol of the campaign is."""

import hashlib
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from spotthebot.analytics.labels.domain import annotators_by_kind, elapsed_ms_of, finished_packages
from spotthebot.analytics.values.domain.measure_values import Row, Values, rated_values
from spotthebot.analytics.values.domain.shown_items import ShownItem
from spotthebot.analytics.values.domain.value_table import LONGEST_SECONDS, RatedValue
from spotthebot.contracts.analytics.choices import Filter
from spotthebot.contracts.analytics.provenance import Counts
from spotthebot.contracts.annotation.annotations import AnnotationOut, AnnotatorKind
from spotthebot.contracts.annotation.measures import Measure, MeasuredQuestion, ShownTurns, headline_of, sides_of
from spotthebot.contracts.repeated_texts import RepeatedTexts, find_repeated_texts


@dataclass(frozen=True)
class MeasuredCampaign:
    """A campaign with any protocol: its measures, its annotations, and the speakers of its conversations.

    `speakers` has the names of both speakers of each conversation, in the order of the collections. `packages` has the
    items of each package, named as by `item_of`. `texts` has a value for each conversation that identifies the part of
    its text that is shown. Only measures of turns need `turns`. `is_import` says that annotations came from a file.
    `declared_headline` is None if nobody chose the measure that ranks bots.
    """

    campaign_id: UUID
    campaign: str
    domain: str
    complete: bool
    questions: Mapping[str, MeasuredQuestion]
    declared_headline: str | None
    annotations: Sequence[AnnotationOut]
    packages: Mapping[UUID, frozenset[Hashable]]
    speakers: Mapping[UUID, tuple[str, str]]
    texts: Mapping[UUID, str]
    turns: Mapping[UUID, ShownTurns]
    is_import: bool

    @property
    def headline(self) -> str:
        """The measure by which bots are ranked. The campaign has measures."""
        return self.declared_headline or headline_of(self.questions)

    @property
    def clusters(self) -> frozenset[str]:
        """A hash of each annotator, and of each text that annotators saw."""
        people = {f"annotator {each.annotator}" for each in self.annotations}
        shown = {conversation for each in self.annotations for conversation in _shown(each)}
        texts = {f"text {self.texts[conversation]}" for conversation in shown if conversation in self.texts}
        return frozenset(hashlib.sha256(each.encode()).hexdigest() for each in people | texts)


def item_of(conversation_id: UUID, right: UUID | None) -> Hashable:
    """Return a name for the content of one item of a package: a conversation, or two conversations side by side."""
    return conversation_id if right is None else (conversation_id, right)


@dataclass(frozen=True)
class MeasuredSample:
    """The annotations of a campaign that pass a filter, in an order that does not depend on their ids."""

    campaign: MeasuredCampaign
    annotations: Sequence[AnnotationOut]

    @classmethod
    def take(cls, campaign: MeasuredCampaign, filter_: Filter) -> "MeasuredSample":
        """Return the annotations that pass the filter.

        Annotations of conversations with unknown speakers are left out.
        """
        annotations = campaign.annotations
        if filter_ == "complete_packages":
            given = [(each.package_id, each.annotator, _item(each)) for each in annotations]
            kept = finished_packages(campaign.packages, given).tolist()
            annotations = [each for each, keep in zip(annotations, kept, strict=True) if keep]
        place = {conversation: at for at, conversation in enumerate(campaign.speakers)}
        known = [each for each in annotations if all(shown in place for shown in _shown(each))]
        known.sort(key=lambda each: ([place[shown] for shown in _shown(each)], each.exchanges, each.annotator))
        return cls(campaign, known)

    @property
    def counts(self) -> Counts:
        """Return how many data there are."""
        by_kind = annotators_by_kind((each.annotator, each.annotator_kind) for each in self.annotations)
        return Counts(
            conversations=len(self.campaign.speakers),
            annotated_conversations=len(self._annotated),
            annotations=len(self.annotations),
            annotators=by_kind.total(),
            segments=len({(_item(each), each.exchanges) for each in self.annotations}),
            simulated_annotators=by_kind[AnnotatorKind.SIMULATED],
            judges=by_kind[AnnotatorKind.JUDGE],
        )

    @property
    def repeated_texts(self) -> tuple[RepeatedTexts, ...]:
        """Return the pairs of speakers whose conversations repeat texts."""
        spoken = ((self.campaign.speakers[each], self.text_of(each)) for each in self._annotated)
        return find_repeated_texts(spoken)

    @property
    def sha256(self) -> str:
        """Return a fingerprint of speakers, annotators and answers."""
        digest = hashlib.sha256()
        for each in self.annotations:
            names = [self.campaign.speakers[shown] for shown in _shown(each)]
            digest.update(repr((names, each.exchanges, each.annotator, sorted(each.answer.items()))).encode())
        return digest.hexdigest()

    def text_of(self, conversation: UUID) -> Hashable:
        """Return a value that is equal for conversations with the same text."""
        return self.campaign.texts.get(conversation, (conversation,))

    @property
    def measures(self) -> Mapping[str, Measure]:
        """Return the measures by their names, in the order of the protocol's questions."""
        return {name: each.measure for name, each in self.campaign.questions.items()}

    def values(self, name: str) -> Values:
        """Return the values of a measure; raises KeyError if the campaign has no measure of this name."""
        rows = [row for each in self.annotations for row in self._rows(name, each)]
        return Values.of(self.campaign.questions[name].measure, rows)

    def joint_values(self, names: Sequence[str]) -> Values:
        """Return the values of measures of one scale together; what one measure says of a unit is a unit of its own."""
        rows = [
            row._replace(unit=(name, row.unit))
            for each in self.annotations
            for name in names
            for row in self._rows(name, each)
        ]
        return Values.of(self.campaign.questions[names[0]].measure, rows)

    def rated(self, name: str) -> Iterator[RatedValue]:
        """Yield the values of a measure for a table of values; raises KeyError as `values` does."""
        for each in self.annotations:
            elapsed = elapsed_ms_of(each, is_import=self.campaign.is_import)
            seconds = math.nan if elapsed is None else elapsed / 1000
            yield from rated_values(self._rows(name, each), seconds if 0 <= seconds <= LONGEST_SECONDS else math.nan)

    @property
    def shown_texts(self) -> Iterator[tuple[str, str]]:
        """Yield annotated conversations with their texts, as far as these are known."""
        for each in self._annotated:
            if each in self.campaign.texts:
                yield str(each), self.campaign.texts[each]

    def _rows(self, name: str, annotation: AnnotationOut) -> Iterator[Row]:
        question = self.campaign.questions[name]
        read = _preferred if question.measure.kind == "preference" else _rated
        return read(self._items[_item(annotation)], question, annotation)

    @cached_property
    def _items(self) -> Mapping[Hashable, ShownItem]:
        """Return what was shown by the names of items."""
        items: dict[Hashable, ShownItem] = {}
        for each in self.annotations:
            if _item(each) not in items:
                shown = _shown(each)
                items[_item(each)] = ShownItem.of(
                    conversations=[*map(str, shown)],
                    texts=[*map(self.text_of, shown)],
                    speakers=[self.campaign.speakers[conversation] for conversation in shown],
                    turns=self.campaign.turns.get(each.conversation_id),
                )
        return items

    @cached_property
    def _annotated(self) -> Sequence[UUID]:
        return [*dict.fromkeys(shown for each in self.annotations for shown in _shown(each))]


def _rated(item: ShownItem, question: MeasuredQuestion, annotation: AnnotationOut) -> Iterator[Row]:
    annotator, kind, exchanges = annotation.annotator, annotation.annotator_kind, str(annotation.exchanges)
    for target, value in question.numbers(annotation.answer).items():
        sides, number = sides_of(question, target, item.turns)
        for side in sides:
            conversation, text, bot, turn = item.sides[side]
            unit = (item.name, exchanges, target, side)
            turn = str(number) if number >= 0 else turn
            yield Row(unit, text, annotator, bot, value, conversation, turn, exchanges, annotator_kind=kind)


def _preferred(item: ShownItem, question: MeasuredQuestion, annotation: AnnotationOut) -> Iterator[Row]:
    value = question.numbers(annotation.answer).get("A")
    if value is None:
        return
    exchanges, (first, second) = str(annotation.exchanges), item.opponents or (None, None)
    one, other = item.sides["A"], item.sides["B"]
    yield Row(
        unit=(item.name, exchanges),
        text=(one.text, other.text),
        annotator=annotation.annotator,
        bot=first,
        value=value,
        conversation=one.conversation,
        exchanges=exchanges,
        other=second,
        other_conversation=other.conversation,
        annotator_kind=annotation.annotator_kind,
    )


def _item(annotation: AnnotationOut) -> Hashable:
    return item_of(annotation.conversation_id, annotation.right.conversation_id if annotation.right else None)


def _shown(annotation: AnnotationOut) -> tuple[UUID, ...]:
    right = annotation.right
    return (annotation.conversation_id,) if right is None else (annotation.conversation_id, right.conversation_id)
