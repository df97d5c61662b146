"""Erasure: the replacement for a person's name, and the search for the name in texts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from spotthebot.kit.text.names import is_unlike_a_word

_SPECIAL: Final = re.compile(r"[!-/:-@\[-`{-~]")
"""The punctuation of ASCII; only these characters may be escaped."""


@dataclass(frozen=True)
class Person:
    """A person, by the id that a frontend uses, in all campaigns; `annotators` maps annotator ids to campaign ids."""

    frontend: str
    external_id: str
    annotators: Mapping[UUID, UUID]

    @property
    def is_unlike_a_word(self) -> bool:
        """Whether the id is too unusual to appear in texts about other people."""
        return is_unlike_a_word(self.external_id)


def naming_pattern(external_id: str) -> str:
    """Return a PostgreSQL regular expression that finds an id as a separate word."""
    quoted = _SPECIAL.sub(r"\\\g<0>", external_id)
    return rf"(^|[^[:alnum:]]){quoted}($|[^[:alnum:]])"
