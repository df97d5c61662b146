"""Dimensions: each, such as `interesting`, has follow-ups that praise this quality and follow-ups that complain.

The modules that define dimensions import only the standard library and `spotthebot.kit.errors`, so that a program on a
machine with few packages can read the follow-ups.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from spotthebot.fed.dimension_sets.errors import DimensionNameTaken, DimensionUnusable, NoSuchDimension

MAX_DIMENSIONS: Final = 100
"""The limit of dimensions in one set."""
MAX_FOLLOWUPS: Final = 50
"""The limit of follow-ups of one polarity of a dimension."""
MAX_FOLLOWUP_CHARACTERS: Final = 500
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9 _-]{0,62}")


class Polarity(StrEnum):
    """Whether a follow-up praises the dialogue or complains about it."""

    POSITIVE = "positive"
    NEGATIVE = "negative"


@dataclass(frozen=True)
class Dimension:
    """One quality of a dialogue: follow-ups that are likely if it is good, and others that are likely if it is bad."""

    name: str
    positive: tuple[str, ...]
    negative: tuple[str, ...]

    @property
    def followups(self) -> tuple[tuple[Polarity, str], ...]:
        """Return all follow-ups with their polarity, positive ones first."""
        positive = ((Polarity.POSITIVE, text) for text in self.positive)
        return (*positive, *((Polarity.NEGATIVE, text) for text in self.negative))


@dataclass(frozen=True)
class DimensionSet:
    """Dimensions that are scored together; `origin` names the author of their follow-ups."""

    name: str
    origin: str
    dimensions: tuple[Dimension, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dimension.name for dimension in self.dimensions)

    def get(self, name: str) -> Dimension:
        """Return the dimension of this name; raises NoSuchDimension."""
        for dimension in self.dimensions:
            if dimension.name == name:
                return dimension
        raise NoSuchDimension(name=name, known=", ".join(self.names))


def user_dimension(name: str, positive: Sequence[str], negative: Sequence[str]) -> Dimension:
    """Return a dimension of a user; raises DimensionUnusable for an unusable name or follow-up.

    >>> user_dimension("polite", ["How kind of you!"], ["Don't be so rude!"]).negative
    ("Don't be so rude!",)
    """
    if not _NAME.fullmatch(name):
        reason = "a name is 1 to 63 of a-z, 0-9, space, '_' and '-', beginning with a letter or digit"
        raise DimensionUnusable(name=name, reason=reason)
    if not positive and not negative:
        raise DimensionUnusable(name=name, reason="it has no follow-ups")
    for polarity, texts in ((Polarity.POSITIVE, positive), (Polarity.NEGATIVE, negative)):
        if len(texts) > MAX_FOLLOWUPS:
            reason = f"it has {len(texts)} {polarity} follow-ups: at most {MAX_FOLLOWUPS} are accepted"
            raise DimensionUnusable(name=name, reason=reason)
    seen: set[str] = set()
    for text in (*positive, *negative):
        if fault := _fault_of(text) or ("occurs twice" if text in seen else None):
            raise DimensionUnusable(name=name, reason=f"the follow-up '{text[:60]}' {fault}")
        seen.add(text)
    return Dimension(name, tuple(positive), tuple(negative))


def user_dimensions(name: str, dimensions: Iterable[Dimension]) -> DimensionSet:
    """Return a dimension set of a user; raises DimensionUnusable and DimensionNameTaken."""
    listed = tuple(dimensions)
    if not 0 < len(listed) <= MAX_DIMENSIONS:
        raise DimensionUnusable(name=name, reason=f"a set has 1 to {MAX_DIMENSIONS} dimensions, not {len(listed)}")
    names = [dimension.name for dimension in listed]
    for taken in names:
        if names.count(taken) > 1:
            raise DimensionNameTaken(name=taken)
    return DimensionSet(name, "written by a user", listed)


def unique_followups(dimensions: Iterable[Dimension]) -> tuple[str, ...]:
    """Return the follow-ups that a model has to score: each text once, in the order of its first use."""
    return tuple(dict.fromkeys(text for dimension in dimensions for _, text in dimension.followups))


def _fault_of(text: str) -> str | None:
    if not text.strip():
        return "is empty"
    if text != text.strip():
        return "begins or ends with white space, which would be scored too: remove it"
    if len(text) > MAX_FOLLOWUP_CHARACTERS:
        return f"has {len(text):,} characters: at most {MAX_FOLLOWUP_CHARACTERS} are accepted"
    if any(character < " " or "\ud800" <= character <= "\udfff" for character in text):
        return "has a control character or half a surrogate pair"
    return None
