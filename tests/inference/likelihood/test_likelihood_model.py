"""A likelihood model as a service uses it: JSON in, JSON out, one bad request fails alone."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from spotthebot.inference.models.batch import run_batch
from spotthebot.inference.models.likelihood.kind import PROBE, load
from tests.factories import tiny_models
from tests.factories.lazy_imports import lazily, needs_models
from tests.inference.likelihood.likelihood_models import POSITIONS, loaded

pytestmark = needs_models
torch = lazily("torch")
GPT2LMHeadModel = lazily("transformers:GPT2LMHeadModel")
Limits = lazily("spotthebot.inference.models.likelihood.limits:Limits")
batch_model_of = lazily("spotthebot.inference.models.likelihood.batch_model:batch_model_of")

TURNS = ["Did you water the tomatoes?", "Yes, before breakfast.", "Is there bread?"]
REQUEST = {"turns": TURNS, "ends": [1, 3], "followups": ["That makes no sense!", "Tell me more!"]}
LONG: dict[str, Any] = {
    "turns": [f"{speaker}: let us get a coffee. " * 40 for speaker in "abcd"],
    "followups": ["Why?", "Tell me more!"],
    "ends": [1, 3, 4],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_models.gpt2(tmp_path_factory.mktemp("gpt2"), positions=POSITIONS)


@pytest.fixture(scope="module")
def model(folder):
    return load(str(folder))


def answers(model, *requests):
    return run_batch(model, [json.dumps(each) for each in requests])


class TestLikelihoodModel:
    def test_answers_the_probe(self, model):
        assert "contexts" in answers(model, PROBE)[0]

    def test_gives_a_context_for_each_end_and_a_sum_for_each_follow_up(self, model):
        contexts = answers(model, REQUEST)[0]["contexts"]
        assert [(each["turns"], each["turns_left_out"], each["context_nll"]) for each in contexts] == [
            (1, 0, None),
            (3, 0, None),
        ]
        for context in contexts:
            assert [sorted(each) for each in context["followups"]] == [["nll", "tokens"]] * 2
            assert context["context_predicted_tokens"] == context["context_tokens"] - 1

    def test_gives_the_log_probabilities_of_tokens_that_add_up(self, model):
        plain, detailed = answers(model, REQUEST, {**REQUEST, "tokens": True})
        for one, other in zip(plain["contexts"], detailed["contexts"], strict=True):
            for sums, tokens in zip(one["followups"], other["followups"], strict=True):
                assert len(tokens["token_log_probabilities"]) == sums["tokens"]
                assert -math.fsum(tokens["token_log_probabilities"]) == pytest.approx(sums["nll"], rel=1e-6)

    def test_fails_only_the_requests_that_are_bad(self, model):
        good, none, long, last = answers(
            model, REQUEST, {**REQUEST, "turns": []}, {**REQUEST, "turns": ["bread " * 100_000], "ends": [1]}, REQUEST
        )
        assert good == last
        assert none == {"error": "turns must be a list of texts, at least one"}
        assert "tokens, and the model reads" in long["error"]

    def test_gives_a_request_the_same_bits_alone_in_every_batch_and_in_every_order(self, folder):
        """On a processor, that is: no pass is shared, so that no sum is done in another order."""
        apart = batch_model_of(loaded(folder), Limits())
        requests = [
            {**REQUEST, "turns": TURNS[:2] * (1 + number), "ends": [1, 2], "context_likelihood": number % 2 == 0}
            for number in range(8)
        ]
        alone = [answers(apart, each)[0] for each in requests]
        sizes = fail_above(apart, 10_000)
        assert answers(apart, *requests) == alone
        assert answers(apart, *requests[::-1])[::-1] == alone
        assert len(sizes) == 2 * len(requests)

    def test_gives_requests_on_a_gpu_the_same_but_for_rounding(self, folder, model):
        """There the units of all requests share passes; here they do on the processor."""
        requests = [{**REQUEST, "turns": TURNS[:2] * (1 + number), "ends": [1, 2]} for number in range(8)]
        shared = batch_model_of(loaded(folder), Limits())
        shared.description = replace(shared.description, device="cuda")
        sizes = fail_above(shared, 10_000)
        for one, other in zip(answers(shared, *requests), answers(model, *requests), strict=True):
            for mine, its in zip(one["contexts"], other["contexts"], strict=True):
                assert [each["nll"] for each in mine["followups"]] == pytest.approx(
                    [each["nll"] for each in its["followups"]], rel=1e-5
                )
        assert len(sizes) == 1

    def test_takes_a_dialogue_of_empty_turns(self, model):
        assert "contexts" in answers(model, {"turns": ["", ""], "followups": ["Why?"]})[0]

    def test_refuses_a_context_without_a_token(self, model):
        join = {"form": "text", "separator": ""}
        (answer,) = answers(model, {"turns": [""], "followups": ["Why?"], "join": join})
        assert answer["error"] == "the context of 1 turns has no tokens: give the join a start"

    def test_refuses_a_follow_up_that_does_not_fit_into_the_model(self, model):
        (answer,) = answers(model, {"turns": ["Hi."], "followups": ["bread " * 2000]})
        assert "a follow-up has" in answer["error"]
        assert "the model reads 1024 with its context" in answer["error"]


class TestOverLongContexts:
    def test_are_an_error_that_says_what_to_do(self, model):
        (answer,) = answers(model, LONG)
        assert answer["error"].endswith("give it fewer turns, or set over_long to truncate_oldest_turns")

    def test_begin_one_token_above_what_the_model_reads_with_the_longest_follow_up(self, folder, model):
        words = loaded(folder).tokenizer
        longest = max(len(words.encode(text)) for text in LONG["followups"])
        fits = POSITIONS - longest - 1  # the turn has an end-of-text token
        assert len(words.encode("z" * fits)) == fits
        document = {"followups": LONG["followups"], "join": {"form": "turns_end"}}
        assert "contexts" in answers(model, {**document, "turns": ["z" * fits]})[0]
        (answer,) = answers(model, {**document, "turns": ["z" * (fits + 1)]})
        assert f"has {fits + 2:,} tokens, and the model reads {fits + 1:,} before the follow-ups" in answer["error"]

    def test_lose_their_oldest_turns_and_say_how_many(self, model):
        (answer,) = answers(model, {**LONG, "over_long": "truncate_oldest_turns"})
        left_out = [each["turns_left_out"] for each in answer["contexts"]]
        assert left_out[0] == 0
        assert 0 < left_out[1] < left_out[2]
        for context, first in zip(answer["contexts"], left_out, strict=True):
            turns = LONG["turns"][first : context["turns"]]
            (kept,) = answers(model, {**LONG, "turns": turns, "ends": [len(turns)]})
            assert [each["nll"] for each in context["followups"]] == pytest.approx(
                [each["nll"] for each in kept["contexts"][0]["followups"]], rel=1e-6
            )
        longest = max(each["tokens"] for each in answer["contexts"][2]["followups"])
        a_turn = answer["contexts"][0]["context_tokens"] - 1
        assert POSITIONS - a_turn < answer["contexts"][2]["context_tokens"] + longest <= POSITIONS

    def test_are_an_error_where_the_last_turn_alone_is_too_long(self, model):
        long = {"turns": ["Hi.", "bread " * 2000], "followups": ["Why?"], "over_long": "truncate_oldest_turns"}
        assert answers(model, long)[0]["error"].endswith("its last turn alone is too long")


class TestOutOfMemory:
    def test_halves_passes_until_they_fit_and_gives_the_same(self, folder, model):
        """Memory is for 60 tokens at once here, and 20 follow-ups after two turns need more."""
        small = batch_model_of(loaded(folder), Limits())
        sizes = fail_above(small, 60)
        followups = [f"{number} is good." for number in range(20)]
        requests = [{"turns": [f"{number}", "bread"], "ends": [1, 2], "followups": followups} for number in range(9)]
        for one, other in zip(answers(small, *requests), answers(model, *requests), strict=True):
            for mine, its in zip(one["contexts"], other["contexts"], strict=True):
                assert [each["nll"] for each in mine["followups"]] == pytest.approx(
                    [each["nll"] for each in its["followups"]], rel=1e-5
                )
        assert max(sizes) > 60
        sizes.clear()
        answers(small, *requests)
        assert max(sizes) <= 60

    def test_fails_the_request_that_one_follow_up_alone_is_too_large_for(self, folder):
        small = batch_model_of(loaded(folder), Limits())
        fail_above(small, 60)
        large, fits = answers(small, {**REQUEST, "turns": ["bread " * 50], "ends": [1]}, REQUEST)
        assert large["error"].startswith("the model runs out of memory on a context of")
        assert "contexts" in fits


class TestDamagedModels:
    def test_answer_an_error_in_place_of_nan(self, folder, tmp_path):
        broken = GPT2LMHeadModel.from_pretrained(folder)
        with torch.no_grad():
            broken.transformer.h[1].mlp.c_fc.weight[3, 4] = math.nan
        broken.save_pretrained(tmp_path)
        loaded(folder).tokenizer.save_pretrained(tmp_path)
        (answer,) = answers(load(str(tmp_path)), REQUEST)
        assert answer["error"].startswith("the model gives the likelihood of 1 turns no finite number")


def fail_above(model, tokens):
    """Let a model run out of memory where a pass has more tokens; return the list of sizes that it sees."""
    sizes = []
    path = model._runs._path

    def count(_module, _arguments, given):
        sizes.append(given["input_ids"].shape[1])
        if sizes[-1] > tokens:
            message = "CUDA out of memory (planted)"
            raise torch.OutOfMemoryError(message)

    path._body.register_forward_pre_hook(count, with_kwargs=True)
    return sizes
