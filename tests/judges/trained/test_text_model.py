import numpy as np
import pytest
from scipy import optimize, special

from spotthebot.contracts.turns import Turn
from spotthebot.judges.trained.folds import counts_of, shown_of
from spotthebot.judges.trained.logistic import PENALTY, TextModel
from spotthebot.judges.trained.text_features import TextFeatures
from tests.factories.judge_units import units


def _shown(*texts, side="A"):
    return tuple(Turn(speaker="AB"[at % 2], text=text) for at, text in enumerate(texts)), side


class TestTextFeatures:
    def test_weigh_words_as_published_for_tf_idf(self):
        # Two segments say "tea", one "tea tea"; the other side's words count on their own.
        shown = [_shown("tea tea", "rain"), _shown("tea", "rain"), _shown("milk", "rain")]
        found = TextFeatures.learn(shown)
        assert set(found.words) == {"tea", "<rain"}
        rarity = {word: found.rarity[at] for word, at in found.words.items()}
        assert rarity == pytest.approx({"tea": np.log(4 / 3) + 1, "<rain": np.log(4 / 4) + 1})
        first = found.matrix(shown).toarray()[0, : len(found.words)]
        raw = {"tea": (1 + np.log(2)) * rarity["tea"], "<rain": rarity["<rain"]}
        norm = np.hypot(*raw.values())
        assert {word: first[at] for word, at in found.words.items()} == pytest.approx(
            {word: value / norm for word, value in raw.items()}
        )

    def test_tell_the_sides_apart(self):
        shown = [_shown("tea tea", "rain", side=side) for side in "AB"]
        first, second = TextFeatures.learn(shown * 2).matrix(shown).toarray()
        assert not np.allclose(first, second)

    def test_take_segments_without_a_word(self):
        found = TextFeatures.learn([_shown("...", "!"), _shown("?", "…")])
        assert np.isfinite(found.matrix([_shown("...", "!")]).toarray()).all()


class TestTextModel:
    def test_minimises_the_penalised_loss(self):
        # The same loss, minimised by Newton's method over a dense matrix.
        some = units(per_pair=3)
        shown, (human, n) = shown_of(some), counts_of(some)
        found = TextModel.train(shown, human, n)
        x = np.column_stack([found.features.matrix(shown).toarray(), np.ones(len(some))])
        ridge = np.append(np.full(x.shape[1] - 1, PENALTY), 0)

        def slope(w):
            return x.T @ (n * special.expit(x @ w) - human) + ridge * w

        def curvature(w):
            p = special.expit(x @ w)
            return (x.T * (n * p * (1 - p))) @ x + np.diag(ridge)

        solved = optimize.root(slope, np.zeros(x.shape[1]), jac=curvature)
        assert solved.success
        assert found.probabilities(shown) == pytest.approx(special.expit(x @ solved.x), abs=2e-3)

    def test_is_read_as_it_was_written(self, tmp_path):
        some = units(per_pair=2)
        found = TextModel.train(shown_of(some), *counts_of(some))
        found.write(tmp_path)
        again = TextModel.read(tmp_path)
        assert np.array_equal(again.probabilities(shown_of(some)), found.probabilities(shown_of(some)))
