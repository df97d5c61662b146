"""A bot that answers as somebody once answered: BM25 over the utterance-response pairs of a corpus.

It looks for the utterance most like its partner's last turn, weighing in a little of the turn
before, and replies with what followed there, unless that was said in this conversation already.
BM25 as in Robertson & Zaragoza (2009), section 3, with the always positive IDF of Lucene.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from spotthebot.bots.builtin_bots.domain.chance import chance_in
from spotthebot.bots.builtin_bots.domain.contract import BuiltinModel
from spotthebot.bots.builtin_bots.domain.words import opening_turns, said_key, words
from spotthebot.bots.builtin_bots.errors import CorpusIsNeeded
from spotthebot.bots.questions.domain.dialogue import Context, Dialogue

K1 = 1.2
"""How soon repeating a word in an utterance stops counting."""
B = 0.75
"""How much a long utterance is held against it: 0 not at all, 1 in full."""
PREVIOUS_TURN_WEIGHT = 0.4
"""What a match of the turn before counts beside a match of the last turn."""
NEARLY_BEST = 0.95
"""Responses whose score reaches this share of the best one are chosen among by seed."""
LONGEST_QUERY = 60
"""Words at the end of a turn that are looked up, so that a very long turn costs no more time."""


class RetrievalBot:
    """Replies with the response to the most similar utterance of the corpus."""

    def __init__(self, seed: int, dialogues: Sequence[Dialogue]) -> None:
        pairs = [
            (dialogue[i - 2] if i > 1 else "", dialogue[i - 1], dialogue[i])
            for dialogue in dialogues
            for i in range(1, len(dialogue))
            if dialogue[i - 1].strip() and dialogue[i].strip()
        ]
        if not pairs:
            raise CorpusIsNeeded(model=BuiltinModel.RETRIEVAL)
        self._seed = seed
        self._openings = opening_turns(dialogues)
        self._responses = [response for _, _, response in pairs]
        self._keys = [said_key(response) for response in self._responses]
        self._utterances = BM25([words(utterance) for _, utterance, _ in pairs])
        self._previous = BM25([words(previous) for previous, _, _ in pairs])

    def reply(self, context: Context) -> str:
        chance = chance_in(self._seed, context)
        if not context.turns:
            return chance.choice(self._openings or self._responses)
        scores = self._scores(context.turns)
        said = {said_key(turn) for turn in context.turns}
        unsaid = [i for i in scores if self._keys[i] not in said]
        if not unsaid:
            unsaid = [i for i, key in enumerate(self._keys) if key not in said]
        if not unsaid:
            return chance.choice(self._responses)
        best = max(scores.get(i, 0.0) for i in unsaid)
        return self._responses[chance.choice([i for i in unsaid if scores.get(i, 0.0) >= NEARLY_BEST * best])]

    def _scores(self, turns: tuple[str, ...]) -> dict[int, float]:
        scores = self._utterances.scores(words(turns[-1])[-LONGEST_QUERY:])
        if scores and len(turns) > 1:
            previous = self._previous.scores(words(turns[-2])[-LONGEST_QUERY:])
            for i in scores:
                scores[i] += PREVIOUS_TURN_WEIGHT * previous.get(i, 0.0)
        return scores


class BM25:
    """An inverted index of documents given as lists of words; each posting holds its finished weight."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        mean_length = sum(map(len, documents)) / len(documents) or 1.0
        frequency = Counter(word for document in documents for word in set(document))
        self._postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for i, document in enumerate(documents):
            damping = K1 * (1 - B + B * len(document) / mean_length)
            for word, count in Counter(document).items():
                idf = math.log(1 + (len(documents) - frequency[word] + 0.5) / (frequency[word] + 0.5))
                self._postings[word].append((i, idf * count * (K1 + 1) / (count + damping)))

    def scores(self, query: Sequence[str]) -> dict[int, float]:
        """Score each document that shares a word with the query; a word asked twice counts once."""
        scores: dict[int, float] = {}
        for word in dict.fromkeys(query):
            for i, weight in self._postings.get(word, ()):
                scores[i] = scores.get(i, 0.0) + weight
        return scores
