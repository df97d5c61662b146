"""What a reader notices about each side of a segment: twelve shares from 0 to 1, from the text alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from spotthebot.bots.builtin_bots.domain.words import words
from spotthebot.simulation.language import Language, stem, topics

Speaker: TypeAlias = Literal["A", "B"]
Segment: TypeAlias = tuple[tuple[Speaker, str], ...]
"""The turns that are shown, oldest first: who spoke, under a neutral name, and the text."""

SPEAKERS: Final[tuple[Speaker, Speaker]] = ("A", "B")
FULLY_RELEVANT = 0.25
"""Relatedness to what was said before that leaves nothing to be desired."""
FULLY_COHERENT = 0.12
"""Share of a turn, by rarity, that takes earlier words up, at which nothing is left to be desired."""
TAKEN_UP_AT_MOST, TAKEN_OVER_FROM = 0.3, 0.5
"""Shares of one turn that count as this much at most, and for nothing beyond: that is taken over, not taken up."""
OUT_OF_PLACE, IN_PLACE = -0.05, 0.08
"""Aptness of replies that nobody would give and of those that anybody would."""
FLUENT_FROM = 0.3
"""Share of usual word runs that reads as somebody's own tongue."""
FULLY_SPECIFIC = 5
"""Topics of one turn that leave nothing to be desired."""
ECHO_FROM, ECHO_TO = 0.1, 0.4
"""Shares of words taken from the partner's last turn that are unremarkable and mere echo."""

_PERSONS = frozenset(
    """
    i me my mine myself i'm i've i'll i'd you your yours yourself you're you've you'll you'd am are was were
    """.split()  # noqa: SIM905 - reads better than twenty literals
)
_SAID_ANYWAY = frozenset(map(stem, "a an the to of and is it in that i me my mine you your yours".split()))  # noqa: SIM905 - as above
_HE = frozenset(("he", "him", "his"))
_SHE = frozenset(("she", "her", "hers"))
_MEN = _HE | frozenset(
    "brother father dad uncle grandfather grandpa man boy son husband guy lad boss landlord".split()  # noqa: SIM905 - as above
)
_WOMEN = _SHE | frozenset(
    "sister mother mum aunt grandmother grandma woman girl daughter wife".split()  # noqa: SIM905 - as above
)
_CANNOT_END = frozenset(("a", "an", "the", "my", "our", "your", "their", "and", "or", "but", "if", "because"))


@dataclass(frozen=True)
class Impression:
    """One side of a segment: good things (the first five) and bad ones, each from 0 to 1."""

    cohesion: float
    """How much its replies take up, without taking over, what either side said earlier."""
    relevance: float
    """How closely its topics belong to those that came up earlier."""
    aptness: float
    """How usual such replies are after such turns, by their small words and marks."""
    specificity: float
    """How much its turns are about something."""
    fluency: float
    """How usual its word sequences are."""
    abruptness: float
    """Share of its replies about something to which nothing leads that was said before."""
    evasion: float
    """Share of the questions put to it that it meets with a question."""
    dangling: float
    """Share of its replies with a he or she of whom nobody spoke."""
    emptiness: float
    """Share of turns without any topic."""
    echo: float
    """How much it only gives the partner's words back, persons swapped or not."""
    repetition: float
    """How much it repeats its own earlier turns."""
    brokenness: float
    """Share of turns that end where no sentence can."""


@dataclass(frozen=True)
class _Reply:
    text: str
    before: tuple[str, ...]
    own_before: tuple[str, ...]


def impressions(segment: Segment, language: Language) -> Mapping[Speaker, Impression]:
    """Return what stands out about either side; one that said nothing is all emptiness."""
    return {speaker: _impression(segment, speaker, language) for speaker in SPEAKERS}


def _impression(segment: Segment, speaker: Speaker, language: Language) -> Impression:
    own = [text for who, text in segment if who == speaker]
    replies = [
        _Reply(
            text,
            tuple(earlier for _, earlier in segment[:i]),
            tuple(earlier for who_spoke, earlier in segment[:i] if who_spoke == speaker),
        )
        for i, (who, text) in enumerate(segment)
        if who == speaker and i
    ]
    related = [found for reply in replies if (found := _relatedness(reply, language)) is not None]
    asked = [reply for reply in replies if _asks(reply.before[-1])]
    apt = [language.aptness(reply.text, reply.before[-1]) for reply in replies]
    return Impression(
        cohesion=_between(_mean([_taken_up(reply, language) for reply in replies]), 0.0, FULLY_COHERENT),
        relevance=_between(_mean([share for share, _ in related]), 0.0, FULLY_RELEVANT),
        aptness=_between(_mean(apt), OUT_OF_PLACE, IN_PLACE) if apt else 0.0,
        specificity=_mean([min(1.0, len(topics(text)) / FULLY_SPECIFIC) for text in own]),
        fluency=_between(language.usual_share(own) or 0.0, 0.0, FLUENT_FROM),
        abruptness=_mean([share == 0 and not resumed for share, resumed in related]),
        evasion=_mean([_asks(reply.text) for reply in asked]),
        dangling=_mean([_dangles(reply) for reply in replies]),
        emptiness=_mean([not topics(text) for text in own]) if own else 1.0,
        echo=_mean([_between(_taken_share(reply), ECHO_FROM, ECHO_TO) for reply in replies]),
        repetition=_mean([_likeness(reply.text, reply.own_before) for reply in replies if reply.own_before]),
        brokenness=_mean([_is_broken(text) for text in own]),
    )


def _relatedness(reply: _Reply, language: Language) -> tuple[float, bool] | None:
    """Return how closely a reply is related to what came before, and whether it resumes a topic of it."""
    earlier = dict.fromkeys(topic for text in reply.before for topic in topics(text))
    related = language.relatedness(reply.text, earlier)
    return None if related is None else (related, not earlier.keys().isdisjoint(topics(reply.text)))


def _taken_up(reply: _Reply, language: Language) -> float:
    """Weigh words by the square of their rarity: a topic that comes back says more than a preposition."""
    stems = dict.fromkeys(map(stem, words(reply.text)))
    weights = {word: language.rarity(word) ** 2 for word in stems if word not in _SAID_ANYWAY}
    earlier = {stem(word) for text in reply.before for word in words(text)}
    whole = sum(weights.values())
    share = sum(weight for word, weight in weights.items() if word in earlier) / whole if whole else 0.0
    return min(TAKEN_UP_AT_MOST, share) if share <= TAKEN_OVER_FROM else 0.0


def _taken_share(reply: _Reply) -> float:
    taken = set(words(reply.before[-1]))
    return _mean([word in taken for word in words(reply.text) if word not in _PERSONS])


def _asks(text: str) -> bool:
    return text.rstrip().endswith("?")


def _dangles(reply: _Reply) -> bool:
    known = {word.split("'", maxsplit=1)[0] for text in reply.before for word in words(text)}
    named = {word.split("'", maxsplit=1)[0] for word in words(reply.text)}
    return any(named & pronouns and known.isdisjoint(people) for pronouns, people in ((_HE, _MEN), (_SHE, _WOMEN)))


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


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
