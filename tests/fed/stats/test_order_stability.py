"""How often samples of dialogues give the same order of bots, against shares worked out by hand."""

import numpy as np
import pytest

from spotthebot.fed.stats.order_stability import order_stability
from spotthebot.statistics.errors import SettingOutOfRange

STEADY, WILD = [1.0] * 5, [0.0, 0.0, 0.0, 3.0, 3.0]


def stability(cells, **settings):
    """`cells` has the scores of each (bot, partner)."""
    rows = [(score, *pair) for pair, scores in cells.items() for score in scores]
    scores, bots, partners = zip(*rows, strict=True)
    return order_stability(scores, bots, partners, range(len(rows)), **{"n_samples": 4000} | settings)


class TestOrderStability:
    def test_is_the_share_of_the_commonest_order(self):
        """One dialogue of wild is above 1 in 2 of 5 draws; the mean of two is, unless both are 0: 1 - .36."""
        found = stability({("steady", "p"): STEADY, ("wild", "p"): WILD}, sizes=[1, 2])
        one, two = found.points
        assert (one.size, one.order) == (1, (("steady",), ("wild",)))
        assert one.estimate == pytest.approx(0.6, abs=0.03)
        assert (two.size, two.order) == (2, (("wild",), ("steady",)))
        assert two.estimate == pytest.approx(0.64, abs=0.03)
        assert one.low < one.estimate < one.high
        assert (found.first_stable, found.stable_from) == (None, None)

    @pytest.mark.parametrize(("lead", "rate"), [(0.5, 0.4), (1.3, 0.6)])
    def test_leaves_the_noise_of_the_collection_out_of_the_distances(self, lead: float, rate: float):
        """The variance of a mean is 2.5 / 5, that between means lead² / 2: of a lead of 1.3 sqrt(1 - 1 / 1.69) is left.

        So .83 + sqrt(5 / 4) d is above 0 for 15 of the 25 differences d of two of -2 to 2. Of a lead of .5 nothing is
        left: 10 of 25 are above 0 and 5 are ties. Around the means themselves it would be 19 and 15 of 25.
        """
        column = np.arange(-2.0, 3.0)
        found = stability({("a", "p"): column + lead, ("b", "p"): column}, sizes=[1])
        assert found.points[0].estimate == pytest.approx(rate, abs=0.03)

    def test_draws_within_each_pair(self):
        """With x, wild always has 3; with y always 0: its mean is 1.5 in every sample, above 1."""
        cells = {("wild", "x"): [3.0] * 5, ("wild", "y"): [0.0] * 5, ("steady", "x"): STEADY, ("steady", "y"): STEADY}
        (point,) = stability(cells, sizes=[1]).points
        assert (point.estimate, point.order) == (1.0, (("wild",), ("steady",)))

    def test_bots_of_equal_means_stand_together(self):
        found = stability({(bot, "p"): STEADY for bot in "ab"})
        assert found.points[0].order == (("a", "b"),)
        assert found.stable_from == 1

    def test_sizes_grow_up_to_the_smallest_number_of_dialogues(self):
        chance = np.random.default_rng(1)
        found = stability({("a", "p"): chance.normal(size=40), ("b", "p"): chance.normal(size=30)}, n_samples=100)
        sizes = [each.size for each in found.points]
        assert (sizes[0], sizes[-1], len(sizes)) == (1, 30, len(set(sizes)))

    def test_needs_two_bots_and_five_different_dialogues_of_each_pair(self):
        assert stability({("a", "p"): STEADY}).reason == "one bot has no order"
        few = order_stability([1, 2] * 6, ["a", "b"] * 6, ["p"] * 12, [0, 0] * 6)
        assert (few.points, few.reason) == ((), "a pair has fewer than 5 different dialogues")

    def test_refuses_a_size_that_is_not_one(self):
        with pytest.raises(SettingOutOfRange, match="size"):
            stability({("a", "p"): STEADY, ("b", "p"): WILD}, sizes=[0])
