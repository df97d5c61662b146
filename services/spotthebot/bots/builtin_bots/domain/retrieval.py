"""A bot that answers with the response to a similar utterance: BM25 over the utterance-response pairs of a corpus.

It finds the utterance most similar to its partner's last turn, with a small weight for the turn before. It replies with
the response to this utterance, unless the conversation already has it. BM25 as in Robertson & Zaragoza (2009), section
3, with the always positive IDF of Lucene.
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
"""How soon repeated words in an utterance stop counting."""
B = 0.75
"""How much the length of an utterance lowers its score: 0 not at all, 1 fully."""
PREVIOUS_TURN_WEIGHT = 0.4
"""The weight of a match with the turn before the partner's last turn."""
NEARLY_BEST = 0.95
"""The seed chooses among responses whose score reaches this share of the best score."""
LONGEST_QUERY = 60
"""The number of words searched at the end of a turn, so that a very long turn costs no more time."""


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
    """An inverted index of documents given as lists of words; each posting holds its final weight."""

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
        """Score each document that shares a word with the query; repeated words of the query count once."""
        scores: dict[int, float] = {}
        for word in dict.fromkeys(query):
            for i, weight in self._postings.get(word, ()):
                scores[i] = scores.get(i, 0.0) + weight
        return scores
