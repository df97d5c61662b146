"""Agreement, correctness, times and strengths: what holds in a campaign whose truth is known.

Every side of a segment has a latent humanness: its bot's, less a slope over the exchanges, plus an effect of the
conversation's side, the annotator's leniency, the annotator's taste for the bot, and noise. Two cuts make the labels.
Times are lognormal with effects of annotator and conversation. The truth is computed from the model, by integrals.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final, TypeAlias

import numpy as np
from scipy import optimize
from scipy import stats as distributions

from benchmarks.analytics.coverage.tallies import Tallies
from spotthebot.analytics.stats.alpha import label_alpha, label_units
from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray, IntArray
from spotthebot.analytics.stats.annotators import annotator_quality
from spotthebot.analytics.stats.davidson import rate_davidson
from spotthebot.analytics.stats.disagreement import Measurement
from spotthebot.analytics.stats.kappa import fleiss_kappa
from spotthebot.analytics.stats.label_agreement import label_agreement as label_agreement_stats
from spotthebot.analytics.stats.skill import rate_skills
from spotthebot.analytics.stats.times import annotation_times
from spotthebot.analytics.stats.wins import play_games
from tests.factories.clustered_campaigns import Setting

CUTS: Final = (0.2, 0.9)
EXCHANGES: Final = (2, 3, 5)
SLOPE: Final = 0.25
SPREAD: Final = 0.4
"""The best bot's humanness; the worst has as much below 0."""
CONVERSATION: Final = 0.4
PACKAGE: Final = 20
ANNOTATIONS: Final = 2
_RATED: Final = 4
"""One campaign of so many is rated by TrueSkill, which takes as long as all else."""
_TIME_NOISE, _TIME_CONVERSATION, _TIME_SLOPE = 0.7, 0.2, 0.3
Held: TypeAlias = tuple[str, float | None, float | None, float]
"""Of an interval: its kind, its bounds, the truth."""


@dataclass(frozen=True)
class Campaign:
    """A campaign's size, and how annotators differ: `icc` is the intraclass correlation of "human"."""

    bots: int
    per_pair: int
    annotators: int
    icc: float
    taste: bool

    @property
    def sd_taste(self) -> float:
        return {0.0: 0.0, 0.05: 0.13, 0.18: 0.25}[self.icc] if self.taste else 0.0

    @property
    def sd_leniency(self) -> float:
        return _sd_for(self.icc, 1 + CONVERSATION**2 + self.sd_taste**2)

    @property
    def sd_time(self) -> float:
        """Annotators' times have the same intraclass correlation as their labels."""
        return math.sqrt(self.icc / (1 - self.icc) * (_TIME_NOISE**2 + _TIME_CONVERSATION**2))

    @property
    def strengths(self) -> FloatArray:
        return np.linspace(SPREAD, -SPREAD, self.bots)


def _sd_for(icc: float, other: float) -> float:
    """Return the leniency's standard deviation that gives "human" this intraclass correlation."""
    if not icc:
        return 0.0

    def excess(sd: float) -> float:
        total = other + sd**2
        bound, rho = CUTS[1] / math.sqrt(total), sd**2 / total
        p = distributions.norm.sf(bound)
        both = distributions.multivariate_normal.cdf([-bound, -bound], cov=[[1, rho], [rho, 1]])
        return float((both - p * p) / (p * (1 - p)) - icc)

    return float(optimize.brentq(excess, 1e-3, 3))


def tally(setting: Setting, seed: int) -> Tallies:
    """Draw a campaign and count the intervals that hold the truth, of those that are printed; coefficients aside."""
    truth, table, elapsed_ms = _drawn(setting, seed)
    ratings = of_ratings(table, truth) if seed % _RATED == 0 else ()
    return _counted((*of_quality(table, elapsed_ms, truth), *of_strengths(table, truth), *ratings))


def tally_coefficients(setting: Setting, seed: int) -> Tallies:
    """Draw the same campaign and count the intervals of alpha and kappa."""
    truth, table, _ = _drawn(setting, seed)
    return _counted(of_coefficients(table, truth))


def _drawn(setting: Setting, seed: int) -> "tuple[Truth, AnnotationTable, FloatArray]":
    campaign = Campaign(setting.k, setting.per_pair, setting.annotators, setting.correlation, setting.taste)
    return _truth(campaign), *simulate(campaign, np.random.default_rng([seed, 1]))


def _counted(found: Iterable[Held]) -> Tallies:
    held, printed = Counter[str](), Counter[str]()
    for kind, low, high, true in found:
        if low is not None and high is not None:
            printed[kind] += 1
            held[kind] += low <= true <= high
    return {kind: (held[kind], printed[kind]) for kind in printed}


def simulate(campaign: Campaign, rng: np.random.Generator) -> tuple[AnnotationTable, FloatArray]:
    """Draw a campaign: packages of segments, each annotated by two annotators; and the milliseconds they took."""
    k, lengths = campaign.bots, np.array(EXCHANGES)
    pairs = np.array(np.triu_indices(k, 1)).T
    pair_of = np.repeat(np.arange(len(pairs)), campaign.per_pair)
    segment_of = np.repeat(np.arange(len(pair_of)), len(lengths))
    n_packages = max(-(-len(segment_of) // PACKAGE), -(-campaign.annotators // ANNOTATIONS))
    package = np.empty(len(segment_of), dtype=np.int64)
    package[rng.permutation(len(segment_of))] = np.arange(len(segment_of)) * n_packages // len(segment_of)
    who = _deal(n_packages, campaign.annotators, rng)[package]
    conversation = np.repeat(segment_of, ANNOTATIONS)
    annotator = who.ravel()
    exchanges = np.repeat(np.tile(lengths, len(pair_of)), ANNOTATIONS)
    entity = pairs[pair_of][conversation]
    leniency = rng.normal(0, campaign.sd_leniency, campaign.annotators)
    taste = rng.normal(0, campaign.sd_taste, (campaign.annotators, k))
    side = rng.normal(0, CONVERSATION, (len(pair_of), 2))
    latent = campaign.strengths[entity] + leniency[annotator][:, None] + taste[annotator[:, None], entity]
    latent += side[conversation] + rng.normal(size=entity.shape) - _down(exchanges)[:, None]
    table = AnnotationTable(
        names=tuple(f"bot {at}" for at in range(k)),
        conversation=conversation,
        entity=entity,
        exchanges=exchanges,
        label=(latent > CUTS[0]).astype(np.int64) + (latent > CUTS[1]),
        annotator=annotator,
    )
    pace = rng.normal(0, campaign.sd_time, campaign.annotators)[annotator]
    pace += rng.normal(0, _TIME_CONVERSATION, len(pair_of))[conversation]
    pace += rng.normal(0, _TIME_NOISE, len(annotator)) + _TIME_SLOPE * np.log(exchanges)
    return table, 20_000 * np.exp(pace)


def _deal(n_packages: int, annotators: int, rng: np.random.Generator) -> IntArray:
    """Give each package to different annotators, whose shares of the work differ by one package at most."""
    rounds = -(-n_packages * ANNOTATIONS // annotators) + 1
    deck = np.concatenate([rng.permutation(annotators) for _ in range(rounds)])
    dealt = np.empty((n_packages, ANNOTATIONS), dtype=np.int64)
    at = 0
    for package in range(n_packages):
        for place in range(ANNOTATIONS):
            turn = next(t for t in range(at, len(deck)) if deck[t] not in dealt[package, :place])
            deck[at], deck[turn] = deck[turn], deck[at]
            dealt[package, place] = deck[at]
            at += 1
    return dealt


def _down(exchanges: IntArray) -> FloatArray:
    return SLOPE * (np.log(exchanges) - 1)


class Truth:
    """What the model makes of every statistic, for a very large campaign with very many annotators."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._total = 1 + CONVERSATION**2 + campaign.sd_leniency**2 + campaign.sd_taste**2
        means = campaign.strengths[:, None] - _down(np.array(EXCHANGES))
        # Labels of two annotators of one side: they share the conversation's effect alone.
        self._twice = np.mean([[self._labels(m, m, CONVERSATION**2) for m in row] for row in means], axis=1)
        self._games = self._outcomes(means)

    @cached_property
    def label_agreement(self) -> FloatArray:
        """Return the published rate (bots, labels): twice the agreeing sides among all labels."""
        met: FloatArray = np.diagonal(self._twice, axis1=1, axis2=2) / self._twice.sum(axis=2)
        return met

    def alpha(self, level: Measurement) -> float:
        """Return alpha of so many values that n - 1 is n."""
        coincidences = self._twice.mean(axis=0)
        n = coincidences.sum(axis=1)
        middle = np.cumsum(n) - n / 2
        ordinal = (middle[:, None] - middle) ** 2
        distance = ordinal if level is Measurement.ORDINAL else 1 - np.eye(3)
        return float(1 - np.sum(coincidences * distance) / (n @ distance @ n))

    @cached_property
    def correctness(self) -> float:
        """Average over annotators, drawn, the share of "bot" among their labels that are not "unsure"."""
        rng = np.random.default_rng(0)
        n, noise = 100_000, math.sqrt(1 + CONVERSATION**2)
        lean = rng.normal(0, self._campaign.sd_leniency, (n, 1))
        own = lean + rng.normal(0, self._campaign.sd_taste, (n, self._campaign.bots)) + self._campaign.strengths
        seen = own[:, :, None] - _down(np.array(EXCHANGES))
        bot = distributions.norm.cdf((CUTS[0] - seen) / noise).sum(axis=(1, 2))
        human = distributions.norm.sf((CUTS[1] - seen) / noise).sum(axis=(1, 2))
        return float(np.mean(bot / (bot + human)))

    @cached_property
    def median_seconds(self) -> float:
        """Return the median of the mixture over the lengths."""
        spread = math.sqrt(_TIME_NOISE**2 + _TIME_CONVERSATION**2 + self._campaign.sd_time**2)
        means = math.log(20) + _TIME_SLOPE * np.log(EXCHANGES)
        found = optimize.brentq(lambda x: distributions.norm.cdf((x - means) / spread).mean() - 0.5, 0, 10)
        return math.exp(float(found))

    @cached_property
    def strengths(self) -> FloatArray:
        """Return Davidson's log-strengths of the model's shares of wins and ties."""
        return self._fit(lambda lead, tie: np.stack([lead / 2, np.full_like(lead, tie), -lead / 2]))

    @cached_property
    def skills(self) -> FloatArray:
        """Return the skills that explain the model's shares best where a win is a lead above the margin."""
        beta, ties = 25 / 6, float(np.mean(self._games[:, 1]))
        margin = float(distributions.norm.ppf((ties + 1) / 2))

        def log_shares(lead: FloatArray, _: float) -> FloatArray:
            t = lead / (math.sqrt(2) * beta)
            between = distributions.norm.cdf(margin - t) - distributions.norm.cdf(-margin - t)
            return np.stack(
                [distributions.norm.logcdf(t - margin), np.log(between), distributions.norm.logcdf(-t - margin)]
            )

        return 25 + self._fit(log_shares)

    def _fit(self, scores: Callable[[FloatArray, float], FloatArray]) -> FloatArray:
        """Maximise the likelihood whose log shares (3, pairs), up to a sum, are scores of leads and of a tie's."""
        first, second = np.triu_indices(self._campaign.bots, 1)

        def minus(x: FloatArray) -> float:
            found = scores(x[first] - x[second], float(x[-1]))
            logs = found - np.log(np.exp(found).sum(axis=0))
            return -float(np.sum(self._games.T * logs)) + float(x[:-1].mean() ** 2)

        best = optimize.minimize(minus, np.zeros(self._campaign.bots + 1), method="BFGS", options={"gtol": 1e-8})
        centred: FloatArray = best.x[:-1] - best.x[:-1].mean()
        return centred

    def _labels(self, one: float, other: float, shared: float) -> FloatArray:
        """Return the joint shares (3, 3) of two labels whose latents have these means and share a variance."""
        bounds = [-math.inf, *CUTS, math.inf]
        rho = shared / self._total
        cumulative = np.array([[self._below(a - one, b - other, rho) for b in bounds] for a in bounds])
        return np.diff(np.diff(cumulative, axis=0), axis=1)

    def _below(self, a: float, b: float, rho: float) -> float:
        spread = math.sqrt(self._total)
        at = np.clip([a / spread, b / spread], -12, 12)
        return float(distributions.multivariate_normal.cdf(at, cov=[[1, rho], [rho, 1]]))

    def _outcomes(self, means: FloatArray) -> FloatArray:
        """Return the shares of wins, ties and losses (pairs, 3): one annotator labels both sides."""
        found = []
        for i, j in zip(*np.triu_indices(self._campaign.bots, 1), strict=True):
            joint = np.mean(
                [self._labels(a, b, self._campaign.sd_leniency**2) for a, b in zip(means[i], means[j], strict=True)],
                axis=0,
            )
            found.append([np.tril(joint, -1).sum(), np.trace(joint), np.triu(joint, 1).sum()])
        return np.array(found)


@cache
def _truth(campaign: Campaign) -> Truth:
    return Truth(campaign)


def of_quality(table: AnnotationTable, elapsed_ms: FloatArray, truth: Truth) -> Iterator[Held]:
    """Bound agreement, correctness and the median time."""
    rates = truth.label_agreement
    for each in label_agreement_stats(table):
        yield "label agreement", each.low, each.high, rates[table.names.index(each.bot), each.label]
    crowd = annotator_quality(table)
    yield "correctness", crowd.correctness_low, crowd.correctness_high, truth.correctness
    times = annotation_times(elapsed_ms, table.exchanges, table.conversation, table.annotator)
    yield "median time", times.low, times.high, truth.median_seconds


def of_coefficients(table: AnnotationTable, truth: Truth) -> Iterator[Held]:
    """Bound alpha and kappa."""
    for level in (Measurement.ORDINAL, Measurement.NOMINAL):
        alpha = label_alpha(table, level=level)
        yield f"alpha, {level}", alpha.low, alpha.high, truth.alpha(level)
    unit, conversation, annotator, label = label_units(table)
    kappa = fleiss_kappa(unit, label, conversation=conversation, annotator=annotator)
    yield "kappa", kappa.low, kappa.high, truth.alpha(Measurement.NOMINAL)


def of_strengths(table: AnnotationTable, truth: Truth) -> Iterator[Held]:
    """Bound Bradley-Terry strengths."""
    for strength, true in zip(rate_davidson(play_games(table)).bots, truth.strengths, strict=True):
        yield "Bradley-Terry", strength.low, strength.high, true


def of_ratings(table: AnnotationTable, truth: Truth) -> Iterator[Held]:
    """Bound TrueSkill's mu."""
    games = play_games(table)
    for skill, true in zip(rate_skills(games, n_shuffles=4).bots, truth.skills, strict=True):
        yield "TrueSkill", skill.low, skill.high, true
