"""Collections: what is asked for, what it would cost, and how far it is."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, model_validator

from spotthebot.contracts.conversations.chats import HumanBotIn
from spotthebot.contracts.conversations.ids import Mode
from spotthebot.contracts.conversations.partner_sets import PartnerSetRef
from spotthebot.contracts.names import ReadableName
from spotthebot.contracts.wire import Domain, Split, Wire

MAX_CONVERSATIONS = 500_000
"""Conversations that one collection may hold: three times the published bipartite-play."""

_OPENING_UTTERANCES = {"first_utterance": 1, "first_exchange": 2, "first_two_utterances": 2}


class Opening(Wire):
    """How conversations begin: utterances of people, drawn from a corpus without replacement until all were used."""

    corpus_id: UUID
    split: Split = "openings"
    take: Literal["first_utterance", "first_exchange", "first_two_utterances"] | Annotated[int, Field(ge=1, le=20)] = (
        Field(default="first_exchange", description="Or a number of utterances.")
    )
    shown: bool = Field(default=False, description="Whether annotators see the opening.")

    @property
    def utterances(self) -> int:
        return self.take if isinstance(self.take, int) else _OPENING_UTTERANCES[self.take]


class HumanPool(Wire):
    """Dialogues of a corpus that become human-human conversations, drawn from those as long as the bots'."""

    corpus_id: UUID
    split: Split = "openings"
    conversations: int = Field(ge=1, le=100_000)


class StopRules(Wire):
    """What ends a conversation before its last exchange; nothing does unless it is asked for."""

    farewell: bool = Field(default=False, description="Both sides said goodbye, one after the other.")
    repeated: int | None = Field(
        default=None, ge=2, le=100, description="A side said the same thing this many times running."
    )
    empty: int | None = Field(
        default=None, ge=1, le=100, description="A bot had nothing to say, asked this many times at one turn."
    )


Priority = Annotated[int, Field(ge=-100, le=100, description="Higher goes first; collections of one priority share.")]


class PlanSettings(Wire):
    """How bots talk, whether a request or a file plans it."""

    exchanges: int = Field(ge=1, le=100, description="An exchange is a turn of each; the opening is not counted.")
    conversations_per_pair: int = Field(ge=1, le=100_000, description="How often two talk to each other.")
    order: Literal["both", "first", "target_first"] = Field(
        default="both",
        description=(
            "`both`: each bot begins half of a pair's conversations; `first`: the one named first always does; "
            "`target_first`: in bipartite, the target always does."
        ),
    )
    stop: StopRules = Field(
        default=StopRules(), description="What ends a conversation early; nothing does unless it is asked for."
    )
    seed: int = Field(
        default=0, ge=0, lt=2**31, description="Same seed, same plan: the same openings in the same places."
    )


class _Planned(PlanSettings):
    """The fields of every plan by which bots talk."""

    name: ReadableName
    domain: Domain
    opening: Opening | None = None
    humans: HumanPool | None = Field(default=None, description="Human-human conversations to mix in.")
    priority: Priority = 0

    @model_validator(mode="after")
    def _the_opening_is_shorter(self) -> "_Planned":
        if self.opening and self.opening.utterances > 2 * self.exchanges:
            message = (
                f"the opening of {self.opening.utterances} utterances is longer than the conversation of "
                f"{2 * self.exchanges} turns: take fewer, or ask for more exchanges"
            )
            raise ValueError(message)
        return self

    def _no_bot_twice(self, bots: tuple[UUID, ...], mode: str) -> None:
        if len(set(bots)) < len(bots):
            message = f"a bot is named twice: in {mode} that would count it twice; name each bot once"
            raise ValueError(message)


class SelfPlayIn(_Planned):
    """Each bot talks to itself: i bots x 1 x `conversations_per_pair` (Sato et al. 2022, section 3)."""

    mode: Literal["self_play"]
    bots: tuple[UUID, ...] = Field(min_length=1, max_length=1000)

    @model_validator(mode="after")
    def _bots_differ(self) -> "SelfPlayIn":
        self._no_bot_twice(self.bots, self.mode)
        if self.order == "target_first":
            message = "order target_first is for bipartite: in self_play there is no target"
            raise ValueError(message)
        return self


class AllPlayAllIn(_Planned):
    """Every pair of bots talks; a bot never talks to itself."""

    mode: Literal["all_play_all"]
    bots: tuple[UUID, ...] = Field(min_length=2, max_length=100)

    @model_validator(mode="after")
    def _bots_differ(self) -> "AllPlayAllIn":
        if len(set(self.bots)) < len(self.bots):
            message = "a bot is named twice: in all_play_all a bot does not talk to itself; name each bot once"
            raise ValueError(message)
        if self.order == "target_first":
            message = "order target_first is for bipartite: in all_play_all there is no target"
            raise ValueError(message)
        return self


class BipartiteIn(_Planned):
    """Each target talks to the same partners: i targets x k partners x j (Sato et al. 2022, section 3)."""

    mode: Literal["bipartite"]
    bots: tuple[UUID, ...] = Field(min_length=1, max_length=100, description="The targets.")
    partners: Annotated[tuple[UUID, ...], Field(min_length=1, max_length=200)] | PartnerSetRef = Field(
        description="Bots, or a partner set by name and version."
    )

    @model_validator(mode="after")
    def _bots_differ(self) -> "BipartiteIn":
        self._no_bot_twice(self.bots, self.mode)
        if not isinstance(self.partners, PartnerSetRef):
            self._no_bot_twice(self.partners, self.mode)
            if both := set(self.bots) & set(self.partners):
                message = f"the bot {min(both)} is a target and a partner: it would talk to itself; name it once"
                raise ValueError(message)
        return self


class ImportIn(Wire):
    """A collection whose conversations were held elsewhere and are uploaded in batches."""

    mode: Literal["import"]
    name: ReadableName
    domain: Domain
    held_as: Mode | None = Field(
        default=None, description="The mode they were held in; null: the first exported conversation uploaded says it."
    )
    cancelled: bool = Field(
        default=False, description="Whether the collection was cancelled where it was held: it is cancelled here, too."
    )


PlannedIn = Annotated[SelfPlayIn | AllPlayAllIn | BipartiteIn, Field(discriminator="mode")]
CollectionIn = Annotated[SelfPlayIn | AllPlayAllIn | BipartiteIn | HumanBotIn | ImportIn, Field(discriminator="mode")]


class CollectionState(StrEnum):
    """Where a collection stands."""

    COLLECTING = "collecting"
    PAUSED = "paused"
    """No turn is requested; replies to pending requests are still stored."""
    CANCELLED = "cancelled"
    COMPLETE = "complete"
    """All conversations have ended, each in its own way."""


class CollectionOut(Wire):
    """A collection and how far it is."""

    id: UUID
    name: str
    domain: str
    mode: str
    state: CollectionState
    priority: int
    conversations: int
    complete: int
    failed: int
    cancelled: int
    waiting: int = Field(description="Conversations that wait for an unavailable bot.")
    turns: int
    turns_planned: int = Field(description="Turns there will be if no conversation ends early.")
    rate_turns_per_second: float | None = Field(description="Over the last minute; null where nothing was said in it.")
    seconds_left: float | None = Field(
        description="At that rate; null where there is none, and while conversations wait for an unavailable bot."
    )
    created_at: datetime
    finished_at: datetime | None


class CollectionPlanOut(Wire):
    """How a collection's conversations are held, as far as its mode says so."""

    mode: str
    held_as: str | None = Field(description="Of an import: the mode its conversations were held in, where it is known.")
    exchanges: int | None = Field(description="Of each conversation between bots; null where none is planned.")
    conversations_per_pair: int | None
    bots: tuple[UUID, ...] = Field(max_length=1000, description="In bipartite, the targets.")
    partners: Annotated[tuple[UUID, ...], Field(max_length=200)] | PartnerSetRef | None
    order: str | None
    opening: Opening | None
    humans: HumanPool | None
    stop: StopRules | None
    seed: int | None


class BotWarningOut(Wire):
    """What to know of a bot that takes part, which keeps nothing from starting."""

    bot: str
    kind: Literal["failing", "paused", "other_domain"]
    detail: str = Field(description="A sentence for people.")


_Warnings = Annotated[
    tuple[BotWarningOut, ...],
    Field(
        max_length=2 * 1200,
        description="Bots that are failing, whose conversations wait, and bots that are registered for other domains.",
    ),
]


class StartedCollectionOut(CollectionOut):
    """A collection as it was started, and what to know of its bots."""

    warnings: _Warnings


class CollectionChangesIn(Wire):
    """What may change while a collection goes on."""

    priority: Priority


class EstimateOut(Wire):
    """What a collection would cost."""

    conversations: int
    turns: int = Field(description="Replies of bots; people's dialogues are there already.")
    by_people: int = Field(description="Human-human conversations among them.")
    too_short: int = Field(
        description="Dialogues of `humans` that are never drawn, as they are shorter than the bots' conversations."
    )
    seconds: float | None = Field(
        description=(
            "At the latencies of the bots' last probes and within their limits, at best; null where a bot was never "
            "measured."
        )
    )
    slowest_bot: str | None = Field(description="Whose limits decide the time.")
    warnings: _Warnings
