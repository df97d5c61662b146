"""Published scores of DialoGPT-large against human ratings: the reference's correlations, and length's beside them.

The published files hold scores of dimensions, not those of follow-ups. The reference prints three decimals, and p with
two digits: ours are those to the last digit printed, and scipy's to 1e-9. Intervals, which are not compared here, leave
out four parts of the items instead of each one.
"""

from itertools import combinations

import numpy as np
import pytest
import scipy

from spotthebot.fed.dialogues.domain.dialogues import Level
from spotthebot.fed.dimension_sets.domain.published_dimensions import FED
from spotthebot.fed.scores.domain.length_baseline import fit_length_baseline
from spotthebot.fed.stats.correlation import CorrelationKind, correlation, lead_over_length, partial_rank_correlation
from spotthebot.fed.stats.split_half import split_half
from spotthebot.statistics.rank_correlation import rank_correlation
from tests.factories.known import known
from tests.factories.published_dump import reference
from tests.reproduction.published_fed import published_scores

LEVELS = pytest.mark.parametrize(("level", "key"), [(Level.TURN, "turn"), (Level.DIALOGUE, "dialog")])
PRINTED = 0.0005 + 1e-9


@LEVELS
class TestPublishedScores:
    def test_are_of_the_contexts_that_we_read(self, level, key):
        published = published_scores(level)
        assert len(published.items) == {"turn": 375, "dialog": 125}[key]
        texts = [f"<|endoftext|> {' <|endoftext|> '.join(item.dialogue.texts)}" for item in published.items]
        assert tuple(texts) == published.inputs

    def test_follow_the_rule_of_empty_sets(self, level, key):  # noqa: ARG002 - all tests of a class have both
        """Dimensions without positive follow-ups are plain losses of about 7; the others are differences near 0."""
        published = published_scores(level)
        for dimension in FED.dimensions:
            least, most = published.scores[dimension.name].min(), published.scores[dimension.name].max()
            assert (most < 2.5) if dimension.positive else (least > 4), dimension.name

    def test_correlate_as_the_reference_says(self, level, key):
        published = published_scores(level)
        for label, expected in reference("fed/fed_replication_recomputed.json")[key].items():
            scores, ratings = published.scores_of(label), published.ratings(label.partition("/")[0])
            kept = ~np.isnan(ratings)
            for kind, scipy_s in (
                (CorrelationKind.SPEARMAN, scipy.stats.spearmanr),
                (CorrelationKind.PEARSON, scipy.stats.pearsonr),
            ):
                found = correlation(scores, ratings, dialogue=_parts(scores), kind=kind)
                assert found.estimate == pytest.approx(expected[kind.value], abs=PRINTED), label
                assert found.estimate == pytest.approx(scipy_s(scores[kept], ratings[kept]).statistic, abs=1e-9)
            independent = rank_correlation(scores[kept], ratings[kept])
            assert independent.n == expected.get("n", independent.n)
            assert f"{independent.p_value:.2g}" == f"{expected.get('p', independent.p_value):.2g}"

    def test_stand_beside_what_length_says(self, level, key):
        published = published_scores(level)
        lengths, turns = published.lengths, published.turns
        parts = _parts(lengths)
        for label, expected in reference("fed/length_baseline.json")[key].items():
            scores, ratings = published.scores_of(label), published.ratings(label)
            kept = ~np.isnan(ratings)
            for ours, name, column in (
                (correlation(scores, ratings, dialogue=parts), "fed", scores),
                (correlation(lengths, ratings, dialogue=parts), "length_only", lengths),
                (correlation(turns, ratings, dialogue=parts), "n_turns", turns),
            ):
                assert ours.estimate == pytest.approx(expected[name], abs=PRINTED), label
                second = scipy.stats.spearmanr(column[kept], ratings[kept]).statistic
                assert ours.estimate == pytest.approx(second, abs=1e-9)
            partial = partial_rank_correlation(scores, ratings, lengths, dialogue=parts).estimate
            assert partial == pytest.approx(expected["partial_given_length"], abs=PRINTED), label
            assert partial == pytest.approx(_partial_of_residuals(scores[kept], ratings[kept], lengths[kept]), abs=1e-9)
            lead = lead_over_length(scores, ratings, lengths, dialogue=parts).estimate
            assert lead == pytest.approx(expected["fed"] - expected["length_only"], abs=2 * PRINTED)

    def test_follow_the_length_of_the_context(self, level, key):
        published, expected = published_scores(level), reference("fed/fed_replication_recomputed.json")
        for name, rho in expected[f"spearman_absdiffdim_vs_context_chars_{key}"].items():
            found = correlation(published.scores[name], published.lengths, dialogue=_parts(published.lengths))
            assert found.estimate == pytest.approx(rho, abs=PRINTED)
        lone = [published.scores[each.name] for each in FED.dimensions if not each.positive]
        pairs = [known(correlation(one, other, dialogue=_parts(one)).estimate) for one, other in combinations(lone, 2)]
        alike = expected[f"negonly_pairwise_spearman_{key}"]
        assert (min(pairs), np.mean(pairs)) == pytest.approx((alike["min"], alike["mean"]), abs=PRINTED / 10)
        by_length = np.argsort(published.lengths, kind="stable")
        quarter, n = len(by_length) // 4, len(by_length)
        for name, (short, long) in expected[f"mean_abs_contrast_short_vs_long_{key}"].items():
            sizes = np.abs(published.scores[name])[by_length]
            ours = (sizes[:quarter].mean(), sizes[3 * n // 4 :].mean())
            assert ours == pytest.approx((short, long), abs=PRINTED / 10), name

    def test_are_below_the_ceiling(self, level, key):  # noqa: ARG002 - all tests of a class have both
        """Two halves of five people agree better with each other than FED does with all of them."""
        published = published_scores(level)
        ceiling = split_half([item.ratings["Overall"] for item in published.items], n_splits=50)
        ours = correlation(published.scores_of("Overall"), published.ratings("Overall"))
        assert known(ceiling.estimate) > known(ours.high)


def test_length_explains_nearly_all_of_some_published_scores():
    """docs/fed.md quotes the shares: 1 / length explains 93 to 97 % of the variance of three dimensions of turns."""
    published = published_scores(Level.TURN)
    lengths = published.lengths.tolist()
    shares = {}
    for name in ("interesting", "engaging", "likeable"):
        line = fit_length_baseline(lengths, published.scores[name].tolist())
        assert line is not None
        assert line.r2 == pytest.approx(np.corrcoef(1 / published.lengths, published.scores[name])[0, 1] ** 2)
        shares[name] = f"{line.r2:.3f}"
    assert shares == {"interesting": "0.965", "engaging": "0.965", "likeable": "0.942"}


def _parts(items: np.ndarray) -> np.ndarray:
    return np.arange(len(items)) % 4


def _partial_of_residuals(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> float:
    """The definition: Pearson's r of what a line through the ranks of z leaves of the ranks of x and y."""
    ranks = [scipy.stats.rankdata(each) for each in (x, y, z)]
    design = np.column_stack([np.ones(len(x)), ranks[2]])
    left = [each - design @ np.linalg.lstsq(design, each, rcond=None)[0] for each in ranks[:2]]
    return float(scipy.stats.pearsonr(*left).statistic)
