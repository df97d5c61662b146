"""Which bot wins against which, overall, by feature and by length; how often each passes for a human."""

from collections.abc import Mapping
from typing import Final

from spotthebot.analytics.labels.domain import Sample
from spotthebot.analytics.provenance.domain import Parameters, interval_of, uncertainty_of
from spotthebot.analytics.stats import fooling_rate
from spotthebot.analytics.stats.ranking import PairInterval, rank_bots
from spotthebot.analytics.stats.segments import ShareInterval, segment_results
from spotthebot.analytics.stats.significance import PairComparison, PairTest, pair_tests
from spotthebot.analytics.stats.wins import HUMAN_LIKENESS, SSA, Games, Unit, Weighting, play_games
from spotthebot.contracts.analytics.provenance import Interval
from spotthebot.contracts.analytics.wins import (
    BotWinRate,
    Features,
    FoolingRate,
    PairResult,
    Segment,
    SegmentBot,
    WinRates,
)
from spotthebot.statistics.adjustment import Adjustment
from spotthebot.statistics.uncertainty import Clusters


def win_rates(sample: Sample, request: Parameters) -> WinRates:
    """Count and test the games of each pair. The best bots come first, and in each pair the better bot is first.

    If no two bots met, there are no pairs.
    """
    return _win_rates(_games(sample, request), request)


def features(sample: Sample, request: Parameters) -> Features:
    """Count and test the preferences of each pair, feature by feature."""

    def by(criterion: str) -> WinRates:
        return _win_rates(_games(sample, request, criterion), request)

    return Features(fluency=by("fluency"), sensibleness=by("sensibleness"), specificity=by("specificity"), ssa=by(SSA))


def segments(sample: Sample, request: Parameters) -> tuple[Segment, ...]:
    """Analyse the annotations separately for each number of exchanges."""
    results = segment_results(
        sample.table, confidence_level=request.confidence_level, clusters=Clusters(request.clusters)
    )
    return tuple(
        Segment(
            exchanges=result.exchanges,
            ties=result.ties,
            n=result.n,
            bots=tuple(
                SegmentBot(
                    bot=bot.bot,
                    win_rate=bot.win_rate.estimate,
                    human_share=bot.human_share.estimate,
                    unsure_share=bot.unsure_share.estimate,
                    n=bot.n,
                    win_rate_interval=_share(bot.win_rate),
                    human_share_interval=_share(bot.human_share),
                    unsure_share_interval=_share(bot.unsure_share),
                )
                for bot in result.bots
            ),
        )
        for result in results
    )


def fooling_rates(sample: Sample, request: Parameters) -> tuple[FoolingRate, ...]:
    """Count how often each speaker, bots and people, is taken for a human."""
    rates = fooling_rate.fooling_rates(
        sample.table, confidence_level=request.confidence_level, clusters=Clusters(request.clusters)
    )
    return tuple(
        FoolingRate.of(each, rate=each.estimate, uncertainty=uncertainty_of(each.uncertainty)) for each in rates
    )


def _games(sample: Sample, request: Parameters, criterion: str = HUMAN_LIKENESS) -> Games:
    unit, weighting = Unit(request.unit), Weighting(request.weighting)
    return play_games(sample.table, unit=unit, criterion=criterion, weighting=weighting)


def _win_rates(games: Games, request: Parameters) -> WinRates:
    clusters = Clusters(request.clusters)
    ranked = rank_bots(
        games,
        confidence_level=request.confidence_level,
        significance_level=request.significance_level,
        clusters=clusters,
        n_resamples=1,
    )
    place = {each.bot: number for number, each in enumerate(ranked.bots)}
    tests = pair_tests(
        games, test=_PAIR_TESTS[request.test], clusters=clusters, adjustment=Adjustment(request.correction)
    )
    pairs = [
        _pair(test, interval, request.significance_level, place)
        for test, interval in zip(tests, ranked.pairs, strict=True)
        if len(games)
    ]
    pairs.sort(key=lambda pair: (place[pair.bot], place[pair.other]))
    return WinRates(
        pairs=tuple(pairs),
        bots=tuple(
            BotWinRate.of(each, win_rate=each.estimate, uncertainty=uncertainty_of(each.uncertainty))
            for each in ranked.bots
        ),
    )


_PAIR_TESTS: Final = {
    "clustered": PairTest.CLUSTERED,
    "sign": PairTest.SIGN,
    "chi_square": PairTest.CHI_SQUARE,
    "score": PairTest.CLUSTERED,
}


def _pair(test: PairComparison, interval: PairInterval, alpha: float, place: Mapping[str, int]) -> PairResult:
    turned = place[test.bot] > place[test.other]
    bot, other = (test.other, test.bot) if turned else (test.bot, test.other)
    wins, losses = (test.losses, test.wins) if turned else (test.wins, test.losses)
    low, high = interval.low, interval.high
    if turned and low is not None and high is not None:
        low, high = 1 - high, 1 - low
    return PairResult(
        bot=bot,
        other=other,
        wins=wins,
        losses=losses,
        ties=test.ties,
        win_rate=wins / test.n if test.n else None,
        win_rate_with_ties=wins / (test.n + test.ties) if test.n + test.ties else None,
        low=low,
        high=high,
        p_value=test.p_value,
        p_adjusted=test.p_adjusted,
        significant=test.p_adjusted is not None and test.p_adjusted < alpha,
        test=test.method,
        family=test.family,
        uncertainty=uncertainty_of(interval.uncertainty),
        reason=test.reason,
    )


def _share(found: ShareInterval) -> Interval:
    return interval_of(found.estimate, found.low, found.high, found.uncertainty)
