"""A chat as its pages see it: the person, the next step, and the ratings given so far."""

import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Literal, Self
from urllib.parse import unquote
from uuid import UUID

from spotthebot.contracts.conversations.chat_entries import PersonsChatOut
from spotthebot.contracts.conversations.chats import ChatOut, ChatRatingsIn, ChatState, ConversationRatingIn

_LINK: Final = "chat-link"
_ENTRY: Final = re.compile(r"[?&]entry=([^&\s]+)")


@dataclass(frozen=True)
class ChatPerson:
    """A person who chats in a collection, as the sealed cookie of their browser records it.

    `link` is the name of the link that the person opened last; `until` is the end of that link. `most` is the number of
    people who may chat by the link, 0 for any number. `is_shared` says that people can invent ids for the link.
    `scores` are the ratings of finished conversations, by number and in the order of the questions. The cookie keeps
    them until the end, because the service takes all ratings of a chat at once.
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
        """Return the person after they opened another link.

        The chat and its scores are kept. The old code is kept if the new link has no code.
        """
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
        """Return the person with the scores of another conversation added."""
        return replace(self, scores={**self.scores, number: tuple(scores)})


@dataclass(frozen=True)
class ChatLink:
    """The content of a sealed link into a collection.

    The link is for the person `interactor`, or for all people whose id is in the URL's parameter `parameter`. `most` is
    the number of people who may chat by the link, 0 for any number. If the link has a `key`, the panel must sign the
    ids.
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
        """Whether people can open the link with ids that they invent."""
        return not (self.interactor or self.key)

    def is_signed(self, interactor: str, signature: str) -> bool:
        """Return whether the signature of an id is valid. It is the HMAC-SHA256 of the id in hexadecimal.

        Always true for a link without a key.
        """
        if not self.key:
            return True
        expected = hmac.new(self.key.encode(), interactor.encode(), hashlib.sha256).hexdigest()
        return hmac.compare_digest(signature.lower().encode(), expected.encode())

    @property
    def name(self) -> str:
        """The link's name in requests that revoke it: the SHA-256 of its content.

        The sealed text can't be the name, because each sealing of the same content returns another text.
        """
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
        """Return the link with this content; None if the content belongs to something other than a link."""
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
    """Return the sealed text of the link in a line. The line may begin with a person's id."""
    found = _ENTRY.search(text)
    return unquote(found[1]) if found else ""


class Step(StrEnum):
    """The next step of a person in a chat."""

    TALK = "talk"
    RATE = "rate"
    """Rate the conversation that is over, before the next one begins."""
    COMPARE = "compare"
    SEND = "send"
    """Send the ratings: the person has answered all questions."""
    FINISHED = "finished"
    ABANDONED = "abandoned"


@dataclass(frozen=True)
class Next:
    """The next step, and the number of the conversation that it concerns."""

    step: Step
    number: int = 0


def next_of(chat: ChatOut, scores: Mapping[int, Sequence[int]]) -> Next:
    """Return a person's next step, given the scores so far. Conversations that broke off are not rated."""
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
    """Return the chat that a returning person continues: the last chat that was not abandoned.

    If all chats were abandoned, return the last of them; None if there is no chat.
    """
    kept = [each for each in chats if each.state is not ChatState.ABANDONED] or chats
    return kept[-1].id if kept else None


def ratings_of(
    chat: ChatOut,
    scores: Mapping[int, Sequence[int]],
    *,
    preferred: Literal[1, 2] | None = None,
    preferences: Mapping[str, Literal[1, 2] | None] = MappingProxyType({}),
) -> ChatRatingsIn:
    """Return all ratings of a chat as a request to the service. `preferences` is by question."""
    names = [each.name for each in chat.questions]
    rated = [each.number for each in chat.conversations if not each.broken_off and each.number in scores]
    return ChatRatingsIn(
        conversations=tuple(
            ConversationRatingIn(number=number, scores=dict(zip(names, scores[number], strict=True)))
            for number in rated
        ),
        preferred=preferred,
        preferences=dict(preferences),
    )
