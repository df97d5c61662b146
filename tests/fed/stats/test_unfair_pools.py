"""The cheating experiment of Sato et al. 2022, against the table written out and all orders of a few scores."""

from itertools import permutations
from statistics import fmean
from typing import Any

import pytest

from spotthebot.fed.stats.unfair_pools import unfair_pool
from spotthebot.statistics.errors import SettingOutOfRange

PLAYED = [  # bot, partner, score: u scores low with s, which resembles it
    *[("u", "s", 0.0), ("u", "f", 3.0), ("u", "g", 4.0), ("u", "g", 5.0), ("u", "s", 1.0)],
    *[("f", "u", 2.0), ("f", "g", 2.2), ("f", "s", 2.4)],
    *[("g", "u", 4.5), ("g", "f", 4.6), ("g", "s", 4.7)],
    *[("s", "u", 0.5), ("s", "f", 0.5), ("s", "g", 0.5)],
]


def pool(played=PLAYED, **changes):
    bots, partners, scores = zip(*[(bot, partner, score) for bot, partner, score in played], strict=True)
    settings: dict[str, Any] = {"unfavoured": "u", "similar": ["s"], "n_resamples": 20_000} | changes
    return unfair_pool(scores, bots, partners, range(len(played)), **settings)


class TestUnfairPool:
    def test_counts_who_wins_before_and_after(self):
        """Fair: u has 4.0, f 2.1, g 4.55. Unfair: u has 4/3 with f and 2.5 with g; f has 2.2, g 4.6."""
        found = pool()
        leads = {each.bot: (each.fair_lead, each.unfair_lead) for each in found.bots}
        assert leads == {
            "f": pytest.approx((2.1 - 4.0, 2.2 - fmean([0, 3, 1]))),
            "g": pytest.approx((4.55 - 4.0, 4.6 - fmean([0, 4, 5, 1]))),
        }
        counts = [found.count(fair=fair, unfair=unfair) for fair in (True, False) for unfair in (True, False)]
        assert counts == [1, 0, 1, 0]

    @pytest.mark.parametrize("seen", [[0.0, 3.0, 4.0, 5.0, 1.0], [0.0, 3.0, 4.0, 1.0, 5.0]])
    def test_p_values_are_shares_of_all_orders_of_the_unfavoured_bots_scores(self, seen):
        """The five scores of u in all 120 orders, written out; flips are of f and of g, or of neither."""
        partner = ["s", "f", "g", "g", "s"]

        def leads(order):
            by = {name: [score for score, with_ in zip(order, partner, strict=True) if with_ == name] for name in "sfg"}
            fair = fmean(by["f"] + by["g"])
            f, g = fmean(by["f"] + by["s"]), fmean(by["g"] + by["s"])
            return (2.1 - fair, 2.2 - f), (4.55 - fair, 4.6 - g)

        def gain(order, at):
            fair, unfair = leads(order)[at]
            return unfair - fair

        def flips(order):
            return sum((unfair > 0) - (fair > 0) for fair, unfair in leads(order))

        orders = [*permutations(seen)]
        played = [("u", "s"), ("u", "f"), ("u", "g"), ("u", "g"), ("u", "s")]
        of_u = [(*pair, score) for pair, score in zip(played, seen, strict=True)]
        found = pool([*of_u, *PLAYED[5:]])
        for at, each in enumerate(found.bots):
            share = fmean(gain(order, at) >= gain(seen, at) - 1e-9 for order in orders)
            assert each.p_value == pytest.approx(share, abs=0.015)
        assert found.p_value == pytest.approx(fmean(flips(order) >= flips(seen) for order in orders), abs=0.015)
        assert all(each.p_value <= each.p_adjusted <= 2 * each.p_value for each in found.bots)

    def test_nothing_flips_where_all_bots_have_the_same_partners(self):
        played = [(bot, partner, score) for bot, score in zip("ufgs", (3, 2, 4, 1), strict=True) for partner in "xy"]
        found = pool(played)
        assert [each.fair_lead == each.unfair_lead for each in found.bots] == [True, True]
        assert (found.p_value, {each.p_value for each in found.bots}) == (1.0, {1.0})

    def test_copies_of_a_text_count_once(self):
        bots, partners, scores = zip(*PLAYED, *[PLAYED[0]] * 5, strict=True)
        texts = [*range(len(PLAYED)), *[0] * 5]
        found = unfair_pool(scores, bots, partners, texts, unfavoured="u", similar=["s"], n_resamples=20_000)
        assert found == pool()

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"unfavoured": "nobody"}, "one of f, g, s, u"),
            ({"similar": ["u"]}, "other than the unfavoured"),
            ({"similar": ["f", "g", "s"], "played": PLAYED[:1]}, "one of u"),
            ({"played": [*PLAYED[3:4], *PLAYED[5:]], "similar": ["s"]}, "bots with dialogues among f, u, s"),
        ],
    )
    def test_refuses_pools_that_cannot_be_compared(self, changes, said):
        with pytest.raises(SettingOutOfRange, match=said):
            pool(**changes)
