"""Converts ratings, priors and environments from and to the package `trueskill`, for users of this package.

The package is imported only in these functions, since `rate_skills` does not need it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from spotthebot.analytics.stats.trueskill_updates import Priors, SkillSettings
from spotthebot.statistics.errors import SettingOutOfRange

if TYPE_CHECKING:
    from trueskill import Rating, TrueSkill

    from spotthebot.analytics.stats.skill import SkillRatings


def settings_of(environment: "TrueSkill") -> SkillSettings:
    """Return the prior, spread, drift and draw probability of an environment; raises `SettingOutOfRange`.

    >>> import trueskill
    >>> settings_of(trueskill.TrueSkill(mu=1500, sigma=500, beta=250, tau=5, draw_probability=0.2))
    SkillSettings(mu=1500.0, sigma=500.0, beta=250.0, tau=5.0, draw_probability=0.2)
    """
    if callable(environment.draw_probability):
        raise SettingOutOfRange(setting="draw_probability", allowed="a number, not a function", value="a function")
    mu, sigma, beta, tau, draw_probability = (
        float(getattr(environment, name)) for name in ("mu", "sigma", "beta", "tau", "draw_probability")
    )
    return SkillSettings(mu=mu, sigma=sigma, beta=beta, tau=tau, draw_probability=draw_probability)


def environment_of(ratings: "SkillRatings") -> "TrueSkill":
    """Return the environment with the settings of these ratings, including the draw probability that was used.

    >>> from spotthebot.analytics.stats import AnnotationTable, play_games, rate_skills
    >>> rows = [(0, "A", "B", 2, "human", "bot", 0), (1, "A", "B", 2, "bot", "bot", 0)]
    >>> environment_of(rate_skills(play_games(AnnotationTable.from_rows(rows)))).draw_probability  # 1 tie of 2 games
    0.5
    """
    from trueskill import TrueSkill  # noqa: PLC0415 - ratings do without it

    settings = ratings.settings
    return TrueSkill(
        mu=settings.mu,
        sigma=settings.sigma,
        beta=settings.beta,
        tau=settings.tau,
        draw_probability=ratings.draw_probability,
        backend="scipy",
    )


def ratings_of(ratings: "SkillRatings") -> "dict[str, Rating]":
    """Return the rating of each bot. Use it with `trueskill`, or as the prior for other games (`rate_skills`).

    >>> import trueskill
    >>> from spotthebot.analytics.stats import AnnotationTable, play_games, rate_skills
    >>> games = play_games(AnnotationTable.from_rows([(0, "A", "B", 2, "human", "bot", 0)]))
    >>> ours = rate_skills(games, settings=SkillSettings(tau=25 / 300, draw_probability=0.1))
    >>> winner, loser = ratings_of(ours).values()
    >>> winner, loser = trueskill.rate_1vs1(winner, loser, env=environment_of(ours))  # A wins once more
    >>> winner.mu > 29.396, loser.mu < 20.604
    (True, True)
    """
    from trueskill import Rating  # noqa: PLC0415 - ratings do without it

    return {bot.bot: Rating(mu=bot.mu, sigma=bot.sigma) for bot in ratings.bots}


def priors_of(bots: Sequence[str], known: "Mapping[str, Rating]", settings: SkillSettings) -> Priors:
    """Return the priors of these bots: the rating of a bot in `known`, and the settings' prior for other bots.

    Raises `SettingOutOfRange` for a rating that is not a number, and for a rating of a bot that is not in `bots`.
    """
    stranger = next((bot for bot in known if bot not in bots), None)
    if stranger is not None:
        raise SettingOutOfRange(setting="priors", allowed="ratings of the bots that played", value=stranger)
    priors = settings.priors(len(bots))
    for at, bot in enumerate(bots):
        if bot in known:
            priors.mu[at], priors.sigma[at] = known[bot].mu, known[bot].sigma
    if not (np.isfinite(priors.mu).all() and np.isfinite(priors.sigma).all() and np.all(priors.sigma > 0)):
        raise SettingOutOfRange(setting="priors", allowed="a finite mu and a sigma above 0", value="others")
    return priors
