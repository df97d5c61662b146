"""Collections: their requests, their costs, and their progress."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Literal, Self
from uuid import UUID

from pydantic import Field, model_validator

from spotthebot.contracts.conversations.chats import ChatSettings, HumanBotIn, Question
from spotthebot.contracts.conversations.ids import Mode
from spotthebot.contracts.conversations.openings import HumanPool, Opening, OpeningSettings, PersonaPool
from spotthebot.contracts.conversations.partner_sets import PartnerSetRef
from spotthebot.contracts.names import ReadableName
from spotthebot.contracts.wire import Domain, Wire

MAX_CONVERSATIONS = 500_000
"""The limit of conversations in one collection: three times the published bipartite-play."""


class StopRules(Wire):
    """Rules that end a conversation before its last exchange. None applies by default."""

    farewell: bool = Field(default=False, description="Both sides said goodbye, one after the other.")
    repeated: int | None = Field(
        default=None, ge=2, le=100, description="A side said the same thing this many times running."
    )
    empty: int | None = Field(
        default=None, ge=1, le=100, description="A bot had nothing to say, asked this many times at one turn."
    )


Version = Annotated[int, Field(ge=1, lt=2**31)]
Priority = Annotated[int, Field(ge=-100, le=100, description="Higher goes first; collections of one priority share.")]


class PlanSettings(Wire):
    """How bots talk to each other: the settings that a request and a file both have."""

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


def plan_faults(
    plan: PlanSettings,
    mode: str,
    opening: OpeningSettings | None,
    bots: Sequence[object],
    partners: Sequence[object] = (),
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield each fault of a plan: the place of a value that contradicts another value, and the reason.

    `bots` and `partners` are ids in a request, or names in a file.
    """
    for key, named in (("bots", bots), ("partners", partners)):
        for number, bot in enumerate(named):
            if bot in named[:number]:
                yield (key, number), f"'{bot}' is named twice: name each bot once"
    for number, bot in enumerate(partners):
        if bot in bots:
            yield ("partners", number), f"'{bot}' is a target and a partner: it would talk to itself; name it once"
    if plan.order == "target_first" and mode != "bipartite":
        yield ("order",), f"target_first is for bipartite: in {mode} there is no target; choose both or first"
    if opening is not None and opening.utterances > 2 * plan.exchanges:
        reason = (
            f"the opening of {opening.utterances} utterances is longer than the conversation of {2 * plan.exchanges} "
            "turns: take fewer, or ask for more exchanges"
        )
        yield ("opening", "take"), reason


class _Planned(PlanSettings):
    """The fields of every plan in which bots talk."""

    mode: str
    bots: tuple[UUID, ...]
    name: ReadableName
    domain: Domain
    opening: Opening | None = None
    humans: HumanPool | None = Field(default=None, description="Human-human conversations to mix in.")
    priority: Priority = 0

    @model_validator(mode="after")
    def _values_go_together(self) -> Self:
        for _, fault in plan_faults(self, self.mode, self.opening, self.bots, self._partner_ids()):
            raise ValueError(fault)
        return self

    def _partner_ids(self) -> tuple[UUID, ...]:
        return ()


class SelfPlayIn(_Planned):
    """Each bot talks to itself: i bots x 1 x `conversations_per_pair` (Sato et al. 2022, section 3)."""

    mode: Literal["self_play"]
    bots: tuple[UUID, ...] = Field(min_length=1, max_length=1000)


class AllPlayAllIn(_Planned):
    """Every pair of bots talks; a bot never talks to itself."""

    mode: Literal["all_play_all"]
    bots: tuple[UUID, ...] = Field(min_length=2, max_length=100)


class TargetVersion(Wire):
    """The version in which a target speaks."""

    bot_id: UUID
    version: Version


class BipartiteIn(_Planned):
    """Each target talks to the same partners: i targets x k partners x j (Sato et al. 2022, section 3)."""

    mode: Literal["bipartite"]
    bots: tuple[UUID, ...] = Field(min_length=1, max_length=100, description="The targets.")
    partners: Annotated[tuple[UUID, ...], Field(min_length=1, max_length=200)] | PartnerSetRef = Field(
        description="Bots, or a partner set by name and version."
    )
    versions: tuple[TargetVersion, ...] = Field(
        default=(), max_length=100, description="Versions in which targets speak; others speak in their newest."
    )

    def _partner_ids(self) -> tuple[UUID, ...]:
        return () if isinstance(self.partners, PartnerSetRef) else self.partners


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
    """The state of a collection."""

    COLLECTING = "collecting"
    PAUSED = "paused"
    """No turn is requested. Replies to pending requests are still stored."""
    CANCELLED = "cancelled"
    COMPLETE = "complete"
    """All conversations have ended: complete, failed or cancelled."""


ENDED: Final = frozenset({CollectionState.COMPLETE, CollectionState.CANCELLED})


class CollectionOut(Wire):
    """A collection and its progress."""

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
    """The plan of a collection's conversations; fields that its mode does not use are null."""

    mode: str
    held_as: str | None = Field(description="Of an import: the mode its conversations were held in, where it is known.")
    exchanges: int | None = Field(description="Of each conversation between bots; null where none is planned.")
    conversations_per_pair: int | None
    bots: tuple[UUID, ...] = Field(max_length=1000, description="In bipartite, the targets.")
    partners: Annotated[tuple[UUID, ...], Field(max_length=200)] | PartnerSetRef | None
    versions: tuple[TargetVersion, ...] = Field(max_length=100, description="Of targets that speak in a named version.")
    order: str | None
    opening: Opening | None
    humans: HumanPool | None
    stop: StopRules | None
    questions: tuple[Question, ...] | None = Field(
        max_length=50, description="Of chats: what people rate of each conversation."
    )
    seed: int | None
    chats: ChatSettings | None = Field(description="How people chat with the bots; null where they don't.")
    personas: PersonaPool | None = Field(description="Of chats: whom person and bot play; null: anyone.")


class BotWarningOut(Wire):
    """A problem of a participating bot. The collection starts despite it."""

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
    """A started collection, with warnings about its bots."""

    warnings: _Warnings


class CollectionChangesIn(Wire):
    """Changes of a collection. Fields that are left out stay unchanged."""

    name: ReadableName | None = None
    priority: Priority | None = None


class EstimateOut(Wire):
    """The estimated cost of a collection."""

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
