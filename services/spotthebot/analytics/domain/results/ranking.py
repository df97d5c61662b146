"""Which bots can be told apart."""

from spotthebot.analytics import stats
from spotthebot.analytics.domain.parameters import Parameters
from spotthebot.analytics.domain.study import Sample
from spotthebot.contracts.analytics import Ranking


def ranking(sample: Sample, wanted: Parameters) -> Ranking:
    """Rank the bots, best first, with the ratings beside."""
    games = stats.play_games(sample.table, unit=stats.Unit(wanted.unit))
    settings = {"confidence_level": wanted.confidence_level, "n_resamples": wanted.resamples, "seed": wanted.seed}
    ranked = stats.rank_bots(games, **settings)
    return Ranking(method=ranked.method, resamples=ranked.n_resamples, draw_probability=0, bots=())
