"""The sentences that a campaign's statistics allow, and no more: what stands above the figures.

They rest on the sets of ranks, which hold for all bots at once with the level of the tests, and on the corrected tests
of pairs. A name that a sentence holds is isolated, so that its direction of writing changes nothing around it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spotthebot.contracts.analytics import PairResult, RankedBot, RankingOut, WinRatesOut
from spotthebot.web.domain.numbers import Numbers

_ISOLATE: Final = "\N{FIRST STRONG ISOLATE}"
_END: Final = "\N{POP DIRECTIONAL ISOLATE}"
_MAX_NAMED: Final = 6
"""Bots that a sentence lists by their names; of more it says how many."""


@dataclass(frozen=True)
class Phrase:
    """A text by its name in the catalogue, with what fills its places; lists of names are `Names`."""

    text: str
    places: Mapping[str, Any]


@dataclass(frozen=True)
class Names:
    """Names that a sentence lists."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Claim:
    """What can be said: the sentence that matters most, and those behind it."""

    lead: Phrase
    rest: tuple[Phrase, ...]


def claim(ranking: RankingOut, win_rates: WinRatesOut) -> Claim:
    """Return what a ranking and the tests of pairs allow to say."""
    level = 1 - ranking.significance_level
    ranked = [each for each in ranking.ranking.bots if each.rank_low is not None and each.rank_high is not None]
    pairs = [each for each in win_rates.win_rates.pairs if each.win_rate is not None]
    if ranking.ranking.reason is not None:
        return Claim(
            Phrase("not_ranked", {}),
            (Phrase("because", {"reason": ranking.ranking.reason.rstrip(".")}), *_of_pairs(pairs)),
        )
    if not ranked:
        return Claim(Phrase("nothing_decided", {}), ())
    return Claim(_lead(ranked, level), (*_on_ranks(ranked, pairs, level), *_ties(win_rates)))


def written(phrase: Phrase, texts: Callable[..., str], number: Numbers) -> str:
    """Return a phrase in the words of a language: `texts` finds them, `number` writes levels and shares."""

    def in_words(name: str, value: Any) -> object:  # noqa: ANN401 - what fills a place
        if isinstance(value, Names):
            return _listed([f"{_ISOLATE}{each}{_END}" for each in value.names], texts)
        if name == "level":
            return number.level(value)
        return number.percent(value) if name == "share" else value

    places = {name: in_words(name, value) for name, value in phrase.places.items()}
    return texts(f"dashboard.claims.{phrase.text}", **places)


def _listed(names: Sequence[str], texts: Callable[..., str]) -> str:
    *others, last = names
    return texts("dashboard.claims.list", others=", ".join(others), last=last) if others else last


def _lead(ranked: Sequence[RankedBot], level: float) -> Phrase:
    first = [each.bot for each in ranked if each.rank_low == 1]
    if len(first) == 1:
        return Phrase("one_first", {"bot": Names((first[0],)), "level": level})
    if len(first) == len(ranked):
        return Phrase("none_ahead", {"count": len(ranked)})
    if len(first) > _MAX_NAMED:
        return Phrase("many_first", {"count": len(first), "level": level})
    return Phrase("some_first", {"bots": Names(tuple(first)), "level": level})


def _on_ranks(ranked: Sequence[RankedBot], pairs: Sequence[PairResult], level: float) -> tuple[Phrase, ...]:
    if all(each.rank_low == each.rank_high for each in ranked):
        return (Phrase("all_places", {"count": len(ranked), "level": level}),)
    return _of_pairs(pairs)


def _of_pairs(pairs: Sequence[PairResult]) -> tuple[Phrase, ...]:
    clear = sum(each.significant for each in pairs)
    return (Phrase("pairs", {"clear": clear, "count": len(pairs)}),) if pairs else ()


def _ties(win_rates: WinRatesOut) -> tuple[Phrase, ...]:
    pairs = win_rates.win_rates.pairs
    games = sum(each.wins + each.losses + each.ties for each in pairs)
    if not games:
        return ()
    return (Phrase("ties", {"share": sum(each.ties for each in pairs) / games}),)
