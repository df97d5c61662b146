"""Chats of people with bots: which bots are drawn, how a reply continues a chat, which ratings are complete."""

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from spotthebot.contracts.conversations.chats import ChatRatingsIn, ChatState, HumanBotIn
from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.contracts.conversations.conversations import ConversationState, Participant
from spotthebot.contracts.conversations.ids import CollectionId
from spotthebot.conversations.chats.errors import RatingsIncomplete
from spotthebot.conversations.conversations.domain import CHAT_WAITS_SECONDS, Conversation, Reply, Step, fail, step
from spotthebot.kit.crypto.pseudonyms import name_in_exports
from spotthebot.kit.errors import FieldError

DELAYED = "Your partner needs a little longer."
BROKEN_OFF = "Your partner can't go on. That is not your fault; please go on with what comes next."

TRANSITIONS: Final[Mapping[ChatState, frozenset[ChatState]]] = MappingProxyType(
    {
        ChatState.CHATTING: frozenset({ChatState.RATING, ChatState.ABANDONED}),
        ChatState.RATING: frozenset({ChatState.RATED}),
        ChatState.RATED: frozenset({ChatState.RATED}),
        ChatState.ABANDONED: frozenset(),
    }
)
"""The states that may follow each state; ratings may be sent again."""
OPEN: Final = frozenset({ChatState.CHATTING, ChatState.RATING})

Drawn = frozenset[UUID]
"""The bots of a chat, in any order."""


def states_before(state: ChatState) -> frozenset[ChatState]:
    """Return the states from which a chat may come to `state`."""
    return frozenset(before for before, following in TRANSITIONS.items() if state in following)


@dataclass(frozen=True)
class Study:
    """A collection that people chat in; `partners` are its bots as they were when it was opened."""

    id: CollectionId
    state: CollectionState
    plan: HumanBotIn
    partners: Mapping[UUID, Participant]


@dataclass(frozen=True)
class Chat:
    """A person's conversations with the bots that were drawn, as far as they have begun."""

    id: UUID
    collection_id: CollectionId
    interactor: str
    link: str | None
    state: ChatState
    bots: tuple[UUID, ...]
    conversations: tuple[UUID, ...]
    events: int
    ratings: ChatRatingsIn | None
    created_at: datetime
    last_turn_at: datetime
    rated_at: datetime | None

    @property
    def has_next(self) -> bool:
        return len(self.conversations) < len(self.bots)

    @property
    def is_open(self) -> bool:
        """Whether the person has something left to do in it."""
        return self.state in OPEN


@dataclass(frozen=True)
class UsedLink:
    """A link by which people came, how many they are, how many chats they began, and since when it is revoked."""

    link: str
    people: int
    chats: int
    revoked_at: datetime | None


@dataclass(frozen=True)
class AwaitedReply:
    """A turn of a bot that a person waits for: it follows `turns` others."""

    chat_id: UUID
    conversation_id: UUID
    turns: int


@dataclass(frozen=True)
class RatedConversation:
    """A conversation with a bot, counted from 1, and the scores by question; none where it was broken off."""

    id: UUID
    number: int
    participant: Participant
    scores: Mapping[str, int]


@dataclass(frozen=True)
class RatedChat:
    """How a person rated a chat, here or where it was imported from; `preferred` counts conversations from 1."""

    id: UUID
    interactor: str
    conversations: tuple[RatedConversation, ...]
    preferred: int | None
    rated_at: datetime


@dataclass(frozen=True)
class ChatEvent:
    """Something that happened in a chat; events are numbered from 1 in each chat."""

    number: int
    kind: str
    data: Mapping[str, Any]


def draw(
    plan: HumanBotIn, *, used: Mapping[Drawn, int], seen: Collection[Drawn], chats: int
) -> Iterable[tuple[UUID, ...]]:
    """Yield the bots for a chat, the best choice first: not seen by this person, used least, then by lot.

    Bots that this person has talked to come again only when all have been; the seed and the number of chats so far
    decide the lot and who comes first.
    """
    lot = random.Random(f"{plan.seed}/{chats}")  # noqa: S311 - a reproducible draw, no secret
    choices = [frozenset(each) for each in combinations(plan.bots, plan.bots_per_chat)]
    lot.shuffle(choices)
    choices.sort(key=lambda choice: (choice in seen, used.get(choice, 0)))
    for choice in choices:
        order = sorted(choice)
        lot.shuffle(order)
        yield tuple(order)


def step_in_chat(conversation: Conversation, reply: Reply) -> tuple[Step, float | None]:
    """Return the step that a bot's reply leads to in a chat, and the seconds before a retry, None without one."""
    found = step(conversation, reply)
    if found.text is not None:
        return found, None
    if conversation.attempts >= len(CHAT_WAITS_SECONDS):
        return fail(conversation, reply.reason), None
    again = replace(conversation, attempts=conversation.attempts + 1)
    return Step(conversation, again), CHAT_WAITS_SECONDS[conversation.attempts]


def check_ratings(plan: HumanBotIn, conversations: Sequence[Conversation], ratings: ChatRatingsIn) -> None:
    """Raise RatingsIncomplete unless each conversation that was not broken off has a score for each question."""
    faults: list[FieldError] = []
    names = {question.name for question in plan.questions}
    rated = [each.number for each in ratings.conversations]
    for place, each in enumerate(ratings.conversations):
        pointer = f"/conversations/{place}"
        if each.number > len(conversations) or rated.index(each.number) < place:
            faults.append(FieldError(f"{pointer}/number", f"there is no other conversation {each.number} to rate"))
        unknown, missing = each.scores.keys() - names, names - each.scores.keys()
        faults += [FieldError(f"{pointer}/scores/{name}", "is not a question of this chat") for name in sorted(unknown)]
        faults += [FieldError(f"{pointer}/scores", f"'{name}' is missing") for name in sorted(missing)]
    for number, conversation in enumerate(conversations, start=1):
        if number not in rated and conversation.state is not ConversationState.FAILED:
            faults.append(FieldError("/conversations", f"conversation {number} is missing"))
    if ratings.preferred is not None and ratings.preferred > len(conversations):
        faults.append(FieldError("/preferred", f"there is no conversation {ratings.preferred}"))
    if faults:
        raise RatingsIncomplete(fields=tuple(faults))


def pseudonym_of(interactor: str, key: bytes | None) -> str:
    """Return what all but administrators call a person who chatted, under their collection's key; else their id."""
    return interactor if key is None else name_in_exports(key, interactor.encode(), interactor)
