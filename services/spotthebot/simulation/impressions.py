"""A reader's impressions of each side of a segment: twelve shares from 0 to 1, computed from the text alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from spotthebot.bots.builtin_bots.domain.words import words
from spotthebot.simulation.language import Language, stem, topics

Speaker: TypeAlias = Literal["A", "B"]
Segment: TypeAlias = tuple[tuple[Speaker, str], ...]
"""The turns shown, oldest first: the speaker, under a neutral name, and the text."""

SPEAKERS: Final[tuple[Speaker, Speaker]] = ("A", "B")
FULLY_RELEVANT = 0.25
"""The relatedness to earlier turns from which relevance is 1."""
FULLY_COHERENT = 0.12
"""The share of a turn's words, by rarity, that repeat earlier words, from which cohesion is 1."""
TAKEN_UP_AT_MOST, TAKEN_OVER_FROM = 0.3, 0.5
"""A turn's share counts as the first value at most, and as 0 above the second value, where it is copied."""
OUT_OF_PLACE, IN_PLACE = -0.05, 0.08
"""The aptness of replies that nobody would give, and of replies that anybody would give."""
FLUENT_FROM = 0.3
"""The share of usual word runs from which a text reads like a native speaker's."""
FULLY_SPECIFIC = 5
"""The number of topics in a turn from which specificity is 1."""
ECHO_FROM, ECHO_TO = 0.1, 0.4
"""The shares of words from the partner's last turn that are unremarkable, and mere echo."""

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
    """The impressions of one side of a segment: good ones (the first five) and bad ones, each from 0 to 1."""

    cohesion: float
    """How much its replies take up earlier words of either side, without copying them."""
    relevance: float
    """How closely its topics are related to earlier topics."""
    aptness: float
    """How usual its replies are after the turns before, by their small words and marks."""
    specificity: float
    """How many topics its turns have."""
    fluency: float
    """How usual its word sequences are."""
    abruptness: float
    """Share of its replies with topics that are unrelated to earlier turns."""
    evasion: float
    """Share of its partner's questions that it answers with a question."""
    dangling: float
    """Share of its replies with a "he" or "she" for a person that nobody mentioned."""
    emptiness: float
    """Share of turns without any topic."""
    echo: float
    """How much it only repeats the partner's words, persons swapped or not."""
    repetition: float
    """How much it repeats its own earlier turns."""
    brokenness: float
    """Share of turns that end in the middle of a sentence."""


@dataclass(frozen=True)
class _Reply:
    text: str
    before: tuple[str, ...]
    own_before: tuple[str, ...]


@lru_cache(maxsize=4096)
def impressions(segment: Segment, language: Language) -> Mapping[Speaker, Impression]:
    """Return the impressions of each side. For a side without turns, `emptiness` is 1.

    Several annotators read each segment, and it impresses all of them alike: the latest results are kept.
    """
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
    """Return how closely a reply's topics are related to earlier topics, and whether it repeats an earlier topic.

    None for a reply without topics.
    """
    earlier = dict.fromkeys(topic for text in reply.before for topic in topics(text))
    related = language.relatedness(reply.text, earlier)
    return None if related is None else (related, not earlier.keys().isdisjoint(topics(reply.text)))


def _taken_up(reply: _Reply, language: Language) -> float:
    """Return the share of a reply's words that occur in earlier turns, weighted by squared rarity.

    Topics are rare words, so they count most. The share is limited, and it is 0 for a reply that copies earlier turns.
    """
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
    """Return the greatest Jaccard similarity between the words of a turn and the words of one earlier turn."""
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
