"""Scores against the released algorithm and the paper's formula, written out plainly."""

import math
from itertools import product

import numpy as np
import pytest

from spotthebot.fed.dimension_sets.domain.dimensions import Dimension, Polarity, unique_followups
from spotthebot.fed.dimension_sets.domain.published_dimensions import FED
from spotthebot.fed.likelihoods.domain import ContextLikelihood, FollowupLikelihood, LikelihoodOptions, found_contexts
from spotthebot.fed.scores.domain.modes import Mode, PolarityChoice, ScoringRule, SetRule
from spotthebot.fed.scores.domain.scoring import followup_value, require_followups, score_dimension
from spotthebot.fed.scores.errors import FollowupsMissing, LikelihoodUnusable

LIKEABLE = Dimension("likeable", positive=("I like you!", "Great!"), negative=("I don't like you.", "Awful.", "Go."))
COHERENT = Dimension("coherent", positive=(), negative=("Awful.",))


@pytest.fixture(scope="module")
def contexts() -> list[tuple[np.ndarray, dict[str, np.ndarray]]]:
    """Negative log-likelihoods of single tokens: of a context without its first one, and of each follow-up."""
    chance = np.random.default_rng(1)
    return [
        (
            chance.exponential(3, length),
            {text: chance.exponential(4, chance.integers(1, 9)) for text in unique_followups(FED.dimensions)},
        )
        for length in (0, 1, 30, 900)
    ]


def likelihood_of(context: np.ndarray, followups: dict[str, np.ndarray]) -> ContextLikelihood:
    return ContextLikelihood(
        followups={text: FollowupLikelihood(float(nll.sum()), len(nll)) for text, nll in followups.items()},
        nll=float(context.sum()),
        predicted_tokens=len(context),
    )


class TestScoreDimension:
    def test_is_the_released_algorithm_by_default(self, contexts):
        """The released `fed.py`: low and high are means of whole sequences' mean losses, an empty list counts 0."""
        for context, followups in contexts:
            found = likelihood_of(context, followups)
            for dimension in FED.dimensions:
                high = low = 0.0
                for text in dimension.positive:
                    high += np.mean(np.concatenate([context, followups[text]]))
                high = high / max(len(dimension.positive), 1)
                for text in dimension.negative:
                    low += np.mean(np.concatenate([context, followups[text]]))
                low = low / max(len(dimension.negative), 1)
                assert score_dimension(found, dimension, ScoringRule()).score == pytest.approx(low - high, abs=1e-12)

    def test_is_the_formula_of_the_paper_with_sums(self, contexts):
        """Mehri & Eskenazi 2020: the sum of log P(positive) less the sum of log P(negative)."""
        rule = ScoringRule(Mode.FOLLOWUP_SUM, PolarityChoice.BOTH, SetRule.SUM)
        for context, followups in contexts:
            for dimension in FED.dimensions:
                positive = sum(-followups[text].sum() for text in dimension.positive)
                negative = sum(-followups[text].sum() for text in dimension.negative)
                found = score_dimension(likelihood_of(context, followups), dimension, rule).score
                assert found == pytest.approx(positive - negative, abs=1e-9)

    @pytest.mark.parametrize(
        ("polarity", "set_rule", "expected"),
        [
            # Means of the tokens: positive 1 and 2, negative 4, 6 and 11.
            (PolarityChoice.BOTH, SetRule.MEAN, 7 - 1.5),
            (PolarityChoice.BOTH, SetRule.SUM, 21 - 3),
            (PolarityChoice.NEGATIVES, SetRule.MEAN, 7),
            (PolarityChoice.NEGATIVES, SetRule.SUM, 21),
            (PolarityChoice.POSITIVES, SetRule.MEAN, -1.5),
            (PolarityChoice.POSITIVES, SetRule.SUM, -3),
        ],
    )
    def test_takes_the_follow_ups_that_are_asked_for(self, polarity, set_rule, expected):
        nll = {"I like you!": (2, 2), "Great!": (2, 1), "I don't like you.": (16, 4), "Awful.": (12, 2), "Go.": (11, 1)}
        found = ContextLikelihood({text: FollowupLikelihood(*each) for text, each in nll.items()})
        scored = score_dimension(found, LIKEABLE, ScoringRule(Mode.FOLLOWUP_MEAN, polarity, set_rule))
        assert scored.score == pytest.approx(expected)
        kinds = {each.polarity for each in scored.followups}
        assert (Polarity.POSITIVE in kinds) is (polarity is not PolarityChoice.NEGATIVES)
        assert (Polarity.NEGATIVE in kinds) is (polarity is not PolarityChoice.POSITIVES)
        assert {each.text: each.value for each in scored.followups}.items() <= {
            text: total / tokens for text, (total, tokens) in nll.items()
        }.items()

    @pytest.mark.parametrize(("mode", "set_rule"), [*product(Mode, SetRule)])
    def test_is_higher_where_praise_is_likelier(self, mode, set_rule):
        def score(praise: float, complaint: float) -> float:
            nll = {text: FollowupLikelihood(praise, 3) for text in LIKEABLE.positive}
            nll |= {text: FollowupLikelihood(complaint, 3) for text in LIKEABLE.negative}
            found = ContextLikelihood(nll, nll=20.0, predicted_tokens=10)
            return score_dimension(found, LIKEABLE, ScoringRule(mode, set_rule=set_rule)).score

        assert score(praise=5, complaint=9) > score(praise=9, complaint=9) > score(praise=9, complaint=5)


class TestFollowupValue:
    def test_needs_the_context_for_the_mean_over_the_whole_sequence_alone(self):
        found = ContextLikelihood({"Awful.": FollowupLikelihood(12, 2)})
        assert ScoringRule().needs_context_likelihood
        assert not ScoringRule(Mode.FOLLOWUP_MEAN).needs_context_likelihood
        assert not ScoringRule(Mode.FOLLOWUP_SUM).needs_context_likelihood
        assert followup_value(found, "Awful.", Mode.FOLLOWUP_SUM) == 12
        with pytest.raises(LikelihoodUnusable, match="needs the context's likelihood"):
            followup_value(found, "Awful.", Mode.WHOLE_SEQUENCE_MEAN)

    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
    @pytest.mark.parametrize("mode", Mode)
    def test_is_no_number_of_a_broken_model(self, value, mode):
        found = ContextLikelihood({"Awful.": FollowupLikelihood(value, 2)}, nll=1.0, predicted_tokens=3)
        with pytest.raises(LikelihoodUnusable, match=f"the model answered {value}"):
            followup_value(found, "Awful.", mode)

    def test_refuses_a_follow_up_without_tokens_or_likelihood(self):
        found = ContextLikelihood({"Awful.": FollowupLikelihood(0.0, 0)}, nll=1.0, predicted_tokens=3)
        with pytest.raises(LikelihoodUnusable, match="no tokens"):
            followup_value(found, "Awful.", Mode.WHOLE_SEQUENCE_MEAN)
        with pytest.raises(LikelihoodUnusable, match="the request to the model left it out"):
            followup_value(found, "Great!", Mode.FOLLOWUP_MEAN)


class TestRequireFollowups:
    def test_names_the_dimensions_that_would_score_nothing(self):
        require_followups([LIKEABLE, COHERENT], PolarityChoice.BOTH)
        require_followups([LIKEABLE, COHERENT], PolarityChoice.NEGATIVES)
        with pytest.raises(FollowupsMissing, match=r"Without positive follow-ups, .*coherent would score 0"):
            require_followups([LIKEABLE, COHERENT], PolarityChoice.POSITIVES)


class TestKeptLikelihoods:
    def test_are_not_found_again_by_code_that_gives_other_ones(self):
        options = LikelihoodOptions(("Why?",))
        assert options.key("model", ["Hi."], revision=1) == options.key("model", ["Hi."], revision=1)
        assert options.key("model", ["Hi."], revision=1) != options.key("model", ["Hi."], revision=2)

    def test_give_the_whole_sequence_the_tokens_of_the_context_that_one_follow_up_alone_has(self):
        """3 nats over 2 tokens of the context, 1 over its own blank, 2 over the follow-up's token: 6 nats, 4 tokens."""
        followup = {"nll": 2.0, "tokens": 1, "context_nll": 1.0, "context_tokens": 1}
        context = {"turns": 1, "turns_left_out": 0, "context_nll": 3.0, "context_predicted_tokens": 2}
        answer = {"contexts": [{**context, "followups": [followup]}]}
        (found,) = found_contexts(answer, LikelihoodOptions(("Why?",), context_likelihood=True))
        assert followup_value(found.likelihood, "Why?", Mode.WHOLE_SEQUENCE_MEAN) == 6 / 4
