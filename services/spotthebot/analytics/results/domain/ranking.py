"""Ranks the bots, and shows which bots can be told apart."""

from spotthebot.analytics import stats
from spotthebot.analytics.labels.domain import Sample
from spotthebot.analytics.provenance.domain import Parameters, interval_of, uncertainty_of
from spotthebot.contracts.analytics.ranking import RankedBot, Ranking, Skill, Strength


def ranking(sample: Sample, request: Parameters) -> Ranking:
    """Rank the bots, best first, with their ratings."""
    games = stats.play_games(sample.table, unit=stats.Unit(request.unit))
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
                trueskill=_skill(skills[each.bot]),
                bradley_terry=_strength(davidson[each.bot]),
            )
            for each in ranked.bots
        ),
    )


def _skill(skill: stats.Skill) -> Skill:
    return Skill.of(skill, uncertainty=uncertainty_of(skill.uncertainty))


def _strength(strength: stats.Strength) -> Strength:
    return Strength.of(
        strength,
        standard_error=strength.uncertainty.standard_error,
        uncertainty=uncertainty_of(strength.uncertainty),
    )
