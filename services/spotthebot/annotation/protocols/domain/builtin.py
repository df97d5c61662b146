"""The built-in protocols, from the documents next to this module."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from spotthebot.contracts.annotation.protocols import AnnotationProtocol

_DOCUMENTS = Path(__file__).parent / "documents"


@cache
def built_in_protocols() -> Mapping[tuple[str, int], AnnotationProtocol]:
    """Return the built-in protocols by name and version, in the order of their names."""
    documents = [path.read_bytes() for path in sorted(_DOCUMENTS.glob("*.json"))]
    protocols = [AnnotationProtocol.model_validate_json(document) for document in documents]
    return MappingProxyType({(protocol.name, protocol.version): protocol for protocol in protocols})


def is_built_in(name: str) -> bool:
    """Return whether a built-in protocol has this name, in any version."""
    return any(name == built_in for built_in, _ in built_in_protocols())
