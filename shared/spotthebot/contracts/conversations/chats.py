"""Chats of people with bots: requests, the view of a frontend, and ratings. They never name the bot."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Final, Literal, Self
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.conversations.conversations import Participant
from spotthebot.contracts.conversations.openings import PersonaPool
from spotthebot.contracts.names import ReadableName
from spotthebot.contracts.terms import ConsentText, Currency, Instructions, PayAmount
from spotthebot.contracts.turns import MAX_TURNS
from spotthebot.contracts.wire import Domain, Text, Wire, Words

_Key = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,49}$")]
SCORES: Final = range(1, 6)
MAX_CONVERSATIONS_PER_PERSON: Final = 1000
Score = Annotated[int, Field(ge=SCORES[0], le=SCORES[-1], description="1 is least, 5 is most.")]


class Question(Wire):
    """A statement about a conversation, rated from 1 (least) to 5 (most)."""

    name: _Key = Field(description="What results call it.")
    text: Annotated[Text, StringConstraints(min_length=1, max_length=500)] = Field(description="What people read.")
    comparison: Annotated[Text, StringConstraints(min_length=1, max_length=500)] | None = Field(
        default=None, description="The words that ask which of two conversations was better; null: `text`."
    )


DIALOGUE_LIKERT = tuple(
    Question(
        name=adjective.replace(" ", "_"),
        text=f"To what degree was this conversation {words}?",
        comparison=f"Which conversation was {more}?",
    )
    for adjective, words, more in (
        ("grammatical", "grammatical", "more grammatical"),
        (
            "relevant",
            "relevant: did your partner respond to what you said",
            "more relevant: in which did your partner respond better to what you said",
        ),
        ("informative", "informative", "more informative"),
        ("emotion aware", "emotion aware", "more emotion aware"),
        ("engaging", "engaging", "more engaging"),
        ("consistent", "consistent", "more consistent"),
        (
            "proactive",
            "proactive: did your partner carry the conversation on",
            "more proactive: in which did your partner carry the conversation on more",
        ),
        ("quality", "of high quality, all in all", "of higher quality, all in all"),
    )
)
"""The eight dialogue-level dimensions of ABC-Eval (Finch, Finch and Choi 2023, section 3 and Table 3).

Its interactors rate each conversation in them, and then choose the better of two conversations in each.
"""


class Compares(StrEnum):
    """How a person compares two conversations; "neither was better" is always possible."""

    OVERALL = "overall"
    EACH_QUESTION = "each_question"
    """For each question, and all in all."""


class ChatOpening(Wire):
    """How each conversation of people with bots begins.

    First words become the conversation's opening, as utterances of a corpus do in conversations between bots: they are
    shown as its first turn, and are not counted among the words of the side that begins.
    """

    begins: Literal["person", "bot"] = Field(default="person", description="Who has the first turn.")
    first_words: Words | None = Field(
        default=None,
        description="The first turn, the same in every conversation; null: the side that begins chooses.",
    )


class ChatSettings(Wire):
    """How people chat with bots: the settings that a request and a file both have."""

    bots_per_chat: int = Field(default=2, ge=1, le=2, description="Bots that a person talks to and compares.")
    minimum_turns: int = Field(
        default=30,
        ge=2,
        le=1000,
        description="Turns of both together, before which a person can't go on. First words count as a turn.",
    )
    maximum_turns: int = Field(
        default=60,
        ge=2,
        le=1000,
        multiple_of=2,
        description="Turns of both together, with which a conversation ends: one fewer where the bot begins, since the "
        "bot has the last turn.",
    )
    opening: ChatOpening = Field(default=ChatOpening(), description="Who begins a conversation, and with which words.")
    conversations_per_person: int | None = Field(
        default=None,
        ge=1,
        le=MAX_CONVERSATIONS_PER_PERSON,
        description="Conversations that one person may begin, whatever becomes of them; null: any number.",
    )
    questions: tuple[Question, ...] = Field(
        default=DIALOGUE_LIKERT, min_length=1, max_length=50, description="What people rate of each conversation."
    )
    compares: Compares = Field(
        default=Compares.OVERALL,
        description="Whether people say which of two conversations was better all in all, or also for each question.",
    )
    instructions: Instructions = Field(default="", description="What people read before they begin.")
    consent: ConsentText = Field(
        default="", description="What people consent to before they begin; empty: they are not asked."
    )
    pay_per_chat: PayAmount | None = Field(default=None, description="What a person gets for a chat that they rated.")
    currency: Currency | None = Field(default=None, description="Of the pay: ISO 4217, such as EUR.")
    abandoned_after_seconds: int = Field(
        default=1800, ge=1, le=604_800, description="Time without a word after which a chat counts as abandoned."
    )
    seed: int = Field(default=0, ge=0, lt=2**31, description="Of the draw of bots.")

    def pay_for(self, chats: int) -> Decimal | None:
        """Return what a person gets for these rated chats; None if nothing is paid."""
        return None if self.pay_per_chat is None else self.pay_per_chat * chats


def chat_faults(settings: ChatSettings, bots: Sequence[object]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield each fault of the settings: the place of a value that contradicts another value, and the reason.

    `bots` are ids in a request, or names in a file.
    """
    for number, bot in enumerate(bots):
        if bot in bots[:number]:
            yield ("bots", number), f"'{bot}' is named twice: name each bot once"
    each = settings.bots_per_chat
    if len(bots) < each:
        yield ("bots",), f"each chat is with {each} bots: name at least as many, or lower bots_per_chat"
    if settings.compares is Compares.EACH_QUESTION and each == 1:
        reason = "there is nothing to compare in a chat with one bot: set bots_per_chat to 2, or leave out compares"
        yield ("compares",), reason
    if settings.minimum_turns > settings.maximum_turns:
        yield ("minimum_turns",), "minimum_turns must be at most maximum_turns"
    elif settings.opening.begins == "bot" and settings.minimum_turns == settings.maximum_turns:
        yield ("minimum_turns",), "minimum_turns must be below maximum_turns where the bot begins"
    if (most := settings.conversations_per_person) is not None and most < each:
        reason = f"a chat has {each} conversations: set conversations_per_person to {each} or more"
        yield ("conversations_per_person",), reason
    if (settings.pay_per_chat is None) != (settings.currency is None):
        yield (
            ("pay_per_chat" if settings.currency is None else "currency",),
            "give both pay_per_chat and currency, or neither",
        )
    if len({question.name for question in settings.questions}) < len(settings.questions):
        yield ("questions",), "two questions have the same name: rename one"


class HumanBotIn(ChatSettings):
    """A collection in which people talk to several bots one after the other. It accepts chats until it is finished."""

    mode: Literal["human_bot"]
    name: ReadableName
    domain: Domain
    bots: tuple[UUID, ...] = Field(min_length=1, max_length=100)
    personas: PersonaPool | None = Field(default=None, description="Whom both play; neither learns the other's.")

    @model_validator(mode="after")
    def _values_go_together(self) -> Self:
        for _, fault in chat_faults(self, self.bots):
            raise ValueError(fault)
        return self


class ChatState(StrEnum):
    """The state of a chat."""

    CHATTING = "chatting"
    RATING = "rating"
    """All conversations are over; the person's ratings are missing."""
    RATED = "rated"
    ABANDONED = "abandoned"


class ChatTurnIn(Wire):
    """The person's utterance, and the conversation partner whom it is meant for."""

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
    turns: tuple[ChatTurn, ...] = Field(max_length=MAX_TURNS, description="The opening first.")
    opening: int = Field(description="How many of the turns are words that the collection gives.")
    persona: str | None = Field(description="Whom the person plays; null: anyone.")


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
    compares: Compares = Field(description="Whether `preferred` is asked for, or `preferences`, too.")
    asks_consent: bool = Field(description="Whether the collection asks people for a consent, which they may withdraw.")
    last_event: int = Field(description="Give it as `Last-Event-ID` for what happens from here on.")


class ConversationRatingIn(Wire):
    """A person's ratings of one conversation of a chat."""

    number: int = Field(ge=1, description="Which conversation, counted from 1.")
    scores: dict[_Key, Score] = Field(max_length=50, description="A score for each question, by its name.")


class ChatRatingsIn(Wire):
    """A person's ratings of a chat. A conversation that was broken off may be left out."""

    conversations: tuple[ConversationRatingIn, ...] = Field(max_length=2)
    preferred: Literal[1, 2] | None = Field(default=None, description="Which was better; null: neither.")
    preferences: dict[_Key, Literal[1, 2] | None] = Field(
        default={},
        max_length=50,
        description="Which was better for each question, by its name; null: neither. Only where the collection "
        "compares `each_question`.",
    )


class RatedConversationOut(Wire):
    """A conversation with a person's scores.

    There are no scores if it was broken off and the person did not rate it.
    """

    conversation_id: UUID
    participant: Participant = Field(description="The bot.")
    scores: dict[str, int] = Field(max_length=50)


class ChatRatingOut(Wire):
    """A person's ratings of a chat, with the bots."""

    chat_id: UUID
    interactor: str = Field(description="The person's pseudonym; of a program its name.")
    interactor_kind: AnnotatorKind
    conversations: tuple[RatedConversationOut, ...] = Field(
        max_length=100, description="In the order in which they were held."
    )
    preferred: UUID | None = Field(description="The conversation that was better; null where neither was.")
    preferences: dict[str, UUID | None] = Field(
        max_length=50,
        description="The conversation that was better for each question; null where neither was. Empty where the "
        "collection does not ask, and where a conversation broke off.",
    )
    rated_at: datetime


class ChatSummaryOut(Wire):
    """A chat as the operator sees it."""

    id: UUID
    interactor: str = Field(description="The person's pseudonym; of a program its name.")
    interactor_kind: AnnotatorKind
    person: str | None = Field(description="What the frontend calls the person; null for all but administrators.")
    link: str | None = Field(description="The link by which the person came, as its frontend calls it.")
    state: ChatState
    bots: tuple[UUID, ...] = Field(max_length=100, description="Who was drawn, in the order of the conversations.")
    conversations: tuple[UUID, ...] = Field(max_length=100, description="Those that have begun.")
    created_at: datetime
    last_turn_at: datetime
