"""The keys of a collection's file: reads it, and checks its keys against each other."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, RootModel

from spotthebot.cli.collections.declaration import Bot, Declaration, OpeningFrom, PeopleFrom, PersonasFrom
from spotthebot.cli.declarations.declared import Contradictions, Declared, Form, read_declared
from spotthebot.cli.declarations.yaml_file import Place, YamlFile
from spotthebot.contracts.conversations.chats import ChatOpening, ChatSettings, Question, chat_faults
from spotthebot.contracts.conversations.collections import StopRules, plan_faults
from spotthebot.contracts.conversations.openings import opening_faults
from spotthebot.contracts.conversations.partner_sets import PartnerSetRef
from spotthebot.contracts.wire import Domain, Name

_EXAMPLES: list[JsonValue] = [
    {
        "name": "people-1",
        "domain": "everyday",
        "mode": "human_bot",
        "bots": ["our-bot", "their-bot", "eliza", "dull"],
        "conversations_per_person": 18,
        "compares": "each_question",
        "opening": {"begins": "person", "first_words": "Hi!"},
        "seed": 7,
    },
]


class ChatsDeclaration(ChatSettings):
    """A collection of chats with people for `./stb collect`."""

    model_config = ConfigDict(title="Chats", json_schema_extra={"examples": _EXAMPLES})

    name: Name = Field(description="What the collection is called.")
    domain: Domain = Field(description="What is talked about, such as `everyday`.")
    mode: Literal["human_bot"] = Field(description="People chat with bots.")
    bots: tuple[Bot, ...] = Field(min_length=1, max_length=100, description="The bots to draw from.")
    personas: PersonasFrom | None = Field(default=None, description="Whom person and bot play; nothing: anyone.")


CollectionDeclared: TypeAlias = Declared[Declaration]
ChatsDeclared: TypeAlias = Declared[ChatsDeclaration]
_PAGE: Final = '"Collect conversations" in the documentation'
_EXAMPLE: Final = "name: everyday-1"
_INSIDE: Mapping[Place, type[BaseModel]] = {
    ("opening",): OpeningFrom,
    ("humans",): PeopleFrom,
    ("partners",): PartnerSetRef,
    ("stop",): StopRules,
}


class CollectionFile(RootModel[Declaration | ChatsDeclaration]):
    """A file for `./stb collect`: conversations between bots, or chats with people."""


def read_collection_file(path: Path) -> CollectionDeclared | ChatsDeclared:
    """Read a file, whose `mode` decides its form; raises DeclarationFaulty with all its faults."""
    content = YamlFile(path, page=_PAGE).content
    has_people = isinstance(content, dict) and content.get("mode") == "human_bot"
    return read_declared(path, _CHATS) if has_people else read_declaration(path)


def read_declaration(path: Path) -> CollectionDeclared:
    """Read a collection's file; raises DeclarationFaulty with all its faults."""
    return read_declared(path, _FORM)


def contradictions(request: Declaration) -> Contradictions:
    """Yield the contradictions between keys of a collection's declaration, with their places."""
    yield from _wrong_for_the_mode(request)
    partners = () if isinstance(request.partners, PartnerSetRef) else request.partners
    if request.opening is not None:
        for key, fault in opening_faults(request.opening, request.opening.corpus):
            yield ("opening", key) if key else ("opening",), f"{fault}."
    for place, fault in plan_faults(request, request.mode, request.opening, request.bots, partners):
        yield place, f"{fault}."


def _wrong_for_the_mode(request: Declaration) -> Contradictions:
    mode = request.mode
    if mode == "all_play_all" and len(request.bots) < 2:
        yield ("bots",), "all_play_all needs two bots at least: add one, or choose mode self_play."
    if mode == "bipartite":
        if not request.partners:
            yield ("partners",), "bipartite needs partners: name bots, or {set: NAME, version: N}."
        for name in request.versions.keys() - {*request.bots}:
            yield ("versions", name), f"'{name}' is not one of the bots: name it as in `bots`."
        return
    if request.partners:
        yield ("partners",), f"in {mode} there are no partners: leave them out, or choose mode bipartite."
    if request.versions:
        yield ("versions",), f"in {mode} bots speak in their newest versions: leave it out, or choose mode bipartite."


def _contradictions_of_chats(request: ChatsDeclaration) -> Contradictions:
    for place, fault in chat_faults(request, request.bots):
        yield place, f"{fault}."


_FORM: Final = Form(Declaration, contradictions, page=_PAGE, example=_EXAMPLE, inside=_INSIDE)
_CHATS: Final = Form(
    ChatsDeclaration,
    _contradictions_of_chats,
    page=_PAGE,
    example=_EXAMPLE,
    inside={("opening",): ChatOpening, ("personas",): PersonasFrom, ("questions",): Question},
)
