"""The built-in protocols, from the documents next to this module."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from spotthebot.contracts.annotation.protocols import GAME, AnnotationProtocol

_DOCUMENTS = Path(__file__).parent / "documents"
_IN_RANDOM_ORDER: Final = ("comparative", "dialogue_likert")
"""The protocols whose version 2 asks the questions of version 1 in an order that is drawn for each annotator.

In ABC-Eval, "all 8 labels" of these two tasks are "completed in random order" (Finch, Finch and Choi 2023, section 6).
"""


@cache
def built_in_protocols() -> Mapping[tuple[str, int], AnnotationProtocol]:
    """Return the built-in protocols by name and version, in the order of their names."""
    documents = [path.read_bytes() for path in sorted(_DOCUMENTS.glob("*.json"))]
    protocols = [AnnotationProtocol.model_validate_json(document) for document in documents]
    drawn = {"version": 2, "question_order": "annotator"}
    protocols += [each.model_copy(update=drawn) for each in protocols if each.name in _IN_RANDOM_ORDER]
    by_name = {each.name: each for each in protocols if each.version == 1}
    game, asked = by_name[GAME], by_name["spot_the_bot"]
    # Appendix B of Spot The Bot: once both sides are decided, which does better in each feature?
    protocols.append(game.model_copy(update={"version": 2, "steps": (*game.steps, *asked.steps[1:])}))
    by_version = {(each.name, each.version): each for each in protocols}
    return MappingProxyType(dict(sorted(by_version.items())))


def is_built_in(name: str) -> bool:
    """Return whether a built-in protocol has this name, in any version."""
    return any(name == built_in for built_in, _ in built_in_protocols())
