"""Who wins against whom, overall, by feature and by length; how often each passes for a human."""

from collections.abc import Mapping
from math import isnan

from spotthebot.analytics import stats
from spotthebot.analytics.domain.parameters import Parameters
from spotthebot.analytics.domain.results.uncertainty import uncertainty_of
from spotthebot.analytics.domain.study import Sample
from spotthebot.contracts.analytics import (
    BotWinRate,
    Features,
    FoolingRate,
    Interval,
    PairResult,
    Segment,
    SegmentBot,
    WinRates,
)


def win_rates(sample: Sample, request: Parameters) -> WinRates:
    """Count each pair's games and test them; bots best first, and of each pair the better one first."""
    return _win_rates(stats.play_games(sample.table, unit=stats.Unit(request.unit)), request)


def features(sample: Sample, request: Parameters) -> Features:
    """Do the same by what was preferred."""

    def by(criterion: str) -> WinRates:
        games = stats.play_games(sample.table, unit=stats.Unit(request.unit), criterion=criterion)
        return _win_rates(games, request)

    return Features(
        fluency=by("fluency"), sensibleness=by("sensibleness"), specificity=by("specificity"), ssa=by(stats.SSA)
    )


def segments(sample: Sample, request: Parameters) -> tuple[Segment, ...]:
    """Analyse each number of exchanges by itself, per annotation."""
    results = stats.segment_results(
        sample.table, confidence_level=request.confidence_level, n_resamples=request.resamples, seed=request.seed
    )
    return tuple(
        Segment(
            exchanges=result.exchanges,
            ties=result.ties,
            n=result.n,
            bots=tuple(
                SegmentBot(
                    bot=bot.bot,
                    win_rate=bot.win_rate,
                    human_share=bot.human_share,
                    unsure_share=bot.unsure_share,
                    n=bot.n,
                    win_rate_interval=Interval(estimate=bot.win_rate, low=bot.win_rate_low, high=bot.win_rate_high),
                    human_share_interval=Interval(
                        estimate=bot.human_share, low=bot.human_share_low, high=bot.human_share_high
                    ),
                )
                for bot in result.bots
            ),
        )
        for result in results
    )


def fooling_rates(sample: Sample, request: Parameters) -> tuple[FoolingRate, ...]:
    """Count how often each is taken for a human, humans included."""
    rates = stats.fooling_rates(
        sample.table, confidence_level=request.confidence_level, clusters=stats.Clusters(request.clusters)
    )
    return tuple(
        FoolingRate(
            bot=each.bot,
            human=each.human,
            unsure=each.unsure,
            bot_labels=each.bot_labels,
            n=each.n,
            rate=each.estimate,
            low=each.low,
            high=each.high,
            uncertainty=uncertainty_of(each.uncertainty),
        )
        for each in rates
    )


def _win_rates(games: stats.Games, request: Parameters) -> WinRates:
    counts = stats.count_wins(games)
    means = zip(counts.bots, counts.mean_win_rates.tolist(), strict=True)
    bots = [BotWinRate(bot=bot, win_rate=None if isnan(rate) else rate) for bot, rate in means]
    bots.sort(key=lambda each: (-1.0 if each.win_rate is None else -each.win_rate - 1, each.bot))
    place = {each.bot: number for number, each in enumerate(bots)}
    tests = stats.sign_tests(counts, adjustment=stats.Adjustment(request.correction))
    pairs = [_pair(test, 1 - request.confidence_level, place) for test in tests]
    pairs.sort(key=lambda pair: (place[pair.bot], place[pair.other]))
    return WinRates(pairs=tuple(pairs), bots=tuple(bots))


def _pair(test: stats.SignTest, alpha: float, place: Mapping[str, int]) -> PairResult:
    turned = place[test.bot] > place[test.other]
    bot, other = (test.other, test.bot) if turned else (test.bot, test.other)
    wins, losses = (test.losses, test.wins) if turned else (test.wins, test.losses)
    return PairResult(
        bot=bot,
        other=other,
        wins=wins,
        losses=losses,
        ties=test.ties,
        win_rate=wins / test.n if test.n else None,
        p_value=test.p_value if test.n else None,
        p_adjusted=test.p_adjusted if test.n else None,
        significant=bool(test.n) and test.p_adjusted < alpha,
    )
