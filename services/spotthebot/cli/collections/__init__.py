"""`./stb collect`: start a collection that a file declares, or the one it started before, and follow it to its end."""

from spotthebot.cli.collections.declaration import Declaration
from spotthebot.cli.collections.declaration_file import Declared, contradictions, read_declaration
from spotthebot.cli.collections.participants import Approve, print_warnings
from spotthebot.cli.collections.resolution import resolve
from spotthebot.cli.collections.run import (
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
