"""The everyday language of simulated annotators: which words follow, accompany and answer each other.

If a turn occurs word for word in a dialogue that the annotators have read, its words are rated without this dialogue.
So a copied turn gains nothing over a new turn. Only aptness makes no such exception: an annotator who has read an
exchange finds its reply apt.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final

from spotthebot.bots.builtin_bots.domain.words import STOPWORDS, said_key, sentences, words
from spotthebot.bots.questions.domain.dialogue import Dialogue

ENOUGH_DIALOGUES: Final = 2
"""The number of dialogues in which a usual run of words occurs: a generator copies every run from one dialogue."""
ENOUGH_TURNS: Final = 5
"""The number of turns with a cue from which its replies are predicted."""
SCEPTICISM: Final = 3.0
"""The number of imaginary meetings of two cues, at the rate of chance, added to the real ones."""
WORDS_IN_MIND: Final = 40
"""The number of distinct content words of a turn that count, so that a very long turn costs no more time."""
_EDGE = ""
_SUFFIXES = ("ing", "ed", "es", "s", "e", "er", "y")
_SHORTEST_STEM = 3
_WORDS_PER_LENGTH = 4
_LONGEST_LENGTH = 3
_NOWHERE: frozenset[int] = frozenset()


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Return roughly the stem of a word.

    The stem lacks an apostrophe with the letters after it, one English ending, and one of two equal last letters.
    """
    bare = word.split("'", maxsplit=1)[0]
    for suffix in _SUFFIXES:
        if bare.endswith(suffix) and len(bare) - len(suffix) >= _SHORTEST_STEM:
            bare = bare.removesuffix(suffix)
            break
    return bare[:-1] if len(bare) > _SHORTEST_STEM and bare[-1] == bare[-2] else bare


def topics(text: str) -> list[str]:
    """Return the distinct stems of a text's topic words, in the order of the text."""
    content = (stem(word) for word in words(text) if word not in STOPWORDS)
    return list(dict.fromkeys(content))[:WORDS_IN_MIND]


class Language:
    """Counts over the dialogues that the annotators of a crowd have read before.

    A campaign must not show these dialogues as conversations of people: annotators would know them by heart, and would
    find all other conversations less human.
    """

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        places: defaultdict[str, set[int]] = defaultdict(set)
        runs: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
        sources: defaultdict[str, set[int]] = defaultdict(set)
        self._turns_with: Counter[str] = Counter()
        for i, dialogue in enumerate(dialogues):
            for turn in dialogue:
                sources[said_key(turn)].add(i)
                self._turns_with.update({stem(word) for word in words(turn)})
                for topic in topics(turn):
                    places[topic].add(i)
                for run in _runs(turn):
                    runs[run].add(i)
        self._dialogues = len(dialogues)
        self._turns = sum(map(len, dialogues))
        self._places = {topic: frozenset(found) for topic, found in places.items()}
        self._sources = {key: frozenset(found) for key, found in sources.items()}
        self._usual = frozenset(run for run, found in runs.items() if len(found) >= ENOUGH_DIALOGUES)
        self._replies = _Replies(dialogues)

    def usual_share(self, texts: Iterable[str]) -> float | None:
        """Return the share of a text's runs of three words that are usual.

        Runs include sentence edges. None without words.
        """
        runs = [run for text in texts for run in _runs(text)]
        return sum(run in self._usual for run in runs) / len(runs) if runs else None

    def relatedness(self, text: str, others: Collection[str]) -> float | None:
        """Return how closely a text's topics are related to the stems `others`; None if the text has no topic.

        For each topic of the text, only the most closely related other topic counts; a topic is not related to itself.
        The measure is the normalised pointwise mutual information (Bouma, 2009) of two topics in one dialogue. It is 0
        if they meet by chance or never, and 1 if they always occur together. It is multiplied by n / (n + 1), where n
        is the number of dialogues with both topics. The result is the mean over the text's topics.
        """
        own = topics(text)
        if not own:
            return None
        copied_from = self._sources.get(said_key(text), _NOWHERE)
        closest = (max((self._association(one, other, copied_from) for other in others), default=0.0) for one in own)
        return sum(closest) / len(own)

    def aptness(self, reply: str, before: str) -> float:
        """Return how usual a reply is after the turn `before`, as a mean logarithm.

        0 means that they go together by chance.

        The mean is over all pairs of a cue of the turn and a cue of the reply: how much more often than by chance the
        two cues meet. Cues are small words, punctuation marks, the first word of a question, the first word of the
        reply, and the reply's length in steps of four words.
        """
        return self._replies.aptness(reply, before)

    def rarity(self, word: str) -> float:
        """Return the rarity of a stem: 0 if it occurs in every turn, 1 if it occurs in no turn."""
        if not self._turns:
            return 1.0
        return math.log((self._turns + 1) / (self._turns_with[word] + 1)) / math.log(self._turns + 1)

    def _association(self, one: str, other: str, without: AbstractSet[int]) -> float:
        if one == other:
            return 0.0
        places, others = self._places.get(one, _NOWHERE) - without, self._places.get(other, _NOWHERE) - without
        together, dialogues = len(places & others), self._dialogues - len(without)
        if not together or together == dialogues:
            return 0.0
        information = math.log(together * dialogues / (len(places) * len(others)))
        return max(0.0, information / math.log(dialogues / together)) * together / (together + 1)


class _Replies:
    """Counts of the pairs of a cue in a turn and a cue in its reply."""

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        pairs = [(dialogue[i - 1], dialogue[i]) for dialogue in dialogues for i in range(1, len(dialogue))]
        self._pairs = len(pairs)
        self._before: Counter[str] = Counter()
        self._after: Counter[str] = Counter()
        self._together: Counter[tuple[str, str]] = Counter()
        for before, reply in pairs:
            asked, answered = _cues_of_turn(before), _cues_of_reply(reply)
            self._before.update(asked)
            self._after.update(answered)
            self._together.update((one, other) for one in asked for other in answered)

    def aptness(self, reply: str, before: str) -> float:
        asked = sorted(cue for cue in _cues_of_turn(before) if self._before[cue] >= ENOUGH_TURNS)
        answered = sorted(cue for cue in _cues_of_reply(reply) if self._after[cue] >= ENOUGH_TURNS)
        surprises = [self._surprise(one, other) for one in asked for other in answered]
        return sum(surprises) / len(surprises) if surprises else 0.0

    def _surprise(self, one: str, other: str) -> float:
        expected = self._before[one] * self._after[other] / self._pairs
        return math.log((self._together[one, other] + SCEPTICISM) / (expected + SCEPTICISM))


def _cues_of_turn(text: str) -> set[str]:
    cues = _small_words(text)
    spoken = sentences(text)
    if spoken and (last := words(spoken[-1])):
        asks = spoken[-1].rstrip().endswith("?")
        cues.add(f"asks: {asks}")
        if asks:
            cues.add(f"asks with: {last[0]}")
    return cues


def _cues_of_reply(text: str) -> set[str]:
    spoken = words(text)
    asks_at_once = any(sentence.rstrip().endswith("?") for sentence in sentences(text)[:1])
    cues = _small_words(text) | {
        f"asks: {'?' in text}",
        f"asks at once: {asks_at_once}",
        f"exclaims: {'!' in text}",
        f"counts: {any(letter.isdigit() for letter in text)}",
        f"length: {min(_LONGEST_LENGTH, len(spoken) // _WORDS_PER_LENGTH)}",
    }
    return cues | {f"begins: {spoken[0]}"} if spoken else cues


def _small_words(text: str) -> set[str]:
    return {word for word in words(text) if word in STOPWORDS}


def _runs(text: str) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    for sentence in sentences(text):
        spoken = words(sentence)
        if spoken:
            padded = [_EDGE, _EDGE, *spoken, _EDGE]
            found += zip(padded, padded[1:], padded[2:], strict=False)
    return found
