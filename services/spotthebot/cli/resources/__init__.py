"""What a user names: bots, campaigns, collections, corpora, keys, by name, by id or by the beginning of an id."""

from spotthebot.cli.resources.directories import Bots, Campaigns, Collections, Corpora, owner
from spotthebot.cli.resources.resolver import Directory, NamedBy, find, find_addable, find_declared

__all__ = [
    "Bots",
    "Campaigns",
    "Collections",
    "Corpora",
    "Directory",
    "NamedBy",
    "find",
    "find_addable",
    "find_declared",
    "owner",
]
