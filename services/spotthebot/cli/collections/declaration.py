"""The keys of a collection's file.

The file refers to resources by name, the API by id. All other fields are the API's.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Discriminator, Field, JsonValue, Tag

from spotthebot.contracts.conversations.collections import PlanSettings, Priority, Version
from spotthebot.contracts.conversations.openings import HumanPoolSettings, OpeningSettings, PersonaPoolSettings
from spotthebot.contracts.conversations.partner_sets import PartnerSetRef
from spotthebot.contracts.wire import Domain, Name

_EXAMPLES: list[JsonValue] = [
    {
        "name": "everyday-1",
        "domain": "everyday",
        "mode": "all_play_all",
        "bots": ["retrieval", "ngram", "dull"],
        "exchanges": 5,
        "conversations_per_pair": 4,
        "order": "both",
        "opening": {"corpus": "sample", "split": "openings", "take": "first_exchange", "shown": True},
        "seed": 7,
    },
    {
        "name": "targets-1",
        "domain": "everyday",
        "mode": "bipartite",
        "bots": ["our-bot"],
        "partners": {"set": "everyday-partners", "version": 1},
        "exchanges": 5,
        "conversations_per_pair": 10,
        "order": "target_first",
    },
]

Bot = Annotated[
    Name,
    Field(
        description=(
            "Name, id or beginning of the id of a registered bot; a built-in model (retrieval, ngram, eliza, stray, "
            "parrot, dull) is registered when it is named first."
        )
    ),
]
Corpus = Annotated[
    Name, Field(description="Name or id (or its beginning) of a corpus; `sample` is uploaded when it is named first.")
]


Partners = Annotated[
    Annotated[tuple[Bot, ...], Field(max_length=200), Tag("a list")] | Annotated[PartnerSetRef, Tag("a set")],
    Discriminator(lambda partners: "a set" if isinstance(partners, Mapping | PartnerSetRef) else "a list"),
]


class OpeningFrom(OpeningSettings):
    """Utterances of people that conversations begin with, drawn without replacement until all were used.

    Or the same first words for all.
    """

    corpus: Corpus | None = Field(default=None, description="Where the utterances come from; null with first_words.")


class PeopleFrom(HumanPoolSettings):
    """Dialogues of people that become human-human conversations of the collection."""

    corpus: Corpus


class PersonasFrom(PersonaPoolSettings):
    """Dialogues whose personas are drawn for chats."""

    corpus: Corpus


class Declaration(PlanSettings):
    """A collection of conversations for `./stb collect`."""

    model_config = ConfigDict(title="Collection", json_schema_extra={"examples": _EXAMPLES})

    name: Name = Field(description="What the collection is called.")
    domain: Domain = Field(description="What is talked about, such as `everyday`.")
    mode: Literal["self_play", "all_play_all", "bipartite"] = Field(
        description=(
            "Who talks to whom: each bot to itself, every pair of bots, or each of `bots` (the targets) to each of "
            "`partners`."
        )
    )
    bots: tuple[Bot, ...] = Field(
        min_length=1, max_length=1000, description="Who takes part; in bipartite, the targets."
    )
    partners: Partners = Field(default=(), description="In bipartite only: bots, or a partner set by name and version.")
    versions: dict[Bot, Version] = Field(
        default={}, max_length=100, description="In bipartite only: versions in which targets speak, by name in `bots`."
    )
    opening: OpeningFrom | None = Field(default=None, description="How conversations begin; nothing: with a bot.")
    humans: PeopleFrom | None = Field(default=None, description="Human-human conversations to mix in.")
    priority: Priority = 0
