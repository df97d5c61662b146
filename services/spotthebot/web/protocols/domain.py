"""Translates built-in protocols. Protocols of users stay as their authors wrote them."""

from collections.abc import Callable
from typing import Any, Final

from spotthebot.contracts.annotation.protocols import AnnotationProtocol

BUILT_IN: Final = frozenset(
    {
        "abc_commonsense",
        "abc_consistency",
        "abc_empathy",
        "abc_interpretability",
        "abc_knowledge",
        "abc_personal_information",
        "abc_sociality",
        "abc_transitions",
        "bipartite_likert",
        "comparative",
        "dialogue_likert",
        "factual_behaviour",
        "spot_the_bot",
        "spot_the_bot_gamified",
        "spot_the_bot_labels",
        "turn_likert",
    }
)
"""The names of built-in protocols. The service `annotation` refuses these names for other protocols."""
_READ: Final = frozenset({"title", "text", "help"})
"""The fields that annotators read, in addition to the values of `labels`."""


def worded(protocol: AnnotationProtocol, say: Callable[[str], str]) -> AnnotationProtocol:
    """Return a built-in protocol with each sentence replaced by `say(sentence)`.

    Other protocols are returned unchanged.
    """
    if protocol.name not in BUILT_IN:
        return protocol
    return AnnotationProtocol.model_validate(_said(protocol.model_dump(mode="json"), say))


def _said(part: Any, say: Callable[[str], str]) -> Any:  # noqa: ANN401 - a part of a document
    if isinstance(part, list):
        return [_said(each, say) for each in part]
    if not isinstance(part, dict):
        return part
    return {name: _field(name, value, say) for name, value in part.items()}


def _field(name: str, value: Any, say: Callable[[str], str]) -> Any:  # noqa: ANN401 - any field of a document
    if name in _READ:
        return say(value) if value else value
    if name == "labels":
        return {key: say(label) for key, label in value.items()}
    return _said(value, say)
