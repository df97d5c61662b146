"""What a reader notices about each side of a segment: seven shares from 0 to 1, from the text alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from spotthebot.bots.domain.builtin.words import words
from spotthebot.suite.simulation.language import Language, content_words

Speaker: TypeAlias = Literal["A", "B"]
Segment: TypeAlias = tuple[tuple[Speaker, str], ...]
"""The turns that are shown, oldest first: who spoke, under a neutral name, and the text."""

SPEAKERS: Final[tuple[Speaker, Speaker]] = ("A", "B")
TURNS_IN_MIND = 2
"""How many turns back a reader looks for what a turn answers to."""
FLUENT_FROM, FLUENT_TO = 0.10, 0.30
"""Shares of usual word runs that read as no language at all and as somebody's own tongue."""
FULLY_RELEVANT = 0.20
"""Relatedness to what was said just before that leaves nothing to be desired."""
FULLY_SPECIFIC = 2.0
"""Rarity of the content words of a turn, summed, that leaves nothing to be desired."""
ECHO_FROM, ECHO_TO = 0.25, 0.65
"""Shares of words taken from the partner's last turn that are unremarkable and mere echo."""
BEFORE_READING = 0.3
"""Relevance that a reader grants in advance; it weighs as much as one turn."""

_PERSONS = frozenset(
    """
    i me my mine myself i'm i've i'll i'd you your yours yourself you're you've you'll you'd am are was were
    """.split()  # noqa: SIM905 - reads better than twenty literals
)
_CANNOT_END = frozenset(("a", "an", "the", "my", "our", "your", "their", "and", "or", "but", "if", "because"))


@dataclass(frozen=True)
class Impression:
    """One side of a segment: good things (the first three) and bad ones, each from 0 to 1."""

    fluency: float
    """How usual its word sequences are."""
    relevance: float
    """How closely its turns belong to what was said just before."""
    specificity: float
    """How much its turns are about something."""
    emptiness: float
    """Share of turns without any content word."""
    echo: float
    """How much it only gives the partner's words back, persons swapped or not."""
    repetition: float
    """How much it repeats its own earlier turns."""
    brokenness: float
    """Share of turns that end where no sentence can."""


def impressions(segment: Segment, language: Language) -> Mapping[Speaker, Impression]:
    """Return what stands out about either side; one that said nothing is all emptiness."""
    return {speaker: _impression(segment, speaker, language) for speaker in SPEAKERS}


def _impression(segment: Segment, speaker: Speaker, language: Language) -> Impression:
    own = [text for who, text in segment if who == speaker]
    if not own:
        return Impression(0.0, 0.0, 0.0, emptiness=1.0, echo=0.0, repetition=0.0, brokenness=0.0)
    replies = [
        (text, [earlier for _, earlier in segment[max(0, i - TURNS_IN_MIND) : i]])
        for i, (who, text) in enumerate(segment)
        if who == speaker and i
    ]
    related = [share for text, before in replies if (share := language.relatedness(text, before)) is not None]
    usual = language.usual_share(own)
    return Impression(
        fluency=0.0 if usual is None else _between(usual, FLUENT_FROM, FLUENT_TO),
        relevance=_tempered([min(1.0, share / FULLY_RELEVANT) for share in related]),
        specificity=min(1.0, _mean([sum(map(language.rarity, content_words(t))) for t in own]) / FULLY_SPECIFIC),
        emptiness=_mean([not content_words(text) for text in own]),
        echo=_mean([_between(_taken_share(text, before[-1]), ECHO_FROM, ECHO_TO) for text, before in replies]),
        repetition=_mean([_likeness(text, own[:i]) for i, text in enumerate(own) if i]),
        brokenness=_mean([_is_broken(text) for text in own]),
    )


def _taken_share(text: str, partners: str) -> float:
    own = [word for word in words(text) if word not in _PERSONS]
    taken = set(words(partners))
    return _mean([word in taken for word in own])


def _likeness(text: str, earlier: Sequence[str]) -> float:
    """Return the greatest Jaccard similarity of a turn's words with those of an earlier turn."""
    own = set(words(text))
    others = (set(words(other)) for other in earlier)
    return max(len(own & other) / max(1, len(own | other)) for other in others)


def _is_broken(text: str) -> bool:
    spoken = words(text)
    return not spoken or spoken[-1] in _CANNOT_END


def _between(value: float, nothing: float, everything: float) -> float:
    return min(1.0, max(0.0, (value - nothing) / (everything - nothing)))


def _tempered(shares: Sequence[float]) -> float:
    return (sum(shares) + BEFORE_READING) / (len(shares) + 1)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
