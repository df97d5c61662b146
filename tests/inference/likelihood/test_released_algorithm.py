"""The released FED code (github.com/Shikib/fed, fed.py), written out from its description, as the standard of ours.

For each of 18 dimensions and each of its follow-ups, one forward pass over context and follow-up with the tokens as
labels; the loss, a mean over all tokens but the first, is the follow-up's value. A dimension is the mean of its
negative follow-ups less the mean of its positive ones, an empty list counting 0.
"""

import json

import pytest

from spotthebot.fed.dimension_sets.domain.dimensions import unique_followups
from spotthebot.fed.dimension_sets.domain.published_dimensions import FED
from spotthebot.fed.likelihoods.domain import ContextLikelihood, FollowupLikelihood
from spotthebot.fed.scores.domain.modes import Mode, ScoringRule
from spotthebot.fed.scores.domain.scoring import score_dimension
from spotthebot.inference.models.batch import run_batch
from spotthebot.inference.models.likelihood.kind import load
from tests.factories import tiny_models
from tests.factories.lazy_imports import lazily, needs_models
from tests.inference.likelihood.likelihood_models import POSITIONS

pytestmark = needs_models
torch = lazily("torch")
AutoModelForCausalLM = lazily("transformers:AutoModelForCausalLM")
AutoTokenizer = lazily("transformers:AutoTokenizer")

TURNS = ["Did you water the tomatoes this morning?", "Yes, before breakfast.", "Let us get a coffee!"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_models.gpt2(tmp_path_factory.mktemp("gpt2"), positions=POSITIONS)


def released_scores(folder, turns):
    """Return the 18 scores and how often the model was called."""
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    mark = tokenizer.eos_token
    context = f"{mark} " + f" {mark} ".join(turns)
    calls = 0

    def loss(followup):
        nonlocal calls
        calls += 1
        ids = torch.tensor([tokenizer(f"{context} {mark} {followup}")["input_ids"]])
        with torch.no_grad():
            return float(model(ids, labels=ids).loss)

    scores = {}
    for dimension in FED.dimensions:
        high = sum(loss(followup) for followup in dimension.positive) / max(len(dimension.positive), 1)
        low = sum(loss(followup) for followup in dimension.negative) / max(len(dimension.negative), 1)
        scores[dimension.name] = low - high
    return scores, calls


class TestWholeSequenceMean:
    def test_is_that_of_the_released_code_in_all_18_dimensions(self, folder):
        followups = unique_followups(FED.dimensions)
        request = {
            "turns": TURNS,
            "ends": [1, 2, 3],
            "followups": followups,
            "join": {"form": "fed", "space_before_end": True},
            "context_likelihood": True,
        }
        model = load(str(folder))
        assert model.description.path == "packed"
        (answer,) = run_batch(model, [json.dumps(request)])
        assert [each["turns"] for each in answer["contexts"]] == [1, 2, 3]
        for context in answer["contexts"]:
            sums = [FollowupLikelihood(each["nll"], each["tokens"]) for each in context["followups"]]
            likelihood = ContextLikelihood(
                dict(zip(followups, sums, strict=True)), context["context_nll"], context["context_predicted_tokens"]
            )
            rule = ScoringRule(Mode.WHOLE_SEQUENCE_MEAN)
            ours = {each.name: score_dimension(likelihood, each, rule).score for each in FED.dimensions}
            released, calls = released_scores(folder, TURNS[: context["turns"]])
            assert calls == 73
            assert ours == pytest.approx(released, abs=1e-5)
