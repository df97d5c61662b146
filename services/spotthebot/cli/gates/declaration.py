"""A gate's file: the keys of an evaluation with two versions in place of its bots, and the margin."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from spotthebot.cli.collections.declaration import Bot, Partners
from spotthebot.cli.collections.declaration_file import contradictions
from spotthebot.cli.declarations.declared import Contradictions, Declared, Form, read_declared
from spotthebot.cli.declarations.yaml_file import Place
from spotthebot.cli.evaluations.declaration import ScoredPlan
from spotthebot.cli.evaluations.declaration_file import INSIDE, PlayMode, collection_in
from spotthebot.contracts.conversations.collections import Version
from spotthebot.contracts.conversations.partner_sets import PartnerSetRef
from spotthebot.contracts.levels import MAX_LEVEL
from spotthebot.contracts.wire import Wire

LEAST_PAIRS: Final = 5
"""With fewer conversations or openings a mean difference has no bounds (`fed.stats.bot_scores.MIN_CLUSTERS`)."""
_EXAMPLES: list[JsonValue] = [
    {
        "name": "our-bot-gate",
        "domain": "everyday",
        "old": {"bot": "our-bot", "version": 1},
        "new": {"bot": "our-bot"},
        "margin": 0.1,
        "partners": {"set": "diverse", "version": 1},
        "exchanges": 5,
        "conversations_per_pair": 20,
        "opening": {"corpus": "sample", "take": "first_two_utterances"},
        "scorer": {"model": "scorer", "dimensions": ["overall"]},
    }
]


class BotVersion(Wire):
    """A bot in one of its versions."""

    bot: Bot
    version: Version | None = Field(default=None, description="Its number; nothing: the bot's newest version.")


class GateDeclaration(ScoredPlan):
    """A gate for `./stb gate`: two versions of a bot, and how they are compared."""

    model_config = ConfigDict(title="Gate", json_schema_extra={"examples": _EXAMPLES})

    old: BotVersion = Field(description="The version to compare with.")
    new: BotVersion = Field(description="The version to test: of the same bot, or another bot.")
    partners: Partners = Field(description="Bots, which are kept as a partner set, or such a set by name and version.")
    margin: float = Field(
        default=0.0, ge=0, allow_inf_nan=False, description="A loss up to this much, in units of the score, may pass."
    )
    confidence_level: float = Field(
        default=0.95, gt=0.5, le=MAX_LEVEL, description="Of the bounds: one minus the share of false alarms."
    )


DeclaredGate: TypeAlias = Declared[GateDeclaration]
_PLACES: Final[Mapping[Place, Place]] = {("bots", 0): ("old", "bot"), ("bots", 1): ("new", "bot")}
"""Where the file has the bots of the collection's declaration."""
_INSIDE: Final[Mapping[Place, type[BaseModel]]] = {**INSIDE, ("old",): BotVersion, ("new",): BotVersion}


def read_gate(path: Path) -> DeclaredGate:
    """Read a gate's file; raises DeclarationFaulty with all faults of the file."""
    form = Form(
        GateDeclaration,
        _contradictory,
        page='"Gate a new version of a bot" in the documentation',
        example="name: our-bot-gate",
        inside=_INSIDE,
    )
    return replace(read_declared(path, form), in_file=lambda place: _PLACES.get(place, place))


def _contradictory(request: GateDeclaration) -> Contradictions:
    if request.old == request.new:
        yield ("new",), "it is the same version as old: name another version, or another bot."
        return
    for role, versioned in (("old", request.old), ("new", request.new)):
        plan = collection_in(request, mode=PlayMode.BIPARTITE.value, bots=(versioned.bot,))
        for place, reason in contradictions(plan):
            yield (role if place[:1] == ("bots",) else place[0], *place[1:]), reason
    if isinstance(request.partners, PartnerSetRef):
        return
    planned = len(request.partners) * request.conversations_per_pair
    if planned < LEAST_PAIRS:
        yield ("conversations_per_pair",), f"it makes {planned} conversations, and a test needs {LEAST_PAIRS} or more."
