"""How diverse a set of bots is, by the overlap of the words that they say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final

MIN_REPLIES: Final = 2
METHOD: Final = "Jaccard overlap of word pairs of half of the replies of each bot"


@dataclass(frozen=True)
class ReplyOverlap:
    """The overlap of two bots' replies, 0 to 1."""

    first: str
    second: str
    overlap: float

    def other(self, bot: str) -> str:
        """Return the other bot of the pair."""
        return self.second if bot == self.first else self.first


@dataclass(frozen=True)
class ReplyDiversity:
    """How diverse the replies of bots are.

    `own` is the overlap of two halves of each bot's own replies: what a copy of the bot would have. `pairs` are all
    pairs, most alike first. `effective_bots` is the number of bots that say nothing alike and are as diverse: 1 if all
    are copies, the number of bots if no two overlap (Leinster & Cobbold 2012, order 2, overlaps as shares of the own).
    """

    own: Mapping[str, float]
    pairs: tuple[ReplyOverlap, ...]
    mean_overlap: float | None
    effective_bots: float
    method: str

    def closest_pair(self, bot: str) -> ReplyOverlap | None:
        """Return the pair of a bot and the bot that is most like it; None without another bot."""
        return next((each for each in self.pairs if bot in {each.first, each.second}), None)


def reply_diversity(replies: Mapping[str, Sequence[str]]) -> ReplyDiversity:
    """Return how diverse bots are; bots with fewer than two replies are left out.

    Overlaps compare every other reply of one bot with the other half of the other's, both ways round, so that pairs and
    copies are measured alike. Words are in lower case and split at blanks; a reply of one word counts as that word.

    >>> found = reply_diversity({"a": ["yes I do", "yes I do"], "b": ["no I do", "no I do"], "c": ["yes I do"] * 2})
    >>> [(each.first, each.second, round(each.overlap, 3)) for each in found.pairs]
    [('a', 'c', 1.0), ('a', 'b', 0.333), ('b', 'c', 0.333)]
    >>> round(found.effective_bots, 3)  # 9 / (3 + 2 * 1 + 4 / 3)
    1.421
    """
    halves = {
        bot: [_word_pairs(own[::2]), _word_pairs(own[1::2])] for bot, own in replies.items() if len(own) >= MIN_REPLIES
    }
    own = {bot: _jaccard(*each) for bot, each in halves.items()}
    pairs = [
        ReplyOverlap(first, second, _crossed(halves[first], halves[second]))
        for first, second in combinations(halves, 2)
    ]
    alike = sum(
        min(1.0, each.overlap / max((own[each.first] * own[each.second]) ** 0.5, each.overlap, 1e-12)) for each in pairs
    )
    k = len(halves)
    return ReplyDiversity(
        own=own,
        pairs=tuple(sorted(pairs, key=lambda each: -each.overlap)),
        mean_overlap=sum(each.overlap for each in pairs) / len(pairs) if pairs else None,
        effective_bots=k * k / (k + 2 * alike) if k else 0.0,
        method=METHOD,
    )


def _word_pairs(replies: Sequence[str]) -> frozenset[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for reply in replies:
        words = reply.lower().split()
        found.update(pairwise(words) if len(words) > 1 else [tuple(words)])
    return frozenset(found)


def _crossed(one: Sequence[frozenset[tuple[str, ...]]], other: Sequence[frozenset[tuple[str, ...]]]) -> float:
    return (_jaccard(one[0], other[1]) + _jaccard(one[1], other[0])) / 2


def _jaccard(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    return len(one & other) / len(one | other) if one or other else 1.0
