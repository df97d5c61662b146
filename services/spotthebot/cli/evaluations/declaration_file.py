"""The form of an evaluation's file, and the collection that it asks for."""

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import BaseModel

from spotthebot.cli import collections, declarations
from spotthebot.cli.collections.declaration import Declaration, OpeningFrom, PartnerSet
from spotthebot.cli.declarations import Contradictions, Form, Place, read_declared
from spotthebot.cli.evaluations.declaration import EvaluationDeclaration, ScorerFrom
from spotthebot.contracts.conversations.collections import StopRules


class PlayMode(StrEnum):
    """Who talks to whom."""

    SELF_PLAY = "self_play"
    ALL_PLAY_ALL = "all_play_all"
    BIPARTITE = "bipartite"


DeclaredEvaluation: TypeAlias = declarations.Declared[EvaluationDeclaration]
_INSIDE: Mapping[Place, type[BaseModel]] = {
    ("opening",): OpeningFrom,
    ("partners",): PartnerSet,
    ("stop",): StopRules,
    ("scorer",): ScorerFrom,
}
_OF_EVALUATIONS: Final = {"scorer", "resamples", "confidence_level"}


def read_evaluation(path: Path, mode: PlayMode) -> DeclaredEvaluation:
    """Read an evaluation's file for a mode of play; raises DeclarationFaulty with everything that is wrong with it."""

    def contradictory(request: EvaluationDeclaration) -> Contradictions:
        partners = request.partners if mode is PlayMode.BIPARTITE else ()
        yield from collections.contradictions(_collection(request, mode=mode.value, partners=partners))

    form = Form(EvaluationDeclaration, contradictory, page="docs/fed.md", example="name: league-1", inside=_INSIDE)
    return read_declared(path, form)


def collection_of(declared: DeclaredEvaluation, **changes: object) -> collections.Declared:
    """Return the collection that an evaluation asks for; its identity is what it says, not how it is scored."""
    request = _collection(declared.request, **changes)
    sha256 = hashlib.sha256(request.model_dump_json().encode()).hexdigest()
    return declarations.Declared(request, declared.file, sha256)


def _collection(request: EvaluationDeclaration, **changes: object) -> Declaration:
    given = {name: getattr(request, name) for name in request.model_fields_set - _OF_EVALUATIONS}
    return Declaration(**{"mode": PlayMode.BIPARTITE.value, **given, **changes})
