"""A person's chat as its pages see it: who the person is, what comes next, and the ratings given so far."""

import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, Self
from urllib.parse import unquote
from uuid import UUID

from spotthebot.contracts.conversations.chats import (
    ChatOut,
    ChatRatingsIn,
    ChatState,
    ConversationRatingIn,
    PersonsChatOut,
    Question,
)

_LINK: Final = "chat-link"
_ENTRY: Final = re.compile(r"[?&]entry=([^&\s]+)")
SCORES: Final = range(1, 6)


@dataclass(frozen=True)
class ChatPerson:
    """Who chats in a collection: what their browser's cookie holds.

    `link` is the name of the link by which they came last, and `until` its end. `most` people may chat by the link, any
    number where it is 0; `is_shared` says that they can make up ids. `scores` are those of conversations that are over,
    in the order of the questions: the service takes ratings at the end, all at once, and nothing may be lost before.
    """

    collection_id: UUID
    interactor: str
    link: str
    until: datetime
    code: str = ""
    most: int = 0
    is_shared: bool = False
    chat_id: UUID | None = None
    scores: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    def to_session(self) -> dict[str, str]:
        return {
            "collection_id": str(self.collection_id),
            "interactor": self.interactor,
            "code": self.code,
            "link": self.link,
            "until": self.until.isoformat(),
            "most": str(self.most),
            "shared": "yes" if self.is_shared else "",
            "chat_id": str(self.chat_id or ""),
            "scores": ",".join(f"{number}={''.join(map(str, each))}" for number, each in self.scores.items()),
        }

    @classmethod
    def from_session(cls, content: Mapping[str, str]) -> Self:
        rated = [each.split("=") for each in content["scores"].split(",") if each]
        return cls(
            collection_id=UUID(content["collection_id"]),
            interactor=content["interactor"],
            code=content["code"],
            link=content["link"],
            until=datetime.fromisoformat(content["until"]),
            most=int(content["most"]),
            is_shared=bool(content["shared"]),
            chat_id=UUID(content["chat_id"]) if content["chat_id"] else None,
            scores={int(number): tuple(map(int, digits)) for number, digits in rated},
        )

    def coming_by(self, link: "ChatLink") -> Self:
        """Return the person as they come by another link; their chat, its scores and a code that it lacks stay."""
        return replace(
            self,
            code=link.code or self.code,
            link=link.name,
            until=link.until,
            most=link.most,
            is_shared=link.takes_any_id,
        )

    def has_current_link(self, now: datetime) -> bool:
        return now <= self.until

    def with_scores(self, number: int, scores: Sequence[int]) -> Self:
        """Return the person with the scores of one more conversation."""
        return replace(self, scores={**self.scores, number: tuple(scores)})


@dataclass(frozen=True)
class ChatLink:
    """What a link into a collection holds, sealed: for one person, or for those whom `parameter` of the URL names.

    `most` people may chat by it, any number where it is 0. With a `key` the panel signs ids.
    """

    collection_id: UUID
    until: datetime
    interactor: str = ""
    parameter: str = ""
    code: str = ""
    most: int = 0
    key: str = ""

    @property
    def takes_any_id(self) -> bool:
        """Whether people can come by it with ids that they make up."""
        return not (self.interactor or self.key)

    def is_signed(self, interactor: str, signature: str) -> bool:
        """Say whether an id may come by the link; the signature is HMAC-SHA256 of the id in hexadecimal."""
        if not self.key:
            return True
        expected = hmac.new(self.key.encode(), interactor.encode(), hashlib.sha256).hexdigest()
        return hmac.compare_digest(signature.lower().encode(), expected.encode())

    @property
    def name(self) -> str:
        """What the link is called where it is revoked: SHA-256 of what it holds, since sealed texts of it differ."""
        return hashlib.sha256(json.dumps(self.to_content(), sort_keys=True).encode()).hexdigest()

    def to_content(self) -> dict[str, str]:
        return {
            "kind": _LINK,
            "collection_id": str(self.collection_id),
            "until": self.until.isoformat(),
            "interactor": self.interactor,
            "parameter": self.parameter,
            "code": self.code,
            "most": str(self.most),
            "key": self.key,
        }

    @classmethod
    def from_content(cls, content: Mapping[str, str]) -> Self | None:
        """Return the link, or None where the content is that of something else."""
        if content.get("kind") != _LINK:
            return None
        return cls(
            collection_id=UUID(content["collection_id"]),
            until=datetime.fromisoformat(content["until"]),
            interactor=content["interactor"],
            parameter=content["parameter"],
            code=content["code"],
            most=int(content["most"]),
            key=content["key"],
        )


def entry_in(text: str) -> str:
    """Return the sealed text of a link that stands in a line, perhaps behind a person's id."""
    found = _ENTRY.search(text)
    return unquote(found[1]) if found else ""


class Step(StrEnum):
    """What a person does next."""

    TALK = "talk"
    RATE = "rate"
    """The conversation that is over, before the next one."""
    COMPARE = "compare"
    SEND = "send"
    """Nothing more is asked: the ratings are sent."""
    FINISHED = "finished"
    ABANDONED = "abandoned"


@dataclass(frozen=True)
class Next:
    """What comes next, and the number of the conversation that it is about."""

    step: Step
    number: int = 0


def next_of(chat: ChatOut, scores: Mapping[int, Sequence[int]]) -> Next:
    """Return what a person does next, given the scores so far; a conversation that broke off is not rated."""
    if chat.state is ChatState.RATED:
        return Next(Step.FINISHED)
    if chat.state is ChatState.ABANDONED:
        return Next(Step.ABANDONED)
    for each in chat.conversations:
        if each.over and not each.broken_off and each.number not in scores:
            return Next(Step.RATE, each.number)
    if chat.state is ChatState.CHATTING:
        return Next(Step.TALK, chat.conversations[-1].number)
    rated = [each for each in chat.conversations if not each.broken_off]
    return Next(Step.COMPARE if len(rated) > 1 else Step.SEND)


def latest_of(chats: Sequence[PersonsChatOut]) -> UUID | None:
    """Return the chat that a person goes on with where they come again: the last that was not abandoned, if any."""
    kept = [each for each in chats if each.state is not ChatState.ABANDONED] or chats
    return kept[-1].id if kept else None


def read_scores(typed: Mapping[str, str], questions: Sequence[Question]) -> tuple[dict[str, int], list[Question]]:
    """Return the scores that were chosen, by question, and the questions that have none."""
    chosen = {each.name: typed.get(f"score.{each.name}", "") for each in questions}
    scores = {name: int(text) for name, text in chosen.items() if text in {str(score) for score in SCORES}}
    return scores, [each for each in questions if each.name not in scores]


def ratings_of(chat: ChatOut, scores: Mapping[int, Sequence[int]], preferred: Literal[1, 2] | None) -> ChatRatingsIn:
    """Return all ratings as the service takes them."""
    names = [each.name for each in chat.questions]
    rated = [each.number for each in chat.conversations if not each.broken_off and each.number in scores]
    return ChatRatingsIn(
        conversations=tuple(
            ConversationRatingIn(number=number, scores=dict(zip(names, scores[number], strict=True)))
            for number in rated
        ),
        preferred=preferred,
    )
