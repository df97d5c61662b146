"""Erasure: what takes the place of a person, and where a text names them."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from spotthebot.annotation.annotators.domain import ERASED

_PSEUDONYM_BYTES: Final = 16
_UNLIKE_A_WORD: Final = re.compile(r"(?=.*[0-9]).{8,}", re.DOTALL)
_SPECIAL: Final = re.compile(r"[!-/:-@\[-`{-~]")
"""ASCII's punctuation; to escape a letter of any script would be an error."""


@dataclass(frozen=True)
class Person:
    """A person whom a frontend knows by an id, in all campaigns; `annotators` has their campaigns by our id of them."""

    frontend: str
    external_id: str
    annotators: Mapping[UUID, UUID]

    @property
    def is_unlike_a_word(self) -> bool:
        """Whether the id can hardly stand by chance in a text about somebody else: it is long, and has a digit.

        People of some panels could choose ids such as `fast` or `1`, which must not erase texts of other studies.
        """
        return _UNLIKE_A_WORD.fullmatch(self.external_id) is not None


def pseudonym() -> str:
    """Draw a name for an annotator whose person is erased: random, so that nothing leads back."""
    return f"{ERASED}-{secrets.token_hex(_PSEUDONYM_BYTES)}"


def naming_pattern(external_id: str) -> str:
    """Return a regular expression of PostgreSQL that finds an id where it stands as a word of its own."""
    quoted = _SPECIAL.sub(r"\\\g<0>", external_id)
    return rf"(^|[^[:alnum:]]){quoted}($|[^[:alnum:]])"
