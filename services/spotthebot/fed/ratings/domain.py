"""People's ratings of a bot in a conversation, or of one of its turns, as numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from spotthebot.contracts.annotation.annotations import AnnotationOut
from spotthebot.contracts.annotation.measures import MeasuredQuestion, ShownTurns, sides_of
from spotthebot.contracts.conversations.chats import ChatRatingOut

_SIDES: Final = "AB"


@dataclass(frozen=True)
class Rating:
    """One rating of a bot in a conversation, or of one turn.

    A rated turn is the last turn of a context of `end` turns.
    """

    conversation_id: UUID
    bot: str
    annotator: str
    value: float
    end: int | None = None


def ratings_in_campaign(
    annotations: Iterable[AnnotationOut],
    question: MeasuredQuestion,
    speakers: Mapping[UUID, tuple[str, str]],
    shown: Mapping[UUID, ShownTurns],
) -> list[Rating]:
    """Return the annotators' answers to a question as ratings, for conversations whose speakers are known.

    Only a question about turns needs `shown`. A rating of a whole dialogue counts for each side that the protocol asks
    about.
    """
    found = []
    for each in annotations:
        names = dict(zip(_SIDES, speakers.get(each.conversation_id, ()), strict=False))
        turns = shown.get(each.conversation_id)
        for target, value in question.numbers(each.answer).items():
            sides, number = sides_of(question, target, turns)
            end = None if turns is None or number < 0 else turns.opening + number + 1
            found += [
                Rating(each.conversation_id, names[side], each.annotator, value, end) for side in sides if side in names
            ]
    return found


def ratings_of_chats(chats: Iterable[ChatRatingOut], question: str) -> list[Rating]:
    """Return the ratings by people who chatted with bots: each person is an annotator of their own chats."""
    return [
        Rating(each.conversation_id, each.participant.name, chat.interactor, float(each.scores[question]))
        for chat in chats
        for each in chat.conversations
        if question in each.scores
    ]
