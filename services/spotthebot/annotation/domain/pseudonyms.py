"""Pseudonyms of annotators, for those who may see what was annotated and not by whom."""

from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from spotthebot.kit.pseudonyms import name_in_exports

_SIMULATED: Final = "simulated-"


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
        """Return the name of an annotator in exports, made from our id of them, so that it outlives their erasure."""
        return name if self.are_published else name_in_exports(self.key, annotator_id.bytes, name)
