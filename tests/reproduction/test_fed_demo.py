"""DialoGPT-large gives the scores that were published of it, where its weights are.

SPOTTHEBOT_TEST_DIALOGPT names their folder. Which spaces beside the end-of-text token were tokenised depends on the
version of transformers that computed the scores, so each form of the join is tried, and one has to give all 18.
"""

import json
import os
from pathlib import Path

import pytest

from spotthebot.fed.dialogues.domain.dialogues import Level
from spotthebot.fed.dimension_sets.domain.dimensions import unique_followups
from spotthebot.fed.dimension_sets.domain.published_dimensions import FED
from spotthebot.fed.likelihoods.domain import ContextLikelihood, FollowupLikelihood
from spotthebot.fed.scores.domain.modes import ScoringRule
from spotthebot.fed.scores.domain.scoring import score_dimension
from spotthebot.inference.models.batch import run_batch
from tests.factories.lazy_imports import lazily, needs_models
from tests.factories.published_dump import reference
from tests.reproduction.published_fed import published_scores

pytestmark = needs_models
load = lazily("spotthebot.inference.models.likelihood.kind:load")

DEMO = (
    "Hi!",
    "Hello, how is your day?",
    "It's good. It's raining a bit, but I am enjoying a good book. How about you?",
    "It's good, I just got back from walking my dog What book did you read?",
)
"""The conversation of the released `fed_demo.py`."""
JOINS = [
    {"form": "fed", "space_before_end": before, "space_after_end": after}
    for before in (False, True)
    for after in (True, False)
]


@pytest.fixture(scope="module")
def model():
    folder = os.environ.get("SPOTTHEBOT_TEST_DIALOGPT")
    if not folder or not Path(folder).is_dir():
        pytest.skip("the weights of DialoGPT-large are not here: SPOTTHEBOT_TEST_DIALOGPT names their folder")
    return load(folder)


def distance(model, turns, expected):
    """Return how far the furthest of 18 scores is from the expected ones, in the form of the join that is nearest."""
    followups = unique_followups(FED.dimensions)
    request = {"turns": turns, "followups": followups, "context_likelihood": True}
    distances = []
    for result in run_batch(model, [json.dumps({**request, "join": join}) for join in JOINS]):
        (context,) = result["contexts"]
        values = [FollowupLikelihood(each["nll"], each["tokens"]) for each in context["followups"]]
        found = ContextLikelihood(
            dict(zip(followups, values, strict=True)), context["context_nll"], context["context_predicted_tokens"]
        )
        ours = {each.name: score_dimension(found, each, ScoringRule()).score for each in FED.dimensions}
        distances.append(max(abs(ours[name] - score) for name, score in expected.items()))
    return min(distances)


class TestDialoGpt:
    def test_gives_the_scores_of_the_demonstration(self, model):
        golden = reference("fed/reference_fed.json")["fed_golden_outputs"]["demo_DialoGPT_large_transformers4"]
        assert distance(model, DEMO, golden["scores"]) < 1e-3

    @pytest.mark.parametrize("level", Level)
    def test_gives_the_scores_of_the_first_published_items(self, model, level):
        published = published_scores(level)
        for at, item in enumerate(published.items[:5]):
            expected = {name: scores[at] for name, scores in published.scores.items()}
            assert distance(model, item.dialogue.texts, expected) < 1e-3, item.dialogue.id
