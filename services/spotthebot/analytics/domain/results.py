"""Shapes the statistics' results for the wire: bots by name, what is undefined as null."""

from collections.abc import Mapping
from math import isnan

from spotthebot.analytics import stats
from spotthebot.analytics.domain.study import FEATURES
from spotthebot.contracts.analytics import (
    BotWinRate,
    CoxCoefficient,
    FoolingRate,
    Interval,
    LogRank,
    PairResult,
    RankedBot,
    Ranking,
    Skill,
    Survival,
    SurvivalCurve,
    WinRates,
)


def win_rates(games: stats.Games, *, confidence_level: float) -> WinRates:
    """Count each pair's games and test them; bots best first, and of each pair the better one first."""
    counts = stats.count_wins(games)
    means = zip(counts.bots, counts.mean_win_rates.tolist(), strict=True)
    bots = [BotWinRate(bot=bot, win_rate=None if isnan(rate) else rate) for bot, rate in means]
    bots.sort(key=lambda each: (-1.0 if each.win_rate is None else -each.win_rate - 1, each.bot))
    place = {each.bot: number for number, each in enumerate(bots)}
    pairs = [_pair(test, 1 - confidence_level, place) for test in stats.sign_tests(counts)]
    pairs.sort(key=lambda pair: (place[pair.bot], place[pair.other]))
    return WinRates(pairs=tuple(pairs), bots=tuple(bots))


def ranking(games: stats.Games, *, confidence_level: float, resamples: int, seed: int) -> Ranking:
    """Rank the bots, best first, with the ratings beside."""
    ranked = stats.rank_bots(games, confidence_level=confidence_level, n_resamples=resamples, seed=seed)
    skills = {skill.bot: skill for skill in stats.rate_skills(games, seed=seed).bots}
    bots = sorted(ranked.bots, key=lambda each: (-(each.estimate if each.estimate is not None else -1.0), each.bot))
    return Ranking(
        method=ranked.method,
        resamples=ranked.n_resamples,
        bots=tuple(
            RankedBot(
                bot=each.bot,
                rank_low=each.rank_low,
                rank_high=each.rank_high,
                cluster=each.cluster,
                win_rate=Interval(estimate=each.estimate, low=each.low, high=each.high),
                trueskill=Skill(mu=skills[each.bot].mu, sigma=skills[each.bot].sigma),
            )
            for each in bots
        ),
    )


def survival(table: stats.AnnotationTable, *, confidence_level: float, resamples: int, seed: int) -> Survival:
    """Estimate the curves, compare each two, and fit what the features change."""
    status = stats.current_status(table)
    times = tuple(status.times.tolist())
    curves = stats.survival_curves(status, confidence_level=confidence_level, n_resamples=resamples, seed=seed)
    tests = stats.log_rank_tests(status)
    fits = stats.cox_regressions(status, features=FEATURES, confidence_level=confidence_level)
    return Survival(
        times=times,
        curves=tuple(_curve(curve, times) for curve in curves),
        log_rank=tuple(
            LogRank(
                bot=test.bot,
                other=test.other,
                statistic=test.statistic,
                p_value=test.p_value,
                p_adjusted=test.p_adjusted,
                significant=test.p_adjusted is not None and test.p_adjusted < 1 - confidence_level,
            )
            for test in tests
        ),
        cox=tuple(
            CoxCoefficient(
                bot=fit.bot,
                feature=coefficient.feature,
                coefficient=coefficient.estimate,
                standard_error=coefficient.standard_error,
                p_value=coefficient.p_value,
            )
            for fit in fits
            for coefficient in fit.coefficients
        ),
    )


def fooling_rates(table: stats.AnnotationTable) -> tuple[FoolingRate, ...]:
    """Count how often each is taken for a human, humans included."""
    return tuple(
        FoolingRate(
            bot=each.bot,
            human=each.human,
            unsure=each.unsure,
            bot_labels=each.bot_labels,
            n=each.n,
            rate=each.estimate,
        )
        for each in stats.fooling_rates(table, n_resamples=1)
    )


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


def _curve(curve: stats.SurvivalCurve, times: tuple[int, ...]) -> SurvivalCurve:
    """Put a curve on the common times: null where this bot was not inspected."""
    estimate = dict(zip(curve.times, curve.estimate, strict=True))
    low = dict(zip(curve.times, curve.low, strict=True))
    high = dict(zip(curve.times, curve.high, strict=True))
    return SurvivalCurve(
        bot=curve.bot,
        survival=tuple(estimate.get(time) for time in times),
        low=tuple(low.get(time) for time in times),
        high=tuple(high.get(time) for time in times),
    )
