"""`./stb collect`: start a collection that a file declares, or the one it started before, and follow it to its end."""

from spotthebot.suite.collections.declaration import Declaration
from spotthebot.suite.collections.declaration_file import Declared, contradictions, read_declaration
from spotthebot.suite.collections.participants import Approve, print_warnings
from spotthebot.suite.collections.resolution import resolve
from spotthebot.suite.collections.run import (
    CollectionProgress,
    StartedCollection,
    account,
    estimate,
    export,
    follow,
    repeated_texts,
    start,
)

__all__ = [
    "Approve",
    "CollectionProgress",
    "Declaration",
    "Declared",
    "StartedCollection",
    "account",
    "contradictions",
    "estimate",
    "export",
    "follow",
    "print_warnings",
    "read_declaration",
    "repeated_texts",
    "resolve",
    "start",
]
