"""Built-in protocols in the reader's language; protocols of users stay as they were written."""

from collections.abc import Callable
from typing import Any, Final

from spotthebot.contracts.annotation.protocols import AnnotationProtocol

BUILT_IN: Final = frozenset(
    {
        "comparative",
        "dialogue_likert",
        "factual_behaviour",
        "spot_the_bot",
        "spot_the_bot_gamified",
        "spot_the_bot_labels",
        "turn_likert",
    }
)
"""Names that the service `annotation` lets nobody else use."""
_READ: Final = frozenset({"title", "text", "help"})
"""Fields that annotators read; the values of `labels` besides."""


def worded(protocol: AnnotationProtocol, say: Callable[[str], str]) -> AnnotationProtocol:
    """Return a built-in protocol with what `say` makes of each sentence; another one as it is."""
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
