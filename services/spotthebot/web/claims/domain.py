"""The sentences above the figures. They claim no more than a campaign's statistics support.

They are based on corrected tests, and on the sets of ranks, which hold for all bots together at the tests' level. Each
sentence names its measure: the ranks, each pair's games and survival have separate tests, which may disagree. A name in
a sentence is isolated, so that its writing direction does not reorder the text around it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spotthebot.contracts.analytics.differences import Differences, differences_of_ranks
from spotthebot.contracts.analytics.measures import MeasureResult
from spotthebot.contracts.analytics.ranking import RankedBy, Ranking
from spotthebot.contracts.analytics.results import RankingOut, SurvivalOut, WinRatesOut
from spotthebot.contracts.analytics.standings import PublicRankingOut, StandingMeasure, StandingOut
from spotthebot.contracts.annotation.measures import MeasureKind
from spotthebot.web.layout.domain import Numbers

_ISOLATE: Final = "\N{FIRST STRONG ISOLATE}"
_END: Final = "\N{POP DIRECTIONAL ISOLATE}"
_MAX_NAMED: Final = 6
"""The maximum number of bots that a sentence names. With more bots, the sentence gives their number."""


@dataclass(frozen=True)
class Phrase:
    """The name of a text in the catalogue, and the values for its places. A list of names is a `Names`."""

    text: str
    places: Mapping[str, Any]


_OTHER_MEASURE: Final = Phrase("other_measure", {})


@dataclass(frozen=True)
class Names:
    """A list of names in a sentence."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class MeasureName:
    """A measure of a protocol: a question or one choice of a question. Its values are points, shares or preferences."""

    name: str
    kind: MeasureKind


@dataclass(frozen=True)
class Claim:
    """The claim of a campaign: the main sentence, and the sentences after it."""

    lead: Phrase
    rest: tuple[Phrase, ...]


def claim(ranking: RankingOut, win_rates: WinRatesOut) -> Claim:
    """Return the claim that a ranking and the tests of pairs support."""
    found, games = ranking.ranking, win_rates.win_rates.differences
    if found.reason is not None:
        reason = Phrase("because", {"reason": found.reason.rstrip(".")})
        return Claim(Phrase("not_ranked", {}), (reason, *_own_games(Differences(0, 0), games), _OTHER_MEASURE))
    lead = _lead_of_ranks(found.ranked_by, found.best_ranks, 1 - ranking.significance_level)
    ranks = found.differences
    return Claim(
        lead,
        (
            *((Phrase(found.ranked_by, {}),) if found.ranked_by != "win_rates" else ()),
            *_leaders(found),
            *_intervals(found, ranking.confidence_level),
            *_own_games(ranks, games),
            *((_OTHER_MEASURE,) if not ranks.pairs or ranks.shown < ranks.pairs else ()),
            *_ties(win_rates),
        ),
    )


def survival_claim(survival: SurvivalOut) -> Claim | None:
    """Return the claim that the log-rank tests between bots support; None without a test."""
    tests, found = survival.survival.between_bots, survival.survival.differences
    if not tests:
        return None
    places = {"measure": "survival", "level": 1 - survival.significance_level}
    if found.pairs > 1:
        lead = _lead(found, places)
    else:
        text = "two_differ" if found.shown else "two_alike"
        lead = Phrase(text, {**places, "bots": Names((tests[0].bot, tests[0].other))})
    return Claim(lead, (Phrase("not_the_ranks", {}),))


def board_claim(board: StandingOut | PublicRankingOut) -> Phrase | None:
    """Return the sentence about the ranks of released results; None without ranks."""
    if board.measure is not None and board.settings is not None:
        return measure_claim(board.measure, 1 - board.settings.significance_level)
    if board.ranked_by is None or board.settings is None:
        return None
    best_ranks = {each.bot: each.rank_low for each in board.bots}
    return _lead_of_ranks(board.ranked_by, best_ranks, 1 - board.settings.significance_level)


def measure_claim(result: MeasureResult | StandingMeasure, level: float) -> Phrase:
    """Return the sentence about the ranks by one measure, at this level of confidence."""
    best_ranks = {each.bot: each.rank_low for each in result.bots}
    return _lead_of_ranks(MeasureName(result.measure, result.kind), best_ranks, level)


def written(phrase: Phrase, texts: Callable[..., str], number: Numbers) -> str:
    """Write a phrase in one language. `texts` returns the language's texts, `number` writes levels and shares."""

    def in_words(name: str, value: Any) -> object:  # noqa: ANN401 - what fills a place
        if isinstance(value, Names):
            return _listed([f"{_ISOLATE}{each}{_END}" for each in value.names], texts)
        if name == "level":
            return number.level(value)
        if isinstance(value, MeasureName):
            return texts(f"dashboard.claims.measures.of_{value.kind}", measured=f"{_ISOLATE}{value.name}{_END}")
        if name == "measure":
            return texts(f"dashboard.claims.measures.{value}")
        return number.percent(value) if name == "share" else value

    places = {name: in_words(name, value) for name, value in phrase.places.items()}
    return texts(f"dashboard.claims.{phrase.text}", **places)


def _lead_of_ranks(measure: RankedBy | MeasureName, best_ranks: Mapping[str, int | None], level: float) -> Phrase:
    """Return the sentence about the number of pairs whose ranks differ. With two bots, the sentence names them."""
    ranks = {bot: rank for bot, rank in best_ranks.items() if rank is not None}
    names = sorted(ranks, key=lambda bot: ranks[bot])
    found = differences_of_ranks(ranks.values())
    places = {"measure": measure, "level": level}
    if not names:
        return Phrase("nothing_decided", places)
    if len(names) == 1:
        return Phrase("one_ranked", {**places, "bot": Names((names[0],))})
    if len(names) > 2:
        return _lead(found, places)
    if not found.shown:
        return Phrase("two_alike", {**places, "bots": Names(tuple(names))})
    first, second = names
    return Phrase("two_ahead", {**places, "first": Names((first,)), "second": Names((second,))})


def _listed(names: Sequence[str], texts: Callable[..., str]) -> str:
    *others, last = names
    return texts("dashboard.claims.list", others=", ".join(others), last=last) if others else last


def _lead(found: Differences, places: Mapping[str, Any]) -> Phrase:
    text = "no_pairs" if not found.shown else "all_pairs" if found.shown == found.pairs else "some_pairs"
    return Phrase(text, {**places, "shown": found.shown, "pairs": found.pairs})


def _leaders(ranking: Ranking) -> tuple[Phrase, ...]:
    names = ranking.leaders
    if not names or ranking.differences.pairs == 1:
        return ()
    if len(names) > _MAX_NAMED:
        return (Phrase("many_first", {"count": len(names)}),)
    return (Phrase("one_first" if len(names) == 1 else "some_first", {"bots": Names(names)}),)


def _intervals(ranking: Ranking, level: float) -> tuple[Phrase, ...]:
    count = ranking.undecided_intervals
    text = "fooling_intervals" if ranking.ranked_by == "fooling_rates" else "intervals"
    return (Phrase(text, {"count": count, "level": level}),) if count else ()


def _own_games(ranks: Differences, games: Differences) -> tuple[Phrase, ...]:
    """Return the sentence about the tests of each pair's own games; nothing if the ranks say the same."""
    if not games.pairs or ranks == games:
        return ()
    if games.pairs == 1:
        return (Phrase("own_games_differ" if games.shown else "own_games_alike", {}),)
    return (Phrase("own_games", {"shown": games.shown, "pairs": games.pairs}),)


def _ties(win_rates: WinRatesOut) -> tuple[Phrase, ...]:
    pairs = win_rates.win_rates.pairs
    games = sum(each.wins + each.losses + each.ties for each in pairs)
    if not games:
        return ()
    return (Phrase("ties", {"share": sum(each.ties for each in pairs) / games}),)
