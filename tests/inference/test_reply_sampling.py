import itertools
import math
import random

import pytest
from scipy import stats

from spotthebot.inference.models.dialogue.context_window import split_context
from spotthebot.inference.models.dialogue.requests import GenerationRequest
from spotthebot.inference.models.row_groups import groups
from tests.factories.lazy_imports import lazily, needs_models
from tests.factories.tiny_models import mixed_requests

pytestmark = needs_models
torch = lazily("torch")
TopKLogitsWarper = lazily("transformers.generation.logits_process:TopKLogitsWarper")
TopPLogitsWarper = lazily("transformers.generation.logits_process:TopPLogitsWarper")
_split_mix = lazily("spotthebot.inference.models.dialogue.noise:_split_mix")
gumbel_noise = lazily("spotthebot.inference.models.dialogue.noise:gumbel_noise")
RowSampler = lazily("spotthebot.inference.models.dialogue.sampler:RowSampler")
_threshold = lazily("spotthebot.inference.models.dialogue.sampler:_threshold")

MASK_64 = 2**64 - 1


class TestTheRowSampler:
    VOCABULARY = 2500

    @pytest.mark.parametrize("top_k", [0, 1, 3, 700, 1500])
    @pytest.mark.parametrize("top_p", [1.0, 0.95, 0.5, 0.01])
    @pytest.mark.parametrize("spread", [0.1, 3.0])
    def test_cuts_as_the_warpers_of_transformers_do(self, top_k, top_p, spread):
        """A second implementation of what may be drawn at all."""
        chance = torch.Generator().manual_seed(top_k)
        scores = torch.randn(5, self.VOCABULARY, generator=chance) * spread
        allowed = TopKLogitsWarper(top_k)(None, scores) if top_k else scores
        allowed = TopPLogitsWarper(top_p)(None, allowed) if top_p < 1 else allowed
        least = _threshold(scores, torch.full((5, 1), top_k or 2**31), torch.full((5, 1), top_p))
        differing = (scores >= least) != (allowed > float("-inf"))
        assert differing.sum() <= 1  # sums of a thousand shares, taken from the other end

    def test_gives_equal_scores_equal_treatment(self):
        """Sixteen equal best scores: top-1 keeps them all, so that sorting decides nothing."""
        scores = torch.zeros(300, 40)
        scores[:, 4:20] = 5.0
        drawn = RowSampler(
            [GenerationRequest((), top_k=1, seed=seed) for seed in range(300)], torch.device("cpu")
        ).choose(scores)
        assert set(drawn.tolist()) == set(range(4, 20))

    def test_penalises_tokens_of_the_prompt_and_not_the_padding(self):
        """A penalty of 2 makes 4 to 2 and -1 to -2 (Keskar et al. 2019), for tokens 0 and 3; 1 is only padding."""
        sampler = RowSampler([GenerationRequest((), temperature=0, repetition_penalty=2.0)], torch.device("cpu"))
        sampler.saw(torch.tensor([[1, 0, 3]]), torch.tensor([[0, 1, 1]]), 4)
        assert sampler.choose(torch.tensor([[4.0, 2.5, 0.0, 4.9]])).tolist() == [1]
        assert sampler.choose(torch.tensor([[-1.0, -1.9, -9.0, -1.1]])).tolist() == [0]

    def test_goes_on_to_new_noise_at_every_step(self):
        sampler = RowSampler([GenerationRequest(())], torch.device("cpu"))
        assert len({int(sampler.choose(torch.zeros(1, 10_000))) for _ in range(50)}) > 45


class TestNoise:
    def test_is_the_published_stream_of_split_mix(self):
        """The first numbers after 1234567, as published with the algorithm's ports; then the definition itself."""
        starts = torch.tensor([1234567, -5])
        published = [
            *(6457827717110365317, 3203168211198807973, 9817491932198370423),
            *(4593380528125082431, 16408922859458223821),
        ]
        stream = _split_mix(starts, 400)
        assert [value & MASK_64 for value in stream[0, :5].tolist()] == published
        assert [value & MASK_64 for value in stream[1].tolist()] == split_mix(-5 & MASK_64, 400)

    def test_is_distributed_as_gumbel(self):
        noise = gumbel_noise(range(20), 3, 5000, torch.device("cpu"))
        assert stats.kstest(noise.flatten().numpy(), "gumbel_r").pvalue > 0.001
        assert torch.isfinite(noise).all()

    def test_belongs_to_seed_and_step_alone(self):
        alone = gumbel_noise([9], 2, 30, torch.device("cpu"))
        assert torch.equal(gumbel_noise([1, 9, 2**63 - 1], 2, 50, torch.device("cpu"))[1, :30], alone[0])
        assert not torch.equal(gumbel_noise([9], 3, 30, torch.device("cpu")), alone)


def split_mix(state, count):
    """SplitMix64 as in Steele, Lea and Flood (2014), in whole numbers without bounds."""
    numbers = []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK_64
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK_64
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK_64
        numbers.append(mixed ^ (mixed >> 31))
    return numbers


class TestAContext:
    def test_keeps_room_for_the_conversation_beside_a_greedy_reply(self):
        assert split_context(1024, 40) == (984, 40)
        assert split_context(1024, 4000) == (64, 960)
        assert split_context(96, 4000) == (48, 48)


class TestGroups:
    def test_hold_every_row_once_and_fit(self):
        rng = random.Random(1)
        sizes = [(rng.randrange(1, 90), rng.randrange(1, 30)) for _ in range(500)]
        sizes = [(prompt, min(limit, 96 - prompt)) for prompt, limit in sizes]
        made = groups(sizes, 96)
        assert sorted(itertools.chain(*made)) == list(range(500))
        for group in made:
            assert max(sizes[each][0] for each in group) + max(sizes[each][1] for each in group) <= 96
            assert len(group) <= 64
        assert len(made) < 50

    def test_are_as_few_as_memory_allows(self):
        assert [len(group) for group in groups([(60, 40)] * 130, 1024)] == [64, 64, 2]
        assert [len(group) for group in groups([(8000, 192)] * 9, 8192)] == [4, 4, 1]  # 4 x 8,192 tokens


class TestARequest:
    def test_survives_json(self):
        for request in mixed_requests():
            assert GenerationRequest.from_json(request.to_json()) == request
        assert GenerationRequest.from_json({"turns": ["Hi."]}) == GenerationRequest(("Hi.",))

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            ({}, "turns must be a list of texts"),
            ({"turns": "Hi."}, "turns must be a list of texts"),
            ({"turns": [1]}, "turns must be texts"),
            ({"turns": [], "seed": -1}, "seed must be"),
            ({"turns": [], "seed": True}, "seed must be"),
            ({"turns": [], "max_new_tokens": 0}, "max_new_tokens must be"),
            ({"turns": [], "max_new_tokens": 10**9}, "max_new_tokens must be"),
            ({"turns": [], "temperature": -0.1}, "temperature must be"),
            ({"turns": [], "temperature": 1e-9}, "temperature must be"),
            ({"turns": [], "temperature": math.nan}, "temperature must be"),
            ({"turns": [], "top_p": 0}, "top_p must be"),
            ({"turns": [], "top_k": 0.5}, "top_k must be"),
            ({"turns": [], "repetition_penalty": 0}, "repetition_penalty must be"),
            ({"turns": [], "persona": 3}, "persona must be"),
            ({"turns": [], "topk": 3, "beams": 2}, "unknown fields: beams, topk"),
        ],
    )
    def test_is_refused_with_a_sentence(self, value, message):
        with pytest.raises(ValueError, match=message):
            GenerationRequest.from_json(value)
