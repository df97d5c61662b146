"""People who talk to bots: what is asked for, what a frontend sees, and how they rate. No word of which bot it is."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from spotthebot.contracts.conversations.conversations import Participant
from spotthebot.contracts.names import ReadableName
from spotthebot.contracts.turns import MAX_TURNS
from spotthebot.contracts.wire import Domain, ExternalId, Text, Wire, Words

_Key = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,49}$")]
Score = Annotated[int, Field(ge=1, le=5, description="1 is least, 5 is most.")]


class Question(Wire):
    """A statement about a conversation, rated from 1 (least) to 5 (most)."""

    name: _Key
    text: Annotated[Text, StringConstraints(min_length=1, max_length=500)]


DIALOGUE_LIKERT = tuple(
    Question(name=adjective.replace(" ", "_"), text=f"To what degree was this conversation {words}?")
    for adjective, words in (
        ("grammatical", "grammatical"),
        ("relevant", "relevant: did your partner respond to what you said"),
        ("informative", "informative"),
        ("emotion aware", "emotion aware"),
        ("engaging", "engaging"),
        ("consistent", "consistent"),
        ("proactive", "proactive: did your partner carry the conversation on"),
        ("quality", "of high quality, all in all"),
    )
)
"""The eight dialogue-level Likert dimensions of ABC-Eval (Finch, Finch and Choi 2023, section 3)."""


class HumanBotIn(Wire):
    """People talk to bots, to some of them one after the other; open for chats until it is finished."""

    mode: Literal["human_bot"]
    name: ReadableName
    domain: Domain
    bots: tuple[UUID, ...] = Field(min_length=1, max_length=100)
    bots_per_chat: int = Field(default=2, ge=1, le=2, description="Bots that a person talks to and compares.")
    minimum_turns: int = Field(
        default=30, ge=2, le=1000, description="Turns of both together, before which a person can't go on."
    )
    maximum_turns: int = Field(
        default=60, ge=2, le=1000, multiple_of=2, description="Turns of both together, with which a conversation ends."
    )
    questions: tuple[Question, ...] = Field(default=DIALOGUE_LIKERT, min_length=1, max_length=50)
    abandoned_after_seconds: int = Field(
        default=1800, ge=1, le=604_800, description="Time without a word after which a chat counts as abandoned."
    )
    seed: int = Field(default=0, ge=0, lt=2**31)

    @model_validator(mode="after")
    def _is_sound(self) -> "HumanBotIn":
        if len(set(self.bots)) < len(self.bots):
            message = "a bot is named twice: name each bot once"
            raise ValueError(message)
        if len(self.bots) < self.bots_per_chat:
            message = f"each chat is with {self.bots_per_chat} bots: name at least as many, or lower bots_per_chat"
            raise ValueError(message)
        if self.minimum_turns > self.maximum_turns:
            message = "minimum_turns must be at most maximum_turns"
            raise ValueError(message)
        if len({question.name for question in self.questions}) < len(self.questions):
            message = "two questions have the same name: rename one"
            raise ValueError(message)
        return self


class ChatIn(Wire):
    """A person who wants to chat; `interactor` is what the frontend calls them, always the same."""

    collection_id: UUID
    interactor: ExternalId
    link: ExternalId | None = Field(
        default=None,
        description="What the frontend calls the link by which the person came; one that was revoked begins no chat.",
    )
    max_people: int | None = Field(
        default=None, ge=1, le=100_000, description="How many people may chat by the link; null: any number."
    )
    address: Annotated[Text, StringConstraints(max_length=100)] | None = Field(
        default=None,
        description="The person's network address, where the link is for many: new people from one address are "
        "limited. It is not kept.",
    )


class PersonsChatOut(Wire):
    """One of a person's chats in a collection."""

    id: UUID
    state: "ChatState"
    created_at: datetime


class LinkRevocationIn(Wire):
    """A link by which nobody may come any more, as its frontend calls it."""

    link: ExternalId


class ChatLinkOut(Wire):
    """A link by which people came to chat, or that was revoked."""

    link: str = Field(description="What its frontend calls it.")
    people: int = Field(description="How many people began a chat by it.")
    chats: int
    revoked_at: datetime | None


class ChatLinksOut(Wire):
    """The links into a collection's chats, the most used first."""

    links: tuple[ChatLinkOut, ...] = Field(max_length=1000)


class RevokedLinkOut(Wire):
    """A link by which nobody may come any more."""

    link: str
    revoked_at: datetime


class ChatTokenOut(Wire):
    """A person's access to one chat, for a browser; shown once, and valid for no other chat."""

    token: str = Field(description="Sent as a bearer token; for events, where a browser can send none, in the URL.")
    expires_at: datetime


class ChatState(StrEnum):
    """Where a chat stands."""

    CHATTING = "chatting"
    RATING = "rating"
    """All conversations are over: ratings are waited for."""
    RATED = "rated"
    ABANDONED = "abandoned"


class ChatTurnIn(Wire):
    """What the person says, and to which partner."""

    number: int = Field(
        ge=1, description="The conversation that the turn belongs to: `number` of the one that goes on."
    )
    text: Words


class ChatTurn(Wire):
    """One utterance."""

    speaker: Literal["you", "partner"]
    text: str


class ChatConversationOut(Wire):
    """One conversation of a chat."""

    number: int = Field(description="Counts from 1.")
    over: bool
    broken_off: bool = Field(description="Whether it is over because the partner did not answer.")
    turns: tuple[ChatTurn, ...] = Field(max_length=MAX_TURNS)


class ChatOut(Wire):
    """A chat as the person sees it."""

    id: UUID
    state: ChatState
    conversations: tuple[ChatConversationOut, ...] = Field(
        max_length=100, description="Up to the one that goes on, which is the last."
    )
    partners: int = Field(description="How many conversations there will be.")
    minimum_turns: int
    maximum_turns: int
    awaits_reply: bool = Field(description="Whether the partner is to speak next.")
    may_advance: bool = Field(description="Whether the person may go on to the next partner.")
    questions: tuple[Question, ...] = Field(max_length=50, description="What is to be rated of each conversation.")
    last_event: int = Field(description="Give it as `Last-Event-ID` for what happens from here on.")


class ConversationRatingIn(Wire):
    """How a person rates one conversation of a chat."""

    number: int = Field(ge=1, description="Which conversation, counted from 1.")
    scores: dict[_Key, Score] = Field(max_length=50, description="A score for each question, by its name.")


class ChatRatingsIn(Wire):
    """How a person rates a chat; a conversation that was broken off may be left out."""

    conversations: tuple[ConversationRatingIn, ...] = Field(max_length=2)
    preferred: Literal[1, 2] | None = Field(default=None, description="Which was better; null: neither.")


class RatedConversationOut(Wire):
    """A conversation with a person's scores; none where it was broken off and not rated."""

    conversation_id: UUID
    participant: Participant = Field(description="The bot.")
    scores: dict[str, int] = Field(max_length=50)


class ChatRatingOut(Wire):
    """How a person rated a chat, with the bots."""

    chat_id: UUID
    interactor: str = Field(description="The person's pseudonym.")
    conversations: tuple[RatedConversationOut, ...] = Field(
        max_length=100, description="In the order in which they were held."
    )
    preferred: UUID | None = Field(description="The conversation that was better; null where neither was.")
    rated_at: datetime


class ChatSummaryOut(Wire):
    """A chat as the operator sees it."""

    id: UUID
    interactor: str = Field(description="The person's pseudonym.")
    person: str | None = Field(description="What the frontend calls the person; null for all but administrators.")
    link: str | None = Field(description="The link by which the person came, as its frontend calls it.")
    state: ChatState
    bots: tuple[UUID, ...] = Field(max_length=100, description="Who was drawn, in the order of the conversations.")
    conversations: tuple[UUID, ...] = Field(max_length=100, description="Those that have begun.")
    created_at: datetime
    last_turn_at: datetime
