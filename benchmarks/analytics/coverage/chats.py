"""Campaigns of chats of people with bots, in which no two bots met: coverage and false claims of fooling rates.

`python -m benchmarks.analytics.coverage.chats [--simulations N]`: ranks by fooling rate, differences of all pairs, and
differences between chats with people and conversations with bots. Power beside an oracle is in
`python -m benchmarks.analytics.power.ratings --only chats`.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import numpy as np

from benchmarks.analytics.coverage.labels import chances_of
from benchmarks.analytics.coverage.tallies import Tallies
from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray
from spotthebot.analytics.stats.fooling_rate import fooling_rates, labels_as_ratings
from spotthebot.analytics.stats.partner_rates import partner_differences
from spotthebot.analytics.stats.rating_differences import rating_differences
from spotthebot.analytics.stats.ratings import rank_ratings
from tests.factories.clustered_campaigns import Setting, draw_chats

_PEOPLE_BOT: Final = np.array([[0.15, 0.12, 0.10]])
_PEOPLE_HUMAN: Final = np.array([[0.65, 0.70, 0.75]])
SETTINGS: Final = tuple(
    Setting(k, per_pair, annotators, correlation, taste=correlation > 0)
    for k, per_pair in ((4, 15), (10, 5))
    for annotators in (6, 12, 40)
    for correlation in (0.0, 0.18)
)


def draw(setting: Setting, rng: np.random.Generator, *, equal: bool, with_bots: bool = False) -> AnnotationTable:
    """Draw chats of bots that are equal, or that go from weak to strong."""
    bots = _chances(setting, equal=equal)
    bot, human = (np.concatenate(each) for each in zip(bots, (_PEOPLE_BOT, _PEOPLE_HUMAN), strict=True))
    return draw_chats(setting, bot, human, rng, with_bots=with_bots)


def _chances(setting: Setting, *, equal: bool) -> tuple[FloatArray, FloatArray]:
    bot, human = chances_of(setting.k)
    if equal:
        bot, human = (np.broadcast_to(each.mean(axis=0), each.shape) for each in (bot, human))
    return bot, human


def tally(setting: Setting, seed: int) -> Tallies:
    """Draw chats of different bots, of equal bots, and of bots that also talk with bots; count what holds."""
    table = draw(setting, np.random.default_rng([seed, 41]), equal=False)
    names = [f"bot {at}" for at in range(setting.k)]
    truth = dict(zip(names, _chances(setting, equal=False)[1].mean(axis=1).tolist(), strict=True))
    rates = [each for each in fooling_rates(table) if each.bot in truth and each.low is not None]
    differences = [each for each in rating_differences(labels_as_ratings(table)) if each.low is not None]
    places = {name: 1 + at for at, name in enumerate(sorted(truth, key=lambda name: -truth[name]))}
    ranked = rank_ratings(labels_as_ratings(table)).bots
    alike = rank_ratings(labels_as_ratings(draw(setting, np.random.default_rng([seed, 42]), equal=True))).bots
    mixed = draw(setting, np.random.default_rng([seed, 43]), equal=False, with_bots=True)
    partners = [each for each in partner_differences(mixed) if each.low is not None]
    return {
        "fooling rates": (sum((r.low or 0) <= truth[r.bot] <= (r.high or 0) for r in rates), len(rates)),
        "differences of fooling rates": (
            sum((d.low or 0) <= truth[d.bot] - truth[d.other] <= (d.high or 0) for d in differences),
            len(differences),
        ),
        "all ranks at once": (int(all(each.rank_low <= places[each.bot] <= each.rank_high for each in ranked)), 1),
        "ranks, any false claim": (int(any(e.rank_low > 1 or e.rank_high < setting.k for e in alike)), 1),
        "differences by partner": (sum((d.low or 0) <= 0 <= (d.high or 0) for d in partners), len(partners)),
        "partners, any false claim": (int(any((d.p_adjusted or 1) < 0.05 for d in partners)), 1),
    }


def lines(simulations: int) -> Iterator[str]:
    """Yield the rows of a table, one for each setting."""
    for setting in SETTINGS:
        held, counted = defaultdict[str, int](int), defaultdict[str, int](int)
        for seed in range(simulations):
            for kind, (holds, of) in tally(setting, seed).items():
                held[kind] += holds
                counted[kind] += of
        shares = " | ".join(f"{held[kind] / counted[kind]:.1%}" for kind in held)
        chats = setting.per_pair * (setting.k - 1)
        yield f"| {setting.k}, {chats}, {setting.annotators}, {setting.correlation:g} | {shares} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.coverage.chats")
    parser.add_argument("--simulations", type=int, default=400, help="campaigns a cell")
    for line in lines(parser.parse_args().simulations):
        print(line, flush=True)  # noqa: T201 - the rows are the output
