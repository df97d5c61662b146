"""The conclusions of a ranking, in plain English: how many pairs of bots differ, and by which measure.

Each sentence names its measure: the ranks, the games of each pair and survival have tests of their own, which may
disagree. The first sentence is about the ranks.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from spotthebot.analytics.results.domain.reach import too_few_labels
from spotthebot.contracts.analytics.differences import Differences, differences_of_ranks
from spotthebot.contracts.analytics.measures import MeasureResult
from spotthebot.contracts.analytics.provenance import Settings
from spotthebot.contracts.analytics.ranking import Ranking
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.contracts.annotation.measures import Measure, MeasureKind
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.kit.text.characters import isolated

_MEASURES: Final[Mapping[str, str]] = {
    "win_rates": "mean win rate",
    "strengths": "Bradley-Terry strength",
    "fooling_rates": "fooling rate",
}
_KINDS: Final[Mapping[MeasureKind, str]] = {"scale": "mean", "share": "share of", "preference": "preference in"}
_STRENGTHS: Final = (
    "Not all of these bots met: their mean win rates are over different opponents, so the ranks go by Bradley-Terry"
    " strength."
)
_NO_GAMES: Final = (
    "No two bots met, so there are no win rates, and the ranks go by fooling rate: the share of a bot's labels that are"
    " human."
)
_NOTES: Final[Mapping[str, str]] = {"strengths": _STRENGTHS, "fooling_rates": _NO_GAMES}
WITH_TIES: Final = "With ties: the share of wins among all games; a tie counts as no win."
_MAX_NAMED: Final = 6
"""The limit of bots that a sentence lists by name; it gives the number of further bots."""


def findings(analysis: Analysis) -> tuple[str, ...]:
    """Return the findings as sentences: first about the ranks, then about the other measures."""
    ranking = analysis.ranking
    confidence = confidence_words(analysis.significance_level, is_corrected=analysis.correction != "none")
    return (
        *rank_findings(ranking.reason, ranking.ranked_by, ranking.best_ranks, confidence),
        *_leaders(ranking),
        *_intervals(ranking, analysis),
        *_pairs(ranking.differences, analysis.win_rates.differences),
        *_reach(analysis),
        *_survival(analysis.survival.differences),
        *_fooling_rates(analysis),
    )


def rank_findings(
    reason: str | None, ranked_by: str, best_ranks: Mapping[str, int | None], confidence: str
) -> tuple[str, ...]:
    """Return how many pairs of bots the ranks tell apart, or why there are no ranks."""
    if reason is not None:
        return (f"No ranking by mean win rate or Bradley-Terry strength: {reason}.",)
    sentence = difference_finding(_MEASURES[ranked_by], best_ranks, confidence)
    return (sentence, _NOTES[ranked_by]) if ranked_by in _NOTES else (sentence,)


def measure_finding(result: MeasureResult, settings: Settings) -> str:
    """Return how many pairs of bots one measure tells apart, or why there are no ranks by it."""
    measure = measure_words(result)
    if result.reason is not None:
        return f"No ranking by {measure}: {result.reason.rstrip('.')}."
    best_ranks = {each.bot: each.rank_low for each in result.bots}
    confidence = confidence_words(settings.significance_level, is_corrected=settings.correction != "none")
    return difference_finding(measure, best_ranks, confidence, first="above" if result.better is None else "ahead of")


def measure_words(measure: Measure) -> str:
    """Return the words for the number by which a measure ranks bots, such as `mean quality`."""
    return f"{_KINDS[measure.kind]} {measure.measure}"


def difference_finding(
    measure: str, best_ranks: Mapping[str, int | None], confidence: str, *, first: str = "ahead of"
) -> str:
    """Return a sentence with the number of pairs of bots that a measure tells apart; it names two bots.

    `first` says where the first of two bots stands. It is `above` by the share of a choice of which nobody said whether
    more is better.
    """
    ranks = {isolated(bot): rank for bot, rank in best_ranks.items() if rank is not None}
    found = differences_of_ranks(ranks.values())
    names = sorted(ranks, key=lambda bot: ranks[bot])
    if not names:
        return f"There is no ranking by {measure}: no bot has a decided game."
    if len(names) == 1:
        return f"Only {names[0]} has a {measure} that can be ranked: there is no other bot to compare it with."
    if len(names) > 2:
        return f"By {measure}, {_count_words(found)}{f', {confidence}' if found.shown else ''}."
    one, other = names
    if found.shown:
        return f"By {measure}, {one} is {first} {other}, {confidence}."
    return f"By {measure}, {one} and {other} cannot be told apart."


def confidence_words(significance_level: float, *, is_corrected: bool) -> str:
    """Return the words for the confidence of the differences behind the ranks."""
    if is_corrected:
        return f"with {100 * (1 - significance_level):g} % confidence"
    return f"each at the level {significance_level:g}, without a correction for the number of tests"


def adjustment_words(correction: str) -> str:
    """Return an explanation of adjusted p-values; empty if they are not adjusted."""
    if correction == "holm":
        return (
            "Holm's procedure multiplies p by the number of tests that are left;"
            " an adjusted p is at most 1, and never below that of a smaller p."
        )
    if correction == "bonferroni":
        return "Bonferroni's correction multiplies p by the number of tests; 1 is the most that it can become."
    return ""


def rank_words(correction: str) -> str:
    """Return what ranks and intervals hold for."""
    ranks = "Ranks are not corrected for the number of pairs" if correction == "none" else "All ranks hold at once"
    return f"{ranks}; an interval holds for one bot by itself."


def _count_words(found: Differences) -> str:
    if not found.shown:
        return f"none of the {found.pairs} pairs of bots can be told apart"
    if found.shown == found.pairs:
        return f"all {found.pairs} pairs of bots can be told apart"
    return f"{found.shown} of {found.pairs} pairs of bots can be told apart"


def _leaders(ranking: Ranking) -> Iterator[str]:
    names = [isolated(bot) for bot in ranking.leaders]
    if not names or ranking.differences.pairs == 1:
        return
    if len(names) == 1:
        yield f"{names[0]} is ahead of every other bot."
    else:
        yield f"The best bot is one of {_listed(names) if len(names) <= _MAX_NAMED else len(names)}."


def _intervals(ranking: Ranking, settings: Settings) -> Iterator[str]:
    count = ranking.undecided_intervals
    if count:
        pairs, have = ("pair", "has") if count == 1 else ("pairs", "have")
        rate = _MEASURES[ranking.ranked_by].removeprefix("mean ")
        ranks = "" if settings.correction == "none" else ", the ranks hold for all bots at once"
        yield (
            f"At least {count} {pairs} that cannot be told apart {have} {100 * settings.confidence_level:g} % intervals"
            f" of the {rate} that do not overlap: an interval holds for one bot by itself{ranks}."
        )


def _pairs(ranks: Differences, games: Differences) -> Iterator[str]:
    """Yield a sentence about the tests of each pair's own games, unless the ranks give the same counts."""
    if not games.pairs or ranks == games:
        return
    if games.pairs == 1:
        yield f"The test of the pair's own games shows {'a' if games.shown else 'no'} difference."
    else:
        yield (
            "Another test counts only the games of two bots with each other, none with other bots: by it,"
            f" {_count_words(games)}."
        )


def _reach(analysis: Analysis) -> Iterator[str]:
    sentence = too_few_labels(analysis.win_rates.pairs, analysis, analysis.counts)
    if sentence:
        yield sentence


def _survival(found: Differences) -> Iterator[str]:
    if found.pairs == 1:
        yield (
            "Survival is another measure, of how long bots pass: the log-rank test of the two shows"
            f" {'a' if found.shown else 'no'} difference."
        )
    elif found.pairs:
        yield f"Survival is another measure, of how long bots pass: by log-rank tests, {_count_words(found)}."


def _fooling_rates(analysis: Analysis) -> Iterator[str]:
    rates = [each for each in analysis.fooling_rates if each.rate is not None and each.bot != HUMAN_NAME]
    if rates:
        bot = max(rates, key=lambda each: each.rate or 0.0)
        yield f"Most often taken for a human is {isolated(bot.bot)}, in {bot.rate:.0%} of its labels."


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
