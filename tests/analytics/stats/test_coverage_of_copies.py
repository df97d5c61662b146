"""The simulation of repeated texts and of sparse games at toy size: what it counts, and that copies are too bold."""

from collections import Counter

from benchmarks.analytics.coverage.sparse import power, tally_copies, tally_ring
from tests.factories.clustered_campaigns import Setting

SETTING = Setting(4, 20, 12, 0.0, taste=False)


def test_copies_that_count_as_conversations_hold_less_than_they_promise():
    """Ten copies of a text each: of 80 intervals of nominal 95 % fewer than nine in ten hold if nobody tells."""
    held: Counter[str] = Counter()
    for seed in range(20):
        held.update({kind: holds for kind, (holds, _) in tally_copies(SETTING, seed).items()})
    assert held["copies, untold: win rates, equal bots"] < 72
    assert held["copies: win rates, equal bots"] >= 72
    assert held["copies: ranks, any false claim"] <= held["copies, untold: ranks, any false claim"]
    assert held["copies: ranks, any false claim"] <= 3


def test_strengths_of_a_ring_hold():
    tallies = [tally_ring(SETTING, seed) for seed in range(15)]
    strengths, claims = ([tally[kind] for tally in tallies] for kind in tallies[0])
    assert sum(held for held, _ in strengths) >= 0.88 * sum(of for _, of in strengths)
    assert sum(of for _, of in strengths) == 60
    assert sum(false for false, _ in claims) <= 3


def test_power_stands_beside_that_of_the_oracle():
    claimed, oracle = power(SETTING, 6, copies=1)
    assert 0 <= claimed <= 1
    assert 0 < oracle <= 1
