"""Reads an evaluation's file, and makes the declaration of its collection."""

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import BaseModel

from spotthebot.cli.collections.declaration import Declaration, OpeningFrom
from spotthebot.cli.collections.declaration_file import CollectionDeclared, contradictions
from spotthebot.cli.declarations.declared import Contradictions, Declared, Form, read_declared
from spotthebot.cli.declarations.yaml_file import Place
from spotthebot.cli.evaluations.declaration import EvaluationDeclaration, ScorerFrom
from spotthebot.contracts.conversations.collections import StopRules
from spotthebot.contracts.conversations.partner_sets import PartnerSetRef


class PlayMode(StrEnum):
    """The mode of play, which decides which bots converse with each other."""

    SELF_PLAY = "self_play"
    ALL_PLAY_ALL = "all_play_all"
    BIPARTITE = "bipartite"


DeclaredEvaluation: TypeAlias = Declared[EvaluationDeclaration]
_INSIDE: Mapping[Place, type[BaseModel]] = {
    ("opening",): OpeningFrom,
    ("partners",): PartnerSetRef,
    ("stop",): StopRules,
    ("scorer",): ScorerFrom,
}
_OF_EVALUATIONS: Final = {"scorer", "resamples", "confidence_level"}


def read_evaluation(path: Path, mode: PlayMode) -> DeclaredEvaluation:
    """Read an evaluation's file for a mode of play; raises DeclarationFaulty with all faults of the file."""

    def contradictory(request: EvaluationDeclaration) -> Contradictions:
        partners = request.partners if mode is PlayMode.BIPARTITE else ()
        yield from contradictions(_collection(request, mode=mode.value, partners=partners))

    form = Form(
        EvaluationDeclaration, contradictory, page="docs/bipartite-play.md", example="name: league-1", inside=_INSIDE
    )
    return read_declared(path, form)


def collection_of(declared: DeclaredEvaluation, **changes: object) -> CollectionDeclared:
    """Return the declaration of the evaluation's collection.

    Its hash does not depend on how the collection is scored.
    """
    request = _collection(declared.request, **changes)
    sha256 = hashlib.sha256(request.model_dump_json().encode()).hexdigest()
    return Declared(request, declared.file, sha256)


def _collection(request: EvaluationDeclaration, **changes: object) -> Declaration:
    given = {name: getattr(request, name) for name in request.model_fields_set - _OF_EVALUATIONS}
    return Declaration(**{"mode": PlayMode.BIPARTITE.value, **given, **changes})
