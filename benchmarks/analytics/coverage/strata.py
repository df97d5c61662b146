"""Means over three campaigns of one protocol that differ in how easily bots pass: coverage, false claims and power.

`python -m benchmarks.analytics.coverage.strata [--simulations N]`: pooled fooling rates, agreement of annotators, win
rates of pairs of equal bots, and any false claim of these pairs; then the same where campaigns share all annotators.
Power is the share of pairs of different bots that are told apart, next to an oracle's, who knows the standard deviation
of each pooled win rate and the critical value that makes a false claim in 5 % of campaigns of equal bots.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from benchmarks.analytics.coverage.labels import chances_of
from benchmarks.analytics.coverage.quality import Campaign, Truth, simulate
from benchmarks.analytics.coverage.tallies import Tallies
from spotthebot.analytics.stats.annotations import AnnotationTable, BoolArray, FloatArray
from spotthebot.analytics.stats.fooling_rate import fooling_rates
from spotthebot.analytics.stats.label_agreement import label_agreement
from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.strata import StratifiedMean, Stratum, mean_over_strata
from spotthebot.analytics.stats.wins import play_games
from spotthebot.statistics.adjustment import adjust
from tests.factories.clustered_campaigns import Setting, draw_labels

DOMAINS: Final = (-0.08, 0.0, 0.08)
"""What a domain adds to the chance of the label "human"."""
SETTINGS: Final = tuple(
    Setting(4, 15, annotators, correlation, taste=correlation > 0)
    for annotators in (6, 12, 40)
    for correlation in (0.0, 0.18)
)


def draw(setting: Setting, seed: int, *, equal: bool, domains: tuple[float, ...] = DOMAINS) -> list[AnnotationTable]:
    """Draw a campaign of each domain, of bots that are equal, or that go from weak to strong."""
    bot, human = chances_of(setting.k)
    if equal:
        bot, human = (np.broadcast_to(each.mean(axis=0), each.shape) for each in (bot, human))
    return [
        draw_labels(setting, bot - shift, human + shift, np.random.default_rng([seed, at, equal]))
        for at, shift in enumerate(domains)
    ]


def draw_shared(setting: Setting, seed: int, *, equal: bool) -> list[AnnotationTable]:
    """Draw campaigns of one domain that share all annotators, who keep their leniency and taste."""
    bot, human = chances_of(setting.k)
    if equal:
        bot, human = (np.broadcast_to(each.mean(axis=0), each.shape) for each in (bot, human))
    wide = replace(setting, per_pair=setting.per_pair * len(DOMAINS))
    table = draw_labels(wide, bot, human, np.random.default_rng([seed, equal]))
    return [table.select(table.conversation % len(DOMAINS) == at) for at in range(len(DOMAINS))]


def pooled(found: Sequence[Sequence[Any]], *, shared: bool = False) -> list[StratifiedMean]:
    """Pool estimates of campaigns, one list for each, as the service does."""
    return [
        mean_over_strata(
            [
                Stratum(
                    each.estimate,
                    each.uncertainty.standard_error,
                    each.uncertainty.degrees_of_freedom,
                    each.n,
                    each.uncertainty.conversations,
                    each.uncertainty.annotators,
                )
                for each in of
                if each.estimate is not None
            ],
            shared=shared,
        )
        for of in zip(*found, strict=True)
    ]


def pairs(tables: Sequence[AnnotationTable], *, shared: bool = False) -> list[StratifiedMean]:
    """Pool the win rates of all pairs."""
    return pooled([rank_bots(play_games(table), n_resamples=1).pairs for table in tables], shared=shared)


def tally(setting: Setting, seed: int) -> Tallies:
    """Draw campaigns of different bots and of equal bots, and count what holds."""
    human = chances_of(setting.k)[1].mean(axis=1)
    campaign = Campaign(setting.k, setting.per_pair, setting.annotators, setting.correlation, setting.taste)
    judged = [simulate(campaign, np.random.default_rng([seed, at, 7]))[0] for at in range(len(DOMAINS))]
    alike = pairs(draw(setting, seed, equal=True))
    same = pairs(draw_shared(setting, seed, equal=True), shared=True)
    of_same = [fooling_rates(each) for each in draw_shared(setting, seed, equal=False)]
    return {
        "fooling rates": _held(pooled([fooling_rates(each) for each in draw(setting, seed, equal=False)]), human),
        "agreement": _held(pooled([label_agreement(each) for each in judged]), Truth(campaign).label_agreement.ravel()),
        "win rates of pairs, equal bots": _held(alike, np.full(len(alike), 0.5)),
        "pairs, any false claim": (int(bool(_significant(alike).any())), 1),
        "fooling rates, shared annotators": _held(pooled(of_same, shared=True), human),
        "the same, taken as independent": _held(pooled(of_same), human),
        "pairs, any false claim, shared annotators": (int(bool(_significant(same).any())), 1),
    }


def power(setting: Setting, simulations: int) -> tuple[float, float]:
    """Return the shares of pairs of different bots that an oracle tells apart, and that the pooled tests do."""
    drawn = [pairs(draw(setting, seed, equal=False)) for seed in range(simulations)]
    alike = np.array([_rates(pairs(draw(setting, seed, equal=True))) for seed in range(simulations)])
    critical = np.quantile(np.abs((alike - 0.5) / alike.std(axis=0)).max(axis=1), 0.95)
    rates = np.array([_rates(each) for each in drawn])
    oracle = np.abs((rates - 0.5) / rates.std(axis=0)) > critical
    return float(oracle.mean()), float(np.mean([_significant(each) for each in drawn]))


def lines(simulations: int) -> Iterator[str]:
    """Yield the rows of a table, one for each setting."""
    for setting in SETTINGS:
        held, counted = Counter[str](), Counter[str]()
        for seed in range(simulations):
            for kind, (holds, of) in tally(setting, seed).items():
                held[kind] += holds
                counted[kind] += of
        shares = [f"{held[kind] / counted[kind]:.1%}" if counted[kind] else "none" for kind in counted]
        of_pairs = (f"{each:.2f}" for each in power(setting, simulations))
        yield f"| {setting.annotators}, {setting.correlation:g} | {' | '.join([*shares, *of_pairs])} |"


def _rates(found: Sequence[StratifiedMean]) -> list[float]:
    return [each.estimate for each in found]


def _significant(found: Sequence[StratifiedMean]) -> BoolArray:
    p_values = adjust(np.array([each.p_value for each in found], dtype=np.float64))
    below: BoolArray = p_values < 0.05
    return below


def _held(found: Sequence[StratifiedMean], truth: FloatArray) -> tuple[int, int]:
    bounds = [(each.low, each.high, value) for each, value in zip(found, truth.tolist(), strict=True)]
    held = [low <= value <= high for low, high, value in bounds if low is not None and high is not None]
    return sum(held), len(held)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.coverage.strata")
    parser.add_argument("--simulations", type=int, default=400, help="campaigns a cell")
    for line in lines(parser.parse_args().simulations):
        print(line, flush=True)  # noqa: T201 - the rows are the output
