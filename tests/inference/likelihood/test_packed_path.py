"""The packed path against the plain one, which is a forward pass for each follow-up."""

import json

import numpy as np
import pytest

from tests.factories.lazy_imports import lazily, needs_models
from tests.inference.likelihood.likelihood_models import MAKERS, POSITIONS, loaded, random_units

pytestmark = needs_models
torch = lazily("torch")
AutoModelForCausalLM = lazily("transformers:AutoModelForCausalLM")
BloomConfig = lazily("transformers:BloomConfig")
BloomForCausalLM = lazily("transformers:BloomForCausalLM")
MistralConfig = lazily("transformers:MistralConfig")
MistralForCausalLM = lazily("transformers:MistralForCausalLM")
Limits = lazily("spotthebot.inference.models.likelihood.limits:Limits")
PackedPath = lazily("spotthebot.inference.models.likelihood.packed:PackedPath")
PlainPath = lazily("spotthebot.inference.models.likelihood.plain:PlainPath")
Context = lazily("spotthebot.inference.models.likelihood.units:Context")
chained = lazily("spotthebot.inference.models.likelihood.units:chained")
load = lazily("spotthebot.inference.models.likelihood.kind:load")
passes = lazily("spotthebot.inference.models.likelihood.units:passes")

TOLERANCE = 1e-5
"""Of a log-probability that is 8 on average, so about as exact as float32 is."""


@pytest.fixture(scope="module", params=MAKERS)
def folder(request, tmp_path_factory):
    return MAKERS[request.param](tmp_path_factory.mktemp(request.param), positions=POSITIONS)


@pytest.fixture(scope="module")
def packed(folder):
    return PackedPath(loaded(folder).model, Limits())


@pytest.fixture(scope="module")
def plain(folder):
    return PlainPath(loaded(folder).model)


def run(path, units):
    with torch.inference_mode():
        return path.run(units)


def run_apart(path, units, max_tokens=4096):
    return [each for part in passes(units, max_tokens) for each in run(path, part)]


class TestPackedPath:
    def test_gives_what_the_plain_path_gives_on_40_contexts_of_5_to_900_tokens(self, packed, plain):
        units = random_units(40, range(5, 901))
        ours, theirs = run_apart(packed, units), run(plain, units)
        for unit, one, other in zip(units, ours, theirs, strict=True):
            for mine, its in zip(one.followups, other.followups, strict=True):
                assert np.abs(mine - its).max() <= TOLERANCE
                predicted = len(unit.chain) - 1 + len(its)
                whole = (one.context + mine.sum()) / predicted, (other.context + its.sum()) / predicted
                assert abs(whole[0] - whole[1]) <= TOLERANCE

    def test_gives_each_turn_of_a_dialogue_what_it_gives_it_alone(self, packed):
        (whole,) = random_units(1, [300])
        followups = whole.branches[0].followups
        ends = [20, 21, 110, 300]
        together = chained([Context(n, whole.chain[:end], followups) for n, end in enumerate(ends)], likelihood=True)
        assert len(together) == 1
        apart = [
            each
            for branch in together[0].branches
            for each in run(packed, chained([Context(0, whole.chain[: branch.length], followups)], likelihood=True))
        ]
        for one, other in zip(run(packed, together), apart, strict=True):
            assert one.context == pytest.approx(other.context, rel=1e-6)
            for mine, its in zip(one.followups, other.followups, strict=True):
                assert mine == pytest.approx(its, abs=TOLERANCE)

    def test_depends_neither_on_neighbours_nor_on_the_order(self, packed):
        units = random_units(12, range(5, 200))
        alone = [each for unit in units for each in run(packed, [unit])]
        together = run(packed, units)
        backwards = run(packed, units[::-1])[::-1]
        for one, other, third in zip(alone, together, backwards, strict=True):
            for mine, its, last in zip(one.followups, other.followups, third.followups, strict=True):
                assert its == pytest.approx(mine, abs=TOLERANCE)
                assert last == pytest.approx(mine, abs=TOLERANCE)

    def test_computes_no_token_that_only_ends_follow_ups(self, packed):
        """The follow-ups (1 2 3), (1 2 4) and (5) need 1 and 2 computed; the other three tokens are only predicted."""
        (unit,) = chained([Context(0, (9, 8, 7), ((11, 12, 13), (11, 12, 14), (15,)))], likelihood=False)
        seen = []
        hook = packed._body.register_forward_pre_hook(
            lambda _, __, given: seen.append(given["input_ids"].tolist()), with_kwargs=True
        )
        run(packed, [unit])
        hook.remove()
        assert seen == [[[9, 8, 7, 11, 12]]]


class TestPlainPath:
    def test_gives_the_loss_that_transformers_computes(self, folder, plain):
        model = AutoModelForCausalLM.from_pretrained(folder).eval()
        for unit, scores in zip(units := random_units(3, range(5, 90)), run(plain, units), strict=True):
            for followup, each in zip(unit.branches[0].followups, scores.followups, strict=True):
                ids = torch.tensor([[*unit.chain, *followup]])
                with torch.inference_mode():
                    loss = float(model(input_ids=ids, labels=ids).loss)
                assert -(scores.context + each.sum()) / (ids.shape[1] - 1) == pytest.approx(loss, rel=1e-6)


class TestPasses:
    def test_are_no_larger_than_the_limit_and_lose_nothing(self, packed):
        units = random_units(9, range(5, 90))
        limited = passes(units, 100)
        assert all(sum(unit.tokens for unit in each) <= 100 for each in limited)
        assert len(limited) > 4
        whole, parts = run(packed, units), run_apart(packed, units, 100)
        for one, other in zip(whole, parts, strict=True):
            assert other.context == pytest.approx(one.context, rel=1e-6)

    def test_cut_a_unit_with_many_follow_ups(self):
        followups = tuple((first, 5, 6, 7) for first in range(10, 60))
        (unit,) = chained([Context(0, tuple(range(20)), followups)], likelihood=False)
        parts = [each for part in passes([unit], 80) for each in part]
        assert all(each.tokens <= 80 for each in parts)
        assert tuple(text for each in parts for branch in each.branches for text in branch.followups) == followups

    def test_let_a_context_that_is_longer_than_the_limit_have_a_pass_of_twice_its_length(self):
        units = random_units(3, [50])
        assert [len(each) for each in passes(units, 40)] == [1, 1, 1]


class TestChoice:
    def test_packs_gpt2_and_llama(self, folder):
        assert load(str(folder)).description.path == "packed"

    def test_leaves_models_whose_positions_are_in_their_attention_on_the_plain_path(self, folder, tmp_path):
        size = len(loaded(folder).tokenizer)
        BloomForCausalLM(BloomConfig(vocab_size=size, hidden_size=32, n_layer=1, n_head=2)).save_pretrained(tmp_path)
        assert answered(tmp_path, folder)["path"] == "plain"

    def test_leaves_models_with_a_sliding_window_on_the_plain_path(self, folder, tmp_path):
        small = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
        config = MistralConfig(
            vocab_size=len(loaded(folder).tokenizer), num_key_value_heads=1, sliding_window=64, **small
        )
        MistralForCausalLM(config).save_pretrained(tmp_path)
        assert answered(tmp_path, folder)["path"] == "plain"


def answered(model_folder, tokenizer_folder):
    """Return the path of a model with another one's tokenizer, once it gave the loss that transformers computes."""
    loaded(tokenizer_folder).tokenizer.save_pretrained(model_folder)
    model = load(str(model_folder))
    request = {"turns": ["The train is late."], "followups": ["Why?"], "context_likelihood": True}
    prepared = model.parse({**request, "join": {"form": "turns_end"}})
    (result,) = json.loads(json.dumps(model.run([prepared])))
    (context,) = result["contexts"]
    ids = torch.tensor([[*prepared.contexts[0].joined.context, *prepared.contexts[0].joined.followups[0]]])
    untouched = AutoModelForCausalLM.from_pretrained(model_folder).eval()
    with torch.inference_mode():
        loss = float(untouched(input_ids=ids, labels=ids).loss)
    assert (context["context_nll"] + context["followups"][0]["nll"]) / (ids.shape[1] - 1) == pytest.approx(
        loss, rel=1e-6
    )
    return vars(model.description)
