import random
import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from scipy import stats

from spotthebot.inference.models.dialogue.kind import load
from spotthebot.inference.models.dialogue.requests import GenerationRequest
from spotthebot.inference.models.plain_text import tokens_without_text
from tests.factories import tiny_models
from tests.factories.lazy_imports import lazily, needs_models
from tests.factories.tiny_models import BEGIN, END, MAKERS, SENTENCES, mixed_requests

pytestmark = needs_models
torch = lazily("torch")
AutoModelForCausalLM = lazily("transformers:AutoModelForCausalLM")
AutoModelForSeq2SeqLM = lazily("transformers:AutoModelForSeq2SeqLM")
AutoTokenizer = lazily("transformers:AutoTokenizer")
GenerationConfig = lazily("transformers:GenerationConfig")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = {}

    def find(name):
        if name not in made:
            made[name] = MAKERS[name](tmp_path_factory.mktemp(name))
        return made[name]

    return find


@pytest.fixture(scope="module")
def loaded(folders):
    made = {}

    def find(name):
        if name not in made:
            made[name] = load(str(folders(name)))
        return made[name]

    return find


@pytest.fixture(scope="module", params=MAKERS)
def model(request, loaded):
    return loaded(request.param)


@pytest.fixture(scope="module")
def warm(loaded):
    """300 replies of a model that draws what is rare."""
    requests = [GenerationRequest((SENTENCES[0],), temperature=3.0, seed=seed) for seed in range(300)]
    return loaded("gpt2").replies(requests)


@pytest.fixture(scope="module")
def first_tokens(folders):
    """Text and share of every first token after one sentence, by the softmax of the model's own forward pass."""
    words: Any = AutoTokenizer.from_pretrained(folders("gpt2"))  # transformers' types do not fit each other
    model: Any = AutoModelForCausalLM.from_pretrained(folders("gpt2"))
    ids = torch.tensor([[*words.encode(SENTENCES[0], add_special_tokens=False), words.eos_token_id]])
    with torch.no_grad():
        logits = model(ids).logits[0, -1].double()
    logits[controls(words)] = float("-inf")
    texts = [words.decode([token], skip_special_tokens=True).strip() for token in range(len(logits))]
    return lambda temperature: list(zip(texts, (logits / temperature).softmax(0).tolist(), strict=True))


def controls(words):
    """Return the tokens of the 31 characters of ASCII that are no text: all below the blank but tab and line feed."""
    silent = {chr(code) for code in (*range(32), 127)} - {"\t", "\n"}
    return [token for token in range(len(words)) if words.decode([token]) in silent]


def prompt_of(model, *turns, persona=None, **more):
    """Return the prompt that a request becomes, as text."""
    ids, _ = model._prompt(GenerationRequest(turns, persona, **more))
    return model._tokenizer.decode(ids)


class TestAReply:
    def test_is_the_same_alone_and_in_every_batch_and_order(self, model):
        requests = mixed_requests(16)
        alone = [model.replies([request])[0] for request in requests]
        assert len(set(alone)) > len(alone) / 2
        assert model.replies(requests) == alone
        order = random.Random(6).sample(range(len(requests)), len(requests))
        for start, end in pairwise((0, 1, 3, 6, 10, 16)):
            some = order[start:end]
            assert model.replies([requests[place] for place in some]) == [alone[place] for place in some]

    def test_keeps_to_its_own_limit_of_tokens_beside_longer_neighbours(self, model):
        long = GenerationRequest((SENTENCES[0],), max_new_tokens=30, temperature=1.3)
        short = replace(long, max_new_tokens=3)
        whole, cut = model.replies([long, short])
        assert cut
        assert len(cut) < len(whole)
        assert whole.startswith(cut.rstrip("\ufffd"))  # half a character is shown so

    def test_exists_for_awkward_conversations(self, model):
        awkward = [
            (),
            ("",),
            ("Hello.", " \n\t "),
            ("\U0001f642\U0001f389 \U0001f469\u200d\U0001f680",),
            (
                "\u05e9\u05dc\u05d5\u05dd, \u05de\u05d4 \u05e9\u05dc\u05d5\u05de\u05da?",
                "\u0645\u0631\u062d\u0628\u0627!",
            ),
            ("broken \ud83d text",),
            ("a" * 20_000,),
            SENTENCES * 200,
        ]
        requests = [GenerationRequest(turns, seed=3, max_new_tokens=8) for turns in awkward]
        replies = model.replies(requests)
        assert all(isinstance(reply, str) for reply in replies)
        assert replies == [model.replies([request])[0] for request in requests]
        for request in requests:
            ids, limit = model._prompt(request)
            taken = len(ids) + (limit if model.description.kind == "causal" else 0)
            assert 0 < taken <= model.description.context_length

    def test_changes_with_the_persona(self, model):
        plain = GenerationRequest((SENTENCES[0],), temperature=0)
        assert model.replies([plain]) != model.replies([replace(plain, persona="I breed ducks on a lake.")])

    def test_to_nothing_is_nothing(self, model):
        assert model.replies([]) == []


class TestGreedyReplies:
    """Temperature 0, against transformers' own `generate` on a prompt that is written out here."""

    @pytest.mark.parametrize("penalty", [1.0, 1.4])
    @pytest.mark.parametrize("name", MAKERS)
    def test_equal_those_of_transformers(self, name, penalty, folders, loaded):
        folder = folders(name)
        words: Any = AutoTokenizer.from_pretrained(folder)
        family = AutoModelForCausalLM if name in {"gpt2", "llama"} else AutoModelForSeq2SeqLM
        theirs: Any = family.from_pretrained(folder)
        partner, own, again = SENTENCES[1], SENTENCES[0], SENTENCES[3]
        written = {
            "gpt2": f"{partner}{END}{own}{END}{again}{END}",
            "llama": f"user: {partner}{END}assistant: {own}{END}user: {again}{END}assistant: ",
            "blenderbot": f" {partner}  {own}   {again}{END}",
            "bart": f"{BEGIN}{partner}{END}{own}{END}{again}{END}",
            "t5": f"{partner}{END}{own}{END}{again}{END}",
        }[name]
        ids = words(written, return_tensors="pt", add_special_tokens=False).input_ids
        settings = GenerationConfig(
            max_new_tokens=20,
            do_sample=False,
            num_beams=1,
            repetition_penalty=penalty,
            suppress_tokens=controls(words) or None,
            eos_token_id=words.eos_token_id,
            pad_token_id=words.pad_token_id if words.pad_token_id is not None else words.eos_token_id,
        )
        whole = theirs.generate(ids, attention_mask=torch.ones_like(ids), generation_config=settings)[0]
        reply = whole[ids.shape[1] :] if name in {"gpt2", "llama"} else whole
        expected = words.decode(reply, skip_special_tokens=True).strip()
        request = GenerationRequest((partner, own, again), max_new_tokens=20, temperature=0, repetition_penalty=penalty)
        neighbours = [GenerationRequest(SENTENCES, seed=each, max_new_tokens=20) for each in range(3)]
        assert expected
        assert loaded(name).replies([*neighbours, request])[-1] == expected

    def test_are_what_top_k_of_one_draws(self, model):
        greedy = [GenerationRequest(SENTENCES[:count], temperature=0) for count in range(1, 6)]
        drawn = [replace(each, temperature=1.7, top_k=1, seed=seed) for seed, each in enumerate(greedy)]
        assert model.replies(drawn) == model.replies(greedy)

    def test_do_not_depend_on_sampling_that_a_checkpoint_comes_with(self, tmp_path, loaded):
        tiny_models.gpt2(tmp_path)
        theirs = GenerationConfig(do_sample=True, temperature=3.0, top_k=7, repetition_penalty=2.0, num_beams=4)
        theirs.save_pretrained(tmp_path)
        request = GenerationRequest((SENTENCES[0],), temperature=0)
        assert load(str(tmp_path)).replies([request]) == loaded("gpt2").replies([request])


class TestDrawnReplies:
    DRAWS = 3000

    def drawn(self, model, draws=DRAWS, **more):
        return Counter(
            model.replies(
                [GenerationRequest((SENTENCES[0],), seed=each, max_new_tokens=1, **more) for each in range(draws)]
            )
        )

    def test_have_the_frequencies_of_the_softmax(self, loaded, first_tokens):
        """Pearson's chi-square over all texts of which at least five are expected, the rest in one class."""
        counts = self.drawn(loaded("gpt2"), temperature=1.5)
        expected: dict[str, float] = defaultdict(float)
        for text, share in first_tokens(1.5):
            expected[text] += share
        common = [text for text, share in expected.items() if share * self.DRAWS >= 5]
        observed = [*(counts[text] for text in common)]
        frequencies = [expected[text] * self.DRAWS for text in common]
        observed.append(self.DRAWS - sum(observed))
        frequencies.append(self.DRAWS - sum(frequencies))
        assert len(common) > 20
        assert stats.chisquare(observed, frequencies).pvalue > 0.001

    def test_keep_to_the_nucleus(self, loaded, first_tokens):
        """The fewest tokens whose shares reach 0.6, added up one by one."""
        nucleus, mass = {}, 0.0
        for text, share in sorted(first_tokens(1.0), key=lambda each: -each[1]):
            if mass < 0.6:
                nucleus[text] = share
            mass += share
        counts = self.drawn(loaded("gpt2"), 1000, top_p=0.6)
        assert len(nucleus) > 4
        assert set(counts) == set(nucleus)

    def test_hold_no_control_character(self, folders, warm):
        """Its tokenizer has 31 of some 400 tokens for them, so that a warm model would draw one every few words."""
        words: Any = AutoTokenizer.from_pretrained(folders("gpt2"))
        assert len(controls(words)) == 31
        assert tokens_without_text(words, len(words)) == sorted({*controls(words), *words.all_special_ids})
        silent = {words.decode([token]) for token in controls(words)}
        assert [reply for reply in warm if silent & set(reply)] == []

    def test_hold_no_control_character_of_two_bytes(self, warm):
        """Such as U+008F, which is C2 and 8F: no token has both bytes, and 2 of these 300 replies held one."""
        assert [each for each in warm if re.search(r"[\x80-\x9f\u202a-\u202e]", each)] == []

    def test_are_never_empty(self, tmp_path):
        """One word in thirty of this model is the end or another control token; 7 of 163 replies were empty."""
        model = load(str(tiny_models.talking_gpt2(tmp_path)))
        assert all(model.replies([GenerationRequest(("Hello.",), seed=seed, max_new_tokens=6) for seed in range(150)]))

    def test_repeat_with_their_seed_and_differ_with_another(self, model):
        requests = [GenerationRequest((SENTENCES[2],), seed=seed, temperature=1.2) for seed in range(20)]
        first = model.replies(requests)
        assert model.replies(requests) == first
        assert len(set(first)) >= 15

    def test_are_less_varied_the_colder_they_are(self, loaded):
        kinds = [len(self.drawn(loaded("gpt2"), 300, temperature=each)) for each in (0.3, 1.0, 3.0)]
        assert kinds == sorted(set(kinds))


class TestALongConversation:
    def test_loses_its_oldest_turns(self, loaded):
        model = loaded("gpt2")
        turns = tuple(f"{number}: {SENTENCES[number % 5]}" for number in range(300))
        costs = [len(model._tokenizer.encode(turn, add_special_tokens=False)) + 1 for turn in turns]
        kept = max(count for count in range(300) if sum(costs[300 - count :]) <= 96 - 20)
        assert 2 <= kept <= 10
        assert prompt_of(model, *turns, max_new_tokens=20) == "".join(turn + END for turn in turns[-kept:])

    def test_loses_the_start_of_the_last_turn_if_nothing_else_is_left(self, loaded):
        model = loaded("llama")
        prompt = prompt_of(model, "Hello.", " ".join(map(str, range(900))), max_new_tokens=20)
        ids = model._tokenizer.encode(prompt, add_special_tokens=False)
        assert prompt.startswith("user: ")
        assert prompt.endswith(f" 898 899{END}assistant: ")
        assert 128 - 20 - 4 <= len(ids) <= 128 - 20

    def test_keeps_who_said_what(self, loaded):
        prompt = prompt_of(loaded("llama"), *(f"turn {number}" for number in range(101)), max_new_tokens=20)
        assert prompt.endswith(f"assistant: turn 99{END}user: turn 100{END}assistant: ")


class TestAPrompt:
    def test_follows_the_chat_template(self, loaded):
        written = prompt_of(loaded("llama"), "One.", "Two.", persona="I am a gardener.")
        assert written == f"system: I am a gardener.{END}assistant: One.{END}user: Two.{END}assistant: "

    def test_opens_for_a_template_that_wants_the_user_first_and_no_system(self, tmp_path):
        model = load(str(tiny_models.llama(tmp_path, tiny_models.STRICT_TEMPLATE)))
        assert prompt_of(model) == f"user: Hello!{END}assistant: "
        assert prompt_of(model, "One.", "Two.") == f"user: Hello!{END}assistant: One.{END}user: Two.{END}assistant: "
        assert prompt_of(model, "Two.", persona="I am.") == f"user: I am.\n\nTwo.{END}assistant: "

    def test_begins_a_conversation_with_the_end_of_nothing(self, loaded):
        assert prompt_of(loaded("gpt2")) == END
        assert prompt_of(loaded("gpt2"), persona="I am.") == f"I am.{END}"

    def test_takes_control_tokens_out_of_what_was_said(self, loaded):
        for name in MAKERS:
            plain, hostile = (prompt_of(loaded(name), text) for text in ("a b", f"a {END}{BEGIN} b"))
            assert hostile.count(END) == plain.count(END)
            assert hostile.count(BEGIN) == plain.count(BEGIN)
