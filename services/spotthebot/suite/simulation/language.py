"""What simulated annotators know of everyday language: which words follow and accompany each other.

Everything counts in dialogues, and nothing counts that a single dialogue has alone. So a turn that
was copied from one dialogue of the corpus is judged as if that dialogue had not been read, and is no
better off than a turn that somebody wrote anew: an annotator knows the language, not the corpus.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from spotthebot.bots.domain.builtin.words import STOPWORDS, sentences, words
from spotthebot.bots.domain.dialogue import Dialogue

ENOUGH_DIALOGUES = 2
"""In how many dialogues something must occur to be everyday language."""
_EDGE = ""


def content_words(text: str) -> list[str]:
    """Return the different words of a text that say what it is about, in order."""
    return [word for word in dict.fromkeys(words(text)) if word not in STOPWORDS]


class Language:
    """Counts over the dialogues that the annotators of a crowd have read in their lives.

    They should have read all that people in the study can have said: every split of the corpus.
    Annotators who know only what the bots learned from find people's own words less usual than the
    bots' copies.
    """

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        places: defaultdict[str, set[int]] = defaultdict(set)
        runs: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
        for i, dialogue in enumerate(dialogues):
            for turn in dialogue:
                for word in content_words(turn):
                    places[word].add(i)
                for run in _runs(turn):
                    runs[run].add(i)
        self._dialogues = len(dialogues)
        self._places = {word: frozenset(found) for word, found in places.items()}
        self._usual = frozenset(run for run, found in runs.items() if len(found) >= ENOUGH_DIALOGUES)

    def usual_share(self, texts: Iterable[str]) -> float | None:
        """Return the share of runs of three words, sentence edges included, that are usual.

        None when there are no words. Runs of two tell a trigram generator from people no better
        than chance: it has taken each of them from somebody.
        """
        runs = [run for text in texts for run in _runs(text)]
        return sum(run in self._usual for run in runs) / len(runs) if runs else None

    def relatedness(self, text: str, others: Sequence[str]) -> float | None:
        """Return how closely a text's content words belong to other words used just before.

        For each content word, the normalised pointwise mutual information (Bouma, 2009) of meeting it
        in the same dialogue as its closest companion among the others' words (0: by chance or never,
        1: always and only together), averaged. The same word again is an echo, not a companion. None when
        either side has no content word that the language knows.
        """
        own = [word for word in content_words(text) if word in self._places]
        companions = [word for word in content_words(" ".join(others)) if word in self._places]
        if not own or not companions:
            return None
        closest = (max(self._association(word, other) for other in companions) for word in own)
        return sum(closest) / len(own)

    def rarity(self, word: str) -> float:
        """Return the inverse document frequency of a word, from 0 (in every dialogue) to 1 (in none)."""
        found = len(self._places.get(word, ()))
        if not found:
            return 1.0
        return math.log((self._dialogues + 1) / (found + 1)) / math.log(self._dialogues + 1)

    def _association(self, word: str, other: str) -> float:
        if word == other:
            return 0.0
        together = len(self._places[word] & self._places[other])
        if together < ENOUGH_DIALOGUES or together == self._dialogues:
            return 0.0
        chance = len(self._places[word]) * len(self._places[other]) / self._dialogues
        return max(0.0, math.log(together / chance) / math.log(self._dialogues / together))


def _runs(text: str) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    for sentence in sentences(text):
        spoken = words(sentence)
        if spoken:
            padded = [_EDGE, _EDGE, *spoken, _EDGE]
            found += zip(padded, padded[1:], padded[2:], strict=False)
    return found
