"""The form of a collection's file, and what one of its keys demands of another."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import BaseModel

from spotthebot.cli import declarations
from spotthebot.cli.collections.declaration import Declaration, OpeningFrom, PartnerSet, PeopleFrom
from spotthebot.cli.declarations import Contradictions, Form, Place, read_declared
from spotthebot.contracts.conversations.collections import StopRules

Declared: TypeAlias = declarations.Declared[Declaration]
_INSIDE: Mapping[Place, type[BaseModel]] = {
    ("opening",): OpeningFrom,
    ("humans",): PeopleFrom,
    ("partners",): PartnerSet,
    ("stop",): StopRules,
}
_UTTERANCES = {"first_utterance": 1, "first_exchange": 2, "first_two_utterances": 2}


def read_declaration(path: Path) -> Declared:
    """Read a collection's file; raises DeclarationFaulty with everything that is wrong with it."""
    return read_declared(path, _FORM)


def contradictions(request: Declaration) -> Contradictions:
    """Yield what of a collection can't stand together."""
    yield from _wrong_for_the_mode(request)
    yield from _named_twice(request)
    if request.opening is not None:
        take = request.opening.take
        utterances = take if isinstance(take, int) else _UTTERANCES[take]
        if utterances > 2 * request.exchanges:
            reason = f"{utterances} utterances are longer than the conversation of {2 * request.exchanges} turns."
            yield ("opening", "take"), f"{reason} Take fewer, or ask for more exchanges."


def _wrong_for_the_mode(request: Declaration) -> Contradictions:
    mode = request.mode
    if mode == "all_play_all" and len(request.bots) < 2:
        yield ("bots",), "all_play_all needs two bots at least: add one, or choose mode self_play."
    if mode == "bipartite":
        if not request.partners:
            yield ("partners",), "bipartite needs partners: name bots, or {set: NAME, version: N}."
        return
    if request.partners:
        yield ("partners",), f"in {mode} there are no partners: leave them out, or choose mode bipartite."
    if request.order == "target_first":
        yield ("order",), f"target_first is for bipartite: in {mode} there is no target; choose both or first."


def _named_twice(request: Declaration) -> Contradictions:
    partners = () if isinstance(request.partners, PartnerSet) else request.partners
    for key, names in (("bots", request.bots), ("partners", partners)):
        for number, name in enumerate(names):
            if name in names[:number]:
                yield (key, number), f"'{name}' is named twice: name each bot once."
    for number, name in enumerate(partners):
        if name in request.bots:
            yield ("partners", number), f"'{name}' is a target, too: it would talk to itself; name it once."


_FORM: Final = Form(
    Declaration,
    contradictions,
    page="docs/collecting.md",
    example="name: everyday-1",
    inside=_INSIDE,
)
