"""Pseudonyms of annotators, for those who may see what was annotated and not by whom."""

import re
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from spotthebot.kit.pseudonyms import keyed_name

_BYTES: Final = 16
_KEPT = re.compile(r"simulated-\d{1,9}|p-[0-9a-v]{26}")
"""Programs, and pseudonyms of the campaign that annotations were imported from."""


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
        if self.are_published or _KEPT.fullmatch(name):
            return name
        return f"p-{keyed_name(self.key, annotator_id.bytes, size=_BYTES)}"
