"""Pseudonyms of annotators, for those who may see what was annotated and not by whom."""

import re
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from spotthebot.kit.pseudonyms import keyed_name

_BYTES: Final = 16
_SIMULATED: Final = "simulated-"
_PSEUDONYM: Final = re.compile(r"p-[0-9a-v]{26}")
"""Of the campaign that annotations were imported from."""
_PROGRAM: Final = re.compile(_SIMULATED + r"\d{1,9}")


def is_pseudonym(name: str) -> bool:
    """Return whether exports would show a name as somebody's pseudonym."""
    return _PSEUDONYM.fullmatch(name) is not None


def is_like_a_program(name: str) -> bool:
    """Return whether results would take who is called so for a simulated annotator."""
    return name.startswith(_SIMULATED)


@dataclass(frozen=True)
class Pseudonyms:
    """What the annotators of a campaign are called outside of it: made with its `key`, unless their names are public.

    `are_published` says that a study was published with the names of its annotators, and imported with them.
    """

    key: bytes = field(repr=False)
    are_published: bool

    def name_of(self, annotator_id: UUID, name: str) -> str:
        """Return the name of an annotator in exports: HMAC-SHA-256 under the key, of which 128 bits are kept.

        It is made from our id of the annotator, so that it outlives their erasure. Simulated annotators keep their
        name, and a pseudonym with which somebody came stays: an export that is imported again gives the same export.
        """
        if self.are_published or _PROGRAM.fullmatch(name) or is_pseudonym(name):
            return name
        return f"p-{keyed_name(self.key, annotator_id.bytes, size=_BYTES)}"
