"""Encoder-decoder models: the loss of the follow-up that transformers computes from labels."""

import json

import pytest

from spotthebot.inference.models.batch import run_batch
from spotthebot.inference.models.likelihood.kind import load
from tests.factories import tiny_models
from tests.factories.lazy_imports import lazily, needs_models
from tests.inference.likelihood.likelihood_models import loaded

pytestmark = needs_models
torch = lazily("torch")
AutoModelForSeq2SeqLM = lazily("transformers:AutoModelForSeq2SeqLM")
Limits = lazily("spotthebot.inference.models.likelihood.limits:Limits")
batch_model_of = lazily("spotthebot.inference.models.likelihood.batch_model:batch_model_of")

REQUEST = {
    "turns": ["Did you water the tomatoes?", "Yes, before breakfast.", "Is there bread?"],
    "ends": [1, 3],
    "followups": ["That makes no sense!", "Yes", "Tell me more about the bread!", "b"],
}


@pytest.fixture(scope="module", params=["blenderbot", "bart", "t5"])
def folder(request, tmp_path_factory):
    return tiny_models.MAKERS[request.param](tmp_path_factory.mktemp(request.param))


def losses(folder, prepared):
    """Return the summed loss of each follow-up after each context, by a pass for each with labels.

    BART's labels begin with its start token, whose loss is not the follow-up's.
    """
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    found = []
    for context in prepared.contexts:
        for followup, known in zip(context.joined.followups, context.joined.given, strict=True):
            labels = torch.tensor([followup])
            with torch.inference_mode():
                logits = model(input_ids=torch.tensor([context.joined.context]), labels=labels).logits[0]
            found.append(float(torch.nn.functional.cross_entropy(logits[known:], labels[0, known:], reduction="sum")))
    return found


def nlls(answer):
    return [each["nll"] for context in answer["contexts"] for each in context["followups"]]


class TestEncoderDecoderPath:
    def test_gives_the_loss_of_the_labels(self, folder):
        model = load(str(folder))
        assert model.description.path == "encoder_decoder"
        (answer,) = run_batch(model, [json.dumps(REQUEST)])
        assert nlls(answer) == pytest.approx(losses(folder, model.parse(REQUEST)), rel=1e-5)
        assert [(each["context_nll"], each["context_predicted_tokens"]) for each in answer["contexts"]] == [
            (None, 0)
        ] * 2

    def test_gives_the_same_with_few_tokens_at_a_time(self, folder):
        few = batch_model_of(loaded(folder), Limits(max_tokens_per_pass=5))
        assert nlls(run_batch(few, [json.dumps(REQUEST)])[0]) == pytest.approx(
            nlls(run_batch(load(str(folder)), [json.dumps(REQUEST)])[0]), rel=1e-5
        )

    def test_has_no_likelihood_of_the_context(self, folder):
        (answer,) = run_batch(load(str(folder)), [json.dumps({**REQUEST, "context_likelihood": True})])
        assert "an encoder-decoder model gives its context no likelihood" in answer["error"]
