"""Chats of people with bots: the draw of bots, the steps after replies, and the completeness of ratings."""

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.bots.replies import ReplyOut
from spotthebot.contracts.conversations.chats import ChatRatingsIn, ChatState, ChatTurn, Compares, HumanBotIn
from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.contracts.conversations.conversations import ConversationState, Participant, ParticipantKind
from spotthebot.contracts.conversations.ids import CollectionId
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.conversations.chats.errors import RatingsIncomplete
from spotthebot.conversations.conversations.domain import (
    CHAT_WAITS_SECONDS,
    Conversation,
    Step,
    fail,
    failure_reason,
    step,
)
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
"""The states that may follow each state; ratings may be replaced."""
OPEN: Final = frozenset({ChatState.CHATTING, ChatState.RATING})

Drawn = frozenset[UUID]
"""The bots of a chat, in any order."""


def states_before(state: ChatState) -> frozenset[ChatState]:
    """Return the states from which a chat may reach `state`."""
    return frozenset(before for before, following in TRANSITIONS.items() if state in following)


PERSON: Final = Participant(kind=ParticipantKind.HUMAN, name=HUMAN_NAME)


@dataclass(frozen=True)
class ChatCollection:
    """A collection of chats with people; `partners` are its bots, in their versions at its opening."""

    id: CollectionId
    state: CollectionState
    plan: HumanBotIn
    partners: Mapping[UUID, Participant]

    @property
    def turns_planned(self) -> int:
        """The number of turns of a conversation after its opening. The bot has the last turn."""
        opening = self.plan.opening
        return self.plan.maximum_turns - (opening.begins == "bot") - (opening.first_words is not None)

    def sides(self, partner: Participant) -> tuple[Participant, Participant]:
        """Return the sides of a conversation with a bot: first the side with the first turn after the opening."""
        opening = self.plan.opening
        bot_is_first = (opening.begins == "bot") is (opening.first_words is None)
        return (partner, PERSON) if bot_is_first else (PERSON, partner)


@dataclass(frozen=True)
class Chat:
    """A person's chat: the drawn bots, and the conversations that have begun."""

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
        """Whether the person still has to chat or rate."""
        return self.state in OPEN


@dataclass(frozen=True)
class BotProgress:
    """The conversations of one bot with people: by state, and how many of them were rated."""

    conversations: Mapping[str, int]
    rated: int


@dataclass(frozen=True)
class Allowance:
    """How many conversations a person has begun in a collection, and how many more chats fit; None is any number."""

    started: int
    chats_left: int | None


@dataclass(frozen=True)
class UsedLink:
    """A link: how many people entered by it, how many chats they began, and when it was revoked."""

    link: str
    people: int
    chats: int
    revoked_at: datetime | None


@dataclass(frozen=True)
class AwaitedReply:
    """A bot's turn that a person waits for, after `turns` earlier turns."""

    chat_id: UUID
    conversation_id: UUID
    turns: int


@dataclass(frozen=True)
class RatedConversation:
    """A rated conversation, counted from 1, with the scores by question.

    There are no scores if the conversation was broken off.
    """

    id: UUID
    number: int
    participant: Participant
    scores: Mapping[str, int]


@dataclass(frozen=True)
class RatedChat:
    """A person's ratings of a chat, made here or imported.

    `preferred` is a conversation's number, from 1. So are the values of `preferences`, by question.
    """

    id: UUID
    interactor: str
    interactor_kind: AnnotatorKind
    conversations: tuple[RatedConversation, ...]
    preferred: int | None
    preferences: Mapping[str, int | None]
    rated_at: datetime


@dataclass(frozen=True)
class RatingsRevision:
    """The number of a collection's rated chats, and a text that changes whenever a rating changes."""

    ratings: int
    revision: str


@dataclass(frozen=True)
class ChatEvent:
    """Something that happened in a chat; each chat numbers its events from 1."""

    number: int
    kind: str
    data: Mapping[str, Any]


def allowance(plan: HumanBotIn, theirs: Sequence[Chat]) -> Allowance:
    """Return how much of a collection a person with these chats may still do.

    A conversation counts once it has begun, also if it was abandoned or broken off: people could otherwise begin again
    and again. A chat that goes on counts in full, so that its next partner is never refused.
    """
    started = sum(len(chat.conversations) for chat in theirs)
    if plan.conversations_per_person is None:
        return Allowance(started, None)
    taken = sum(len(chat.bots if chat.is_open else chat.conversations) for chat in theirs)
    return Allowance(started, max(0, plan.conversations_per_person - taken) // plan.bots_per_chat)


def draw(
    plan: HumanBotIn,
    *,
    used: Mapping[Drawn, int],
    held: Mapping[UUID, int],
    seen: Collection[Drawn],
    chats: int,
) -> Iterable[tuple[UUID, ...]]:
    """Yield choices of bots for a chat, the best first.

    The best were not seen by this person, have the fewest conversations so far (`held`, by bot), and were `used`
    together least; the rest is drawn by lot. So all bots get about the same number of conversations.

    Bots that this person has seen come again only after all others. The seed and the number of chats so far determine
    the lot, and the order in which the person meets the bots.
    """
    lot = random.Random(f"{plan.seed}/{chats}")  # noqa: S311 - a reproducible draw, no secret
    choices = [frozenset(each) for each in combinations(plan.bots, plan.bots_per_chat)]
    lot.shuffle(choices)
    choices.sort(key=lambda each: (each in seen, sum(held.get(bot, 0) for bot in each), used.get(each, 0)))
    for choice in choices:
        order = sorted(choice)
        lot.shuffle(order)
        yield tuple(order)


def shown_turns(conversation: Conversation) -> tuple[ChatTurn, ...]:
    """Return all turns as the person sees them, the opening first."""
    person = "AB"[_side_of_person(conversation)]
    turns = (*conversation.opening_turns, *conversation.spoken_turns)
    return tuple(ChatTurn(speaker="you" if each.speaker == person else "partner", text=each.text) for each in turns)


def persona_of_person(conversation: Conversation) -> str | None:
    """Return whom the person plays; None: anyone."""
    return (conversation.personas[_side_of_person(conversation)] or None) if conversation.personas else None


def _side_of_person(conversation: Conversation) -> int:
    return 0 if conversation.participants[0].kind is ParticipantKind.HUMAN else 1


def step_in_chat(conversation: Conversation, reply: ReplyOut) -> tuple[Step, float | None]:
    """Return the step that a bot's reply leads to in a chat, and the seconds before a retry (None: no retry)."""
    found = step(conversation, reply)
    if found.text is not None:
        return found, None
    if conversation.attempts >= len(CHAT_WAITS_SECONDS):
        return fail(conversation, failure_reason(reply)), None
    again = replace(conversation, attempts=conversation.attempts + 1)
    return Step(conversation, again), CHAT_WAITS_SECONDS[conversation.attempts]


def check_ratings(plan: HumanBotIn, conversations: Sequence[Conversation], ratings: ChatRatingsIn) -> None:
    """Raise RatingsIncomplete unless all conversations that were not broken off are rated and compared.

    Each has a score for each question. A comparison needs two of them; it has a preference for each question if the
    collection asks so.
    """
    faults: list[FieldError] = []
    names = {question.name for question in plan.questions}
    rated = [each.number for each in ratings.conversations]
    for place, each in enumerate(ratings.conversations):
        pointer = f"/conversations/{place}"
        if each.number > len(conversations) or rated.index(each.number) < place:
            faults.append(FieldError(f"{pointer}/number", f"there is no other conversation {each.number} to rate"))
        faults += _faults_by_question(f"{pointer}/scores", each.scores.keys(), names, needed=True)
    for number, conversation in enumerate(conversations, start=1):
        if number not in rated and conversation.state is not ConversationState.FAILED:
            faults.append(FieldError("/conversations", f"conversation {number} is missing"))
    if ratings.preferred is not None and ratings.preferred > len(conversations):
        faults.append(FieldError("/preferred", f"there is no conversation {ratings.preferred}"))
    faults += _faults_of_preferences(plan, conversations, ratings, names)
    if faults:
        raise RatingsIncomplete(fields=tuple(faults))


def _faults_of_preferences(
    plan: HumanBotIn, conversations: Sequence[Conversation], ratings: ChatRatingsIn, names: AbstractSet[str]
) -> Iterable[FieldError]:
    if plan.compares is Compares.OVERALL:
        if ratings.preferences:
            yield FieldError("/preferences", "this collection does not ask for a comparison on each question")
        return
    held = [each for each in conversations if each.state is not ConversationState.FAILED]
    needed = len(held) > 1 or bool(ratings.preferences)
    yield from _faults_by_question("/preferences", ratings.preferences.keys(), names, needed=needed)
    for name, preferred in ratings.preferences.items():
        if preferred is not None and preferred > len(conversations):
            yield FieldError(f"/preferences/{name}", f"there is no conversation {preferred}")


def _faults_by_question(
    pointer: str, answered: AbstractSet[str], names: AbstractSet[str], *, needed: bool
) -> Iterable[FieldError]:
    yield from (FieldError(f"{pointer}/{name}", "is not a question of this chat") for name in sorted(answered - names))
    if needed:
        yield from (FieldError(pointer, f"'{name}' is missing") for name in sorted(names - answered))
