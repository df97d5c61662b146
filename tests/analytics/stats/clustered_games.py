"""Draws games of pairs of bots whose outcomes are alike within conversations and within annotators."""

from functools import cache

import numpy as np
from scipy import optimize, stats

from spotthebot.analytics.stats.wins import Games, Unit


def draw_games(
    rng: np.random.Generator,
    *,
    k: int,
    win_rate: float,
    tie_rate: float,
    shape: tuple[int, int, int],
    correlations: tuple[float, float],
    shares_annotators: bool = False,
) -> Games:
    """Let each two of `k` bots meet in a study of its own; `shape` is (conversations, games of each, annotators).

    An outcome is a normal number cut at two thresholds, the sum of effects of the conversation, of the annotator and of
    noise, that give these intraclass `correlations` of conversations and of annotators. Annotators share the games of a
    study evenly, and the games of a conversation are of different annotators as far as there are so many. With
    `shares_annotators` all studies have the same ones, whose effects differ from pair to pair.
    """
    conversations, each, annotators = shape
    first, second = np.triu_indices(k, 1)
    studies, n = len(first), conversations * each
    conversation = np.repeat(np.arange(conversations), each)
    rounds = np.argsort(rng.random((studies, -(-n // annotators), annotators)), axis=2)
    annotator = rounds.reshape(studies, -1)[:, :n]
    shares = [_latent(correlation, win_rate, tie_rate) for correlation in correlations]
    effect = np.sqrt(shares[0]) * rng.normal(size=(studies, conversations))[:, conversation]
    effect += np.sqrt(shares[1]) * np.take_along_axis(rng.normal(size=(studies, annotators)), annotator, axis=1)
    seen = effect + np.sqrt(1 - sum(shares)) * rng.normal(size=(studies, n))
    lost, won = _thresholds(win_rate, tie_rate)
    study = np.arange(studies)[:, None]
    return Games(
        bots=tuple(f"bot {at}" for at in range(k)),
        first=np.repeat(first, n),
        second=np.repeat(second, n),
        outcome=((seen > won).astype(np.int64) - (seen < lost)).ravel(),
        conversation=(study * conversations + conversation).ravel(),
        annotator=(annotator if shares_annotators else study * annotators + annotator).ravel(),
        unit=Unit.ANNOTATION,
        criterion="human",
    )


def _thresholds(win_rate: float, tie_rate: float) -> tuple[float, float]:
    lost, won = (1 - tie_rate) * (1 - win_rate), (1 - tie_rate) * win_rate
    return float(stats.norm.ppf(lost)), float(stats.norm.isf(won))


@cache
def _latent(correlation: float, win_rate: float, tie_rate: float) -> float:
    """Return the correlation of the normal numbers that gives this one of what a game adds to the win rate."""
    if not correlation:
        return 0.0
    lost, won = _thresholds(win_rate, tie_rate)

    def excess(rho: float) -> float:
        both = stats.multivariate_normal(cov=[[1, rho], [rho, 1]]).cdf
        win_win, loss_loss = both([-won, -won]), both([lost, lost])
        win_loss = stats.norm.cdf(lost) - both([lost, won])
        mean = (1 - win_rate) ** 2 * win_win + win_rate**2 * loss_loss - 2 * win_rate * (1 - win_rate) * win_loss
        return float(mean / ((1 - tie_rate) * win_rate * (1 - win_rate)) - correlation)

    return float(optimize.brentq(excess, 1e-4, 0.95))
