"""A bot that generates its sentences: a word trigram model of a corpus with back-off.

If possible, it grows a sentence around a content word of its partner's last turn, backwards to the start with one model
and forwards to the end with another. So the reply touches the topic, but seldom makes sense. From a pair of words it
backs off to the last word alone with the probability that Witten & Bell (1991) give to unseen events: the number of
different tokens that follow the pair, divided by the sum of this number and the number of the pair's occurrences.
"""

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import accumulate
from random import Random

from spotthebot.bots.builtin_bots.domain.chance import chance_in
from spotthebot.bots.builtin_bots.domain.contract import BuiltinModel
from spotthebot.bots.builtin_bots.domain.words import STOPWORDS, sentences, utterances, words, words_and_marks
from spotthebot.bots.builtin_bots.errors import CorpusIsNeeded
from spotthebot.bots.questions.domain.dialogue import Context, Dialogue

FARTHEST = 16
"""The maximum of words and marks on either side of the word from which a sentence grows."""
_EDGE = ""
_MARKS = frozenset(".,!?;:")
_MARKS_AND_SPACE = ".,!?;: "


class NgramBot:
    """Replies with one generated sentence."""

    def __init__(self, seed: int, dialogues: Sequence[Dialogue]) -> None:
        cased = [
            tokens
            for utterance in utterances(dialogues)
            for sentence in sentences(utterance)
            if (tokens := words_and_marks(sentence.lstrip(_MARKS_AND_SPACE)))
        ]
        if not cased:
            raise CorpusIsNeeded(model=BuiltinModel.NGRAM)
        self._seed = seed
        self._case = _usual_case(cased)
        folded = [[token.casefold() for token in tokens] for tokens in cased]
        self._forwards = Trigrams(folded)
        self._backwards = Trigrams([tokens[::-1] for tokens in folded])
        self._topics = frozenset(token for tokens in folded for token in tokens if token not in STOPWORDS | _MARKS)

    def reply(self, context: Context) -> str:
        chance = chance_in(self._seed, context)
        heard = words(context.turns[-1]) if context.turns else []
        topics = list(dict.fromkeys(word for word in heard if word in self._topics))
        if topics:
            topic = chance.choice(topics)
            before = self._backwards.grow((topic,), chance)[::-1]
            after = self._forwards.grow((before[-1] if before else _EDGE, topic), chance)
            return self._written([*before, topic, *after])
        return self._written(self._forwards.grow((_EDGE, _EDGE), chance))

    def _written(self, tokens: Sequence[str]) -> str:
        text = ""
        for token in tokens:
            if token not in _MARKS:
                text += f" {self._case.get(token, token)}" if text else self._case.get(token, token)
            elif text and text[-1] not in _MARKS:
                text += token
        ended = text if text[-1] in ".!?" else f"{text.rstrip(',;:')}."
        return ended[0].upper() + ended[1:]


class Trigrams:
    """The tokens that follow each pair of tokens, and the tokens that follow each single token."""

    def __init__(self, lines: Sequence[Sequence[str]]) -> None:
        pairs: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for line in lines:
            padded = [_EDGE, _EDGE, *line, _EDGE]
            for first, second, third in zip(padded, padded[1:], padded[2:], strict=False):
                pairs[first, second][third] += 1
                pairs[(second,)][third] += 1
        self._followers = {
            history: (list(counts), list(accumulate(counts.values()))) for history, counts in pairs.items()
        }

    def grow(self, start: tuple[str, ...], chance: Random) -> list[str]:
        """Return the tokens that follow the one or two tokens of `start`, up to the end of the sentence."""
        grown: list[str] = []
        history = start
        while len(grown) < FARTHEST and (token := self._next(history, chance)) != _EDGE:
            grown.append(token)
            history = (history[-1], token)
        return grown

    def _next(self, history: tuple[str, ...], chance: Random) -> str:
        known = self._followers.get(history)
        if known is None or (len(history) > 1 and chance.random() < _back_off(*known)):
            known = self._followers[history[-1:]]
        kinds, cumulated = known
        return kinds[bisect(cumulated, chance.randrange(cumulated[-1]))]


def _back_off(kinds: Sequence[str], cumulated: Sequence[int]) -> float:
    return len(kinds) / (len(kinds) + cumulated[-1])


def _usual_case(lines: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return the most frequent spelling of each word, ignoring the first word of each sentence."""
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        for token in line[1:]:
            spellings[token.casefold()][token] += 1
    return {word: counts.most_common(1)[0][0] for word, counts in spellings.items()}
