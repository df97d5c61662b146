"""What annotators say of a bot in a conversation, as numbers that scores can be correlated with."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from spotthebot.contracts.annotation import AnnotationOut
from spotthebot.contracts.fed.correlations import RatingSource
from spotthebot.fed.domain.score_sets import ScoredContext

_LABELS: Final = {"human": 1.0, "unsure": 0.5, "bot": 0.0}
_SIDES: Final = ("A", "B")


@dataclass
class RatedBot:
    """A bot in a conversation, or in all: its mean scores, its mean length, and its ratings by annotator."""

    conversation: str
    bot: str
    scores: Sequence[float]
    length: float
    ratings: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    @property
    def rating(self) -> float:
        """The mean over annotators of their mean ratings."""
        means = self.annotator_means.values()
        return sum(means) / len(means)

    @property
    def annotator_means(self) -> Mapping[str, float]:
        return {annotator: sum(own) / len(own) for annotator, own in self.ratings.items()}


def rating_of(answer: Mapping[str, Any], rated: RatingSource, side: int) -> float:
    """Return what an answer by `spot_the_bot` says of a side: 1 for human or preferred, 0.5 for unsure or a tie."""
    if rated == "label":
        return _LABELS[answer["entity"][_SIDES[side]]]
    preferred = answer[rated]
    return 0.5 if preferred == "tie" else float(preferred == _SIDES[side])


def rated_in_dialogues(
    contexts: Iterable[ScoredContext],
    annotations: Iterable[AnnotationOut],
    speakers: Mapping[UUID, tuple[str, str]],
    rated: RatingSource,
) -> list[RatedBot]:
    """Return the bots that were scored and rated, one item for each conversation and bot."""
    by_item: dict[tuple[UUID, str], list[ScoredContext]] = defaultdict(list)
    for each in contexts:
        by_item[each.conversation_id, each.bot].append(each)
    items = {
        key: RatedBot(
            str(key[0]),
            key[1],
            [sum(column) / len(own) for column in zip(*(each.scores for each in own), strict=True)],
            sum(each.length for each in own) / len(own),
        )
        for key, own in by_item.items()
    }
    for annotation in annotations:
        for side, name in enumerate(speakers.get(annotation.conversation_id, ())):
            item = items.get((annotation.conversation_id, name))
            if item is not None:
                item.ratings[annotation.annotator].append(rating_of(annotation.answer, rated, side))
    return [item for item in items.values() if item.ratings]


def rated_as_systems(items: Sequence[RatedBot]) -> list[RatedBot]:
    """Return one item for each bot: means over its dialogues."""
    merged: dict[str, list[RatedBot]] = defaultdict(list)
    for item in items:
        merged[item.bot].append(item)
    systems = []
    for bot, own in sorted(merged.items()):
        system = RatedBot(
            bot,
            bot,
            [sum(column) / len(own) for column in zip(*(each.scores for each in own), strict=True)],
            sum(each.length for each in own) / len(own),
        )
        for item in own:
            for annotator, ratings in item.ratings.items():
                system.ratings[annotator] += ratings
        systems.append(system)
    return systems
