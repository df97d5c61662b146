"""The baseline of length: its rule, and its line against scipy's."""

import numpy as np
import pytest
import scipy

from spotthebot.fed.scores.domain.length_baseline import context_length, fit_length_baseline


class TestContextLength:
    @pytest.mark.parametrize("turns", [["Hi!"], ["Hi!", "Hello."], ["", "a", "bc"], ["Ein großes Übel"]])
    def test_counts_the_text_that_the_released_code_scores(self, turns):
        assert context_length(turns) == len("<|endoftext|> " + " <|endoftext|> ".join(turns))


class TestFitLengthBaseline:
    def test_is_least_squares_of_the_inverse_length(self):
        chance = np.random.default_rng(2)
        lengths = chance.integers(20, 3000, 60).tolist()
        scores = [7 - 30 / length + noise for length, noise in zip(lengths, chance.normal(0, 0.1, 60), strict=True)]
        expected = scipy.stats.linregress(1 / np.array(lengths), scores)
        found = fit_length_baseline(lengths, scores)
        assert found is not None
        assert (found.slope, found.intercept) == pytest.approx((expected.slope, expected.intercept))
        assert (found.r2, found.n) == pytest.approx((expected.rvalue**2, 60))
        assert found.score_of(100) == pytest.approx(expected.intercept + expected.slope / 100)

    @pytest.mark.parametrize("lengths", [[], [50], [50, 60], [50, 60, 60, 50]])
    def test_is_none_where_a_line_meets_every_mean(self, lengths):
        assert fit_length_baseline(lengths, [float(at) for at, _ in enumerate(lengths)]) is None

    def test_explains_no_share_of_scores_that_do_not_vary(self):
        found = fit_length_baseline([50, 60, 70], [2.0, 2.0, 2.0])
        assert found is not None
        assert (found.slope, found.intercept, found.r2) == (0, 2, None)
