"""What people say of a bot's turn, of a bot in a conversation, or of a bot, as numbers beside its scores."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final
from uuid import UUID

from spotthebot.contracts.annotation.annotations import AnnotationOut
from spotthebot.contracts.conversations.chats import ChatRatingOut
from spotthebot.fed.domain.rated_questions import RatedQuestion
from spotthebot.fed.domain.score_sets import ScoredContext

_SIDES: Final = "AB"


@dataclass(frozen=True)
class ShownTurns:
    """The side that speaks each turn after the opening, and how many turns the opening has and shows to annotators."""

    sides: str
    opening: int
    opening_shown: int


@dataclass(frozen=True)
class Rating:
    """What somebody says of a bot in a conversation, or of the turn up to which the context has `end` turns."""

    conversation_id: UUID
    bot: str
    annotator: str
    value: float
    end: int | None = None


@dataclass
class RatedItem:
    """A turn of a bot, a bot in a conversation, or a bot in all: mean scores, mean length, and ratings by annotator.

    `cluster` is that of the conversation (`clusters_of`), or of a bot in all the bot itself.
    """

    cluster: str
    bot: str
    scores: Sequence[float]
    length: float
    ratings: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    @property
    def annotator_means(self) -> Mapping[str, float]:
        return {annotator: sum(own) / len(own) for annotator, own in self.ratings.items()}


def ratings_in_campaign(
    annotations: Iterable[AnnotationOut],
    question: RatedQuestion,
    speakers: Mapping[UUID, tuple[str, str]],
    shown: Mapping[UUID, ShownTurns],
) -> list[Rating]:
    """Return what annotators answer to a question, of the conversations whose speakers are known.

    `shown` is needed of a question per turn alone. A rating of a dialogue as a whole counts for each side that the
    protocol asks about.
    """
    found = []
    for each in annotations:
        names = dict(zip(_SIDES, speakers.get(each.conversation_id, ()), strict=False))
        for target, value in question.numbers(each.answer).items():
            if target is None:
                sides, end = [side for side in question.sides if side in names], None
            elif question.per == "turn":
                turns = shown.get(each.conversation_id)
                number = -1 if turns is None else int(target) - turns.opening_shown
                if turns is None or not 0 <= number < len(turns.sides):
                    continue  # people said what is in the opening
                sides, end = [turns.sides[number]], turns.opening + number + 1
            else:
                sides, end = [side for side in (target,) if side in names], None
            found += [Rating(each.conversation_id, names[side], each.annotator, value, end) for side in sides]
    return found


def ratings_of_chats(chats: Iterable[ChatRatingOut], question: str) -> list[Rating]:
    """Return what people who chatted with bots say of them: each person is an annotator of their own chats."""
    return [
        Rating(each.conversation_id, each.participant.name, chat.interactor, float(each.scores[question]))
        for chat in chats
        for each in chat.conversations
        if question in each.scores
    ]


def clusters_of(contexts: Iterable[ScoredContext], shown: Mapping[UUID, str]) -> dict[UUID, str]:
    """Return the cluster of each conversation: one for all of one text, and for all of which annotators see the same.

    Scores repeat with the whole text; ratings repeat with the part in `shown`, which two texts may share.
    """
    leader: dict[str, str] = {}

    def lead(text: str) -> str:
        while (above := leader.setdefault(text, text)) != text:
            leader[text] = leader[above]
            text = above
        return text

    texts = {each.conversation_id: each.text for each in contexts}
    for conversation, text in texts.items():
        if conversation in shown:
            leader[lead(text)] = lead(f"shown {shown[conversation]}")
    return {conversation: lead(text) for conversation, text in texts.items()}


def rated_in_turns(
    contexts: Iterable[ScoredContext], ratings: Iterable[Rating], clusters: Mapping[UUID, str]
) -> list[RatedItem]:
    """Return the turns that were scored and rated: the score is that of the context that ends with the turn."""
    items = {
        (each.conversation_id, each.turn): RatedItem(clusters[each.conversation_id], each.bot, each.scores, each.length)
        for each in contexts
    }
    for rating in ratings:
        item = None if rating.end is None else items.get((rating.conversation_id, rating.end))
        if item is not None:
            item.ratings[rating.annotator].append(rating.value)
    return [item for item in items.values() if item.ratings]


def rated_in_dialogues(
    contexts: Iterable[ScoredContext], ratings: Iterable[Rating], clusters: Mapping[UUID, str]
) -> list[RatedItem]:
    """Return the bots that were scored and rated, one item for each conversation and bot."""
    by_item: dict[tuple[UUID, str], list[ScoredContext]] = defaultdict(list)
    for each in contexts:
        by_item[each.conversation_id, each.bot].append(each)
    items = {
        key: RatedItem(
            clusters[key[0]],
            key[1],
            _mean_scores([each.scores for each in own]),
            sum(each.length for each in own) / len(own),
        )
        for key, own in by_item.items()
    }
    for rating in ratings:
        item = items.get((rating.conversation_id, rating.bot))
        if item is not None:
            item.ratings[rating.annotator].append(rating.value)
    return [item for item in items.values() if item.ratings]


def rated_as_systems(items: Sequence[RatedItem]) -> list[RatedItem]:
    """Return one item for each bot: means over its dialogues."""
    systems = []
    for bot, members in groupby(sorted(items, key=lambda item: item.bot), key=lambda item: item.bot):
        own = list(members)
        system = RatedItem(
            bot, bot, _mean_scores([each.scores for each in own]), sum(each.length for each in own) / len(own)
        )
        for item in own:
            for annotator, ratings in item.ratings.items():
                system.ratings[annotator] += ratings
        systems.append(system)
    return systems


def _mean_scores(rows: Sequence[Sequence[float]]) -> list[float]:
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]
