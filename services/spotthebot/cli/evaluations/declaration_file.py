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
from spotthebot.cli.evaluations.declaration import EvaluationDeclaration, ScoredPlan, ScorerFrom
from spotthebot.contracts.conversations.collections import StopRules
from spotthebot.contracts.conversations.partner_sets import PartnerSetRef


class PlayMode(StrEnum):
    """The mode of play, which decides which bots converse with each other."""

    SELF_PLAY = "self_play"
    ALL_PLAY_ALL = "all_play_all"
    BIPARTITE = "bipartite"


DeclaredEvaluation: TypeAlias = Declared[EvaluationDeclaration]
INSIDE: Final[Mapping[Place, type[BaseModel]]] = {
    ("opening",): OpeningFrom,
    ("partners",): PartnerSetRef,
    ("stop",): StopRules,
    ("scorer",): ScorerFrom,
}


def read_evaluation(path: Path, mode: PlayMode) -> DeclaredEvaluation:
    """Read an evaluation's file for a mode of play; raises DeclarationFaulty with all faults of the file."""

    def contradictory(request: EvaluationDeclaration) -> Contradictions:
        partners = request.partners if mode is PlayMode.BIPARTITE else ()
        yield from contradictions(collection_in(request, mode=mode.value, partners=partners))

    form = Form(
        EvaluationDeclaration,
        contradictory,
        page='"Rank bots without people" in the documentation',
        example="name: league-1",
        inside=INSIDE,
    )
    return read_declared(path, form)


def collection_of(declared: Declared[ScoredPlan], **changes: object) -> CollectionDeclared:
    """Return the declaration of the evaluation's collection.

    Its hash does not depend on how the collection is scored.
    """
    request = collection_in(declared.request, **changes)
    sha256 = hashlib.sha256(request.model_dump_json().encode()).hexdigest()
    return Declared(request, declared.file, sha256, in_file=declared.in_file)


def collection_in(request: ScoredPlan, **changes: object) -> Declaration:
    """Return the part of an evaluation's declaration that declares its collection."""
    given = {name: getattr(request, name) for name in request.model_fields_set & Declaration.model_fields.keys()}
    return Declaration(**{"mode": PlayMode.BIPARTITE.value, **given, **changes})
