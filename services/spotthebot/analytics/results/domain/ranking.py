"""Ranks the bots, and shows which bots can be told apart: by games, or by fooling rates where no two bots met."""

from typing import Final

from spotthebot.analytics import stats
from spotthebot.analytics.labels.domain import Sample
from spotthebot.analytics.measures.domain.measure_results import measured_pair
from spotthebot.analytics.provenance.domain import Parameters, interval_of, uncertainty_of
from spotthebot.analytics.stats.fooling_rate import FoolingRate, fooling_rates, labels_as_ratings
from spotthebot.analytics.stats.rating_differences import rating_differences
from spotthebot.analytics.stats.ratings import RatedBot, rank_ratings
from spotthebot.contracts.analytics.provenance import Interval
from spotthebot.contracts.analytics.ranking import RankedBot, Ranking, Skill, Strength

_NO_GAMES: Final = Interval(estimate=None, low=None, high=None, uncertainty=None)


def ranking(sample: Sample, request: Parameters) -> Ranking:
    """Rank the bots, best first, with their ratings; by fooling rates if no two bots met."""
    return _by_games(sample, request) if sample.table.has_games else _by_fooling_rates(sample, request)


def _by_games(sample: Sample, request: Parameters) -> Ranking:
    games = stats.play_games(sample.table, unit=stats.Unit(request.unit), weighting=stats.Weighting(request.weighting))
    ranked = stats.rank_bots(
        games,
        confidence_level=request.confidence_level,
        significance_level=request.significance_level,
        clusters=stats.Clusters(request.clusters),
        adjustment=stats.Adjustment(request.correction),
        n_resamples=request.resamples,
        seed=request.seed,
    )
    ratings = stats.rate_skills(
        games,
        clusters=stats.Clusters(request.clusters),
        confidence_level=request.confidence_level,
        significance_level=request.significance_level,
        adjustment=stats.Adjustment(request.correction),
        seed=request.seed,
    )
    strengths = stats.rate_davidson(
        games, confidence_level=request.confidence_level, clusters=stats.Clusters(request.clusters)
    )
    skills = {skill.bot: skill for skill in ratings.bots}
    davidson = {strength.bot: strength for strength in strengths.bots}
    return Ranking(
        method=ranked.method,
        ranked_by=ranked.ranked_by.value,
        rank_method=ranked.rank_method,
        comparisons=ranked.n_comparisons,
        reason=ranked.reason,
        resamples=ranked.n_resamples,
        trueskill_method=ratings.method,
        draw_probability=ratings.draw_probability,
        bradley_terry_method=strengths.method,
        bots=tuple(
            RankedBot.of(
                each,
                win_rate=interval_of(each.estimate, each.low, each.high, each.uncertainty),
                fooling_rate=None,
                trueskill=_skill(skills[each.bot]),
                bradley_terry=_strength(davidson[each.bot]),
            )
            for each in ranked.bots
        ),
        fooling_pairs=(),
    )


def _by_fooling_rates(sample: Sample, request: Parameters) -> Ranking:
    ratings, clusters = labels_as_ratings(sample.table), stats.Clusters(request.clusters)
    adjustment = stats.Adjustment(request.correction)
    ranked = rank_ratings(
        ratings,
        confidence_level=request.confidence_level,
        significance_level=request.significance_level,
        clusters=clusters,
        adjustment=adjustment,
    )
    rates = fooling_rates(sample.table, confidence_level=request.confidence_level, clusters=clusters)
    by_name = {each.bot: each for each in rates}
    people = by_name.get(stats.HUMAN)
    bots = [_fooling_bot(by_name[each.bot], each) for each in ranked.bots]
    differences = rating_differences(
        ratings, confidence_level=request.confidence_level, clusters=clusters, adjustment=adjustment
    )
    return Ranking(
        method=rates[0].method + f", {clusters.words}",
        ranked_by="fooling_rates",
        rank_method=f"sets of ranks that hold together: {ranked.rank_method}",
        comparisons=len(differences),
        reason=None,
        resamples=0,
        trueskill_method="",
        bradley_terry_method="",
        draw_probability=0.0,
        bots=tuple(bots if people is None else [*bots, _fooling_bot(people, None)]),
        fooling_pairs=tuple(measured_pair(each, request.significance_level) for each in differences),
    )


def _fooling_bot(rate: FoolingRate, ranked: RatedBot | None) -> RankedBot:
    """Return a bot with its ranks by fooling rate, or people without ranks."""
    return RankedBot(
        bot=rate.bot,
        rank_low=ranked and ranked.rank_low,
        rank_high=ranked and ranked.rank_high,
        reason=None,
        cluster=ranked and ranked.cluster,
        win_rate=_NO_GAMES,
        fooling_rate=interval_of(rate.estimate, rate.low, rate.high, rate.uncertainty),
        win_rate_with_ties=None,
        tie_rate=None,
        rank_probabilities=(),
        trueskill=None,
        bradley_terry=None,
    )


def _skill(skill: stats.Skill) -> Skill:
    return Skill.of(skill, uncertainty=uncertainty_of(skill.uncertainty))


def _strength(strength: stats.Strength) -> Strength:
    return Strength.of(
        strength,
        standard_error=strength.uncertainty.standard_error,
        uncertainty=uncertainty_of(strength.uncertainty),
    )
