"""Several campaigns pooled as the service does it: ranks, survival, and whether campaigns differ.

`python -m benchmarks.analytics.coverage.pooled [--simulations N]`: three campaigns of the same bots in domains that
differ in how easily bots pass, or three of one domain that share all annotators, who keep their leniency and taste.
False claims: any rank of equal bots, any log-rank test of equal bots, any speaker whose fooling rate or win rate
differs between domains that are the same. Coverage: points of survival curves, log hazard ratios of features. Power,
next to an oracle's who knows the spread of each estimate and the critical value of the largest: pairs of different bots
told apart by ranks and by log-rank tests, and domains that differ.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from benchmarks.analytics.coverage.labels import chances_of
from benchmarks.analytics.coverage.strata import DOMAINS, SETTINGS, draw, draw_shared
from benchmarks.analytics.coverage.survival import COEFFICIENTS
from benchmarks.analytics.coverage.tallies import Tallies
from spotthebot.analytics.labels.domain import labelled_campaign_of
from spotthebot.analytics.pooled.domain import pool
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain.analysis import SECTIONS, compute_section
from spotthebot.analytics.results.domain.rank_differences import DIFFERENCES
from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray
from spotthebot.analytics.stats.strata import Stratum, mean_over_strata
from spotthebot.analytics.stats.survival.cox import cox_regressions
from spotthebot.contracts.analytics.choices import PooledResult
from spotthebot.contracts.analytics.pooled import PooledEstimate, PooledOut
from tests.factories.clustered_campaigns import Setting, draw_hazards

_SECTIONS: Final = SECTIONS | {"ranking": DIFFERENCES}
_PAIRED: Final[tuple[PooledResult, ...]] = ("ranking", "survival")
_RATES: Final[tuple[PooledResult, ...]] = ("fooling-rates", "win-rates")
_LEVEL: Final = 0.05


def pooled(result: PooledResult, tables: Sequence[AnnotationTable], *, shared: bool = False) -> PooledOut:
    """Pool a result of campaigns with these annotations."""
    campaigns = [labelled_campaign_of(table, f"domain {at}") for at, table in enumerate(tables)]
    found = [compute_section(_SECTIONS[result], each, Parameters()) for each in campaigns]
    return pool(result, "spot_the_bot 1", [each.model_dump_json().encode() for each in found], shared=shared)


def tally(setting: Setting, seed: int) -> Tallies:
    """Draw campaigns of equal and of different bots, and count false claims and intervals that hold."""
    apart, same = draw(setting, seed, equal=True), draw_shared(setting, seed, equal=True)
    found: Tallies = {}
    for words, tables, shared in (("", apart, False), (", shared annotators", same, True)):
        ranks = pooled("ranking", tables, shared=shared).estimates
        found[f"ranks, any false{words}"] = (int(any(each.rank_low not in {None, 1} for each in ranks)), 1)
        tests = _pairs(pooled("survival", tables, shared=shared))
        found[f"log-rank, any false{words}"] = (int(any(_is_found(each.p_adjusted) for each in tests)), 1)
        domains = draw(setting, seed, equal=False, domains=(0.0,) * len(DOMAINS)) if not shared else tables
        for result in _RATES:
            differ = pooled(result, domains, shared=shared).p_differ
            found[f"{result} differ, false{words}"] = (int(_is_found(differ)), 1)
    found["survival"] = _curves(pooled("survival", draw(setting, seed, equal=False)), 1 - chances_of(setting.k)[0])
    return found | {"log hazard ratios": _features(setting, seed)}


def power(setting: Setting, simulations: int) -> list[float]:
    """Return the oracle's and own power of ranks, of log-rank tests, and of the test whether domains differ."""
    shares: list[float] = []
    different = [draw(setting, seed, equal=False) for seed in range(simulations)]
    equal = [draw(setting, seed, equal=True) for seed in range(simulations)]
    for result in _PAIRED:
        alike, found = ([_pairs(pooled(result, each)) for each in drawn] for drawn in (equal, different))
        nothing, leads = (np.array([[each.estimate for each in own] for own in of]) for of in (alike, found))
        critical = np.quantile(np.abs(nothing / nothing.std(axis=0)).max(axis=1), 1 - _LEVEL)
        shares.append(float((np.abs(leads / leads.std(axis=0)) > critical).mean()))
        shares.append(float(np.mean([[_is_found(each.p_adjusted) for each in own] for own in found])))
    flat = [draw(setting, seed, equal=False, domains=(0.0,) * len(DOMAINS)) for seed in range(simulations)]
    same, others = ([pooled("fooling-rates", each) for each in drawn] for drawn in (flat, different))
    nothing, rates = (np.array([[each.by_campaign for each in own.estimates] for own in of]) for of in (same, others))
    spread = nothing.std(axis=(0, 2))
    largest, of_domains = ((each.std(axis=2) / spread).max(axis=1) for each in (nothing, rates))
    own = np.mean([_is_found(each.p_differ) for each in others])
    return [*shares, float((of_domains > np.quantile(largest, 1 - _LEVEL)).mean()), float(own)]


def _pairs(found: PooledOut) -> list[PooledEstimate]:
    return [each for each in found.estimates if each.other is not None]


def _is_found(p_value: float | None) -> bool:
    return p_value is not None and p_value < _LEVEL


def _curves(found: PooledOut, survival: FloatArray) -> tuple[int, int]:
    times = sorted({each.exchanges for each in found.estimates if each.exchanges is not None})
    points = [each for each in found.estimates if each.exchanges is not None and each.low is not None]
    truth = [survival[int(each.bot.removeprefix("bot ")), times.index(each.exchanges or 0)] for each in points]
    held = [(p.low or 0) <= true <= (p.high or 0) for p, true in zip(points, truth, strict=True)]
    return sum(held), len(held)


def _features(setting: Setting, seed: int) -> tuple[int, int]:
    """Count the mean log hazard ratios that hold the truth, of campaigns whose times differ."""
    base = np.tile([0.35, 0.45, 0.55], (setting.k, 1))
    fits = [
        cox_regressions(draw_hazards(setting, base + shift, COEFFICIENTS, np.random.default_rng([seed, at, 9])))
        for at, shift in enumerate(DOMAINS)
    ]
    held = of = 0
    for own in zip(*fits, strict=True):
        for at, true in enumerate(COEFFICIENTS.tolist()):
            each = [fit.coefficients[at] for fit in own]
            if any(c.estimate is None for c in each):
                continue
            strata = [
                Stratum(
                    c.estimate or 0.0,
                    c.uncertainty.standard_error,
                    c.uncertainty.degrees_of_freedom,
                    0,
                    c.uncertainty.conversations,
                    c.uncertainty.annotators,
                )
                for c in each
            ]
            mean = mean_over_strata(strata, scale=None)
            if mean.low is not None and mean.high is not None:
                held, of = held + (mean.low <= true <= mean.high), of + 1
    return held, of


def lines(simulations: int) -> Iterator[str]:
    """Yield the rows of a table, one for each setting."""
    for setting in SETTINGS:
        held, counted = Counter[str](), Counter[str]()
        for seed in range(simulations):
            for kind, (holds, of) in tally(setting, seed).items():
                held[kind] += holds
                counted[kind] += of
        shares = [f"{held[kind] / counted[kind]:.1%}" if counted[kind] else "none" for kind in counted]
        of_oracle = (f"{each:.2f}" for each in power(setting, simulations))
        yield f"| {setting.annotators}, {setting.correlation:g} | {' | '.join([*shares, *of_oracle])} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.coverage.pooled")
    parser.add_argument("--simulations", type=int, default=400, help="campaigns a cell")
    for line in lines(parser.parse_args().simulations):
        print(line, flush=True)  # noqa: T201 - the rows are the output
