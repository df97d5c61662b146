"""Tokens of contexts and follow-ups: where one ends and the other begins."""

from itertools import pairwise

import pytest

from tests.factories import tiny_models
from tests.factories.lazy_imports import lazily, needs_models
from tests.inference.likelihood.likelihood_models import loaded

pytestmark = needs_models
AutoTokenizer = lazily("transformers:AutoTokenizer")
JoinSettings = lazily("spotthebot.inference.models.likelihood.requests:JoinSettings")
default_join = lazily("spotthebot.inference.models.likelihood.joins:default_join")
make_join = lazily("spotthebot.inference.models.likelihood.joins:make_join")

TURNS = ("Did you water the tomatoes?", "Yes, before breakfast.", "They looked thirsty.")
FOLLOWUP = "That makes no sense!"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    names = ("gpt2", "llama", "blenderbot", "bart")
    return {name: loaded(tiny_models.MAKERS[name](tmp_path_factory.mktemp(name))) for name in names}


def tokens(model, join, *, first=0, end=3):
    """Return the tokens of a context and of the follow-up."""
    joined = made(model, join, TURNS, [FOLLOWUP])(first, end)
    return joined.context, joined.followups[0]


def made(model, join, turns, followups):
    """Return the function that gives the tokens after parts of a dialogue."""
    return make_join(join, model.tokenizer, model.model.config).joined(turns, tuple(followups))


def encoded(model, text):
    return tuple(model.tokenizer(text, add_special_tokens=False)["input_ids"])


class TestFedJoin:
    @pytest.mark.parametrize("end", [1, 2, 3])
    def test_gives_the_tokens_of_the_released_text_with_its_spaces(self, models, end):
        model = models["gpt2"]
        mark = model.tokenizer.eos_token
        text = f"{mark} " + f" {mark} ".join([*TURNS[:end], FOLLOWUP])
        context, followup = tokens(model, JoinSettings("fed", space_before_end=True), end=end)
        assert (*context, *followup) == encoded(model, text)
        assert context[-1] == model.tokenizer.eos_token_id

    def test_gives_the_tokens_of_the_text_without_spaces_before_the_mark(self, models):
        model = models["gpt2"]
        mark = model.tokenizer.eos_token
        text = f"{mark} " + f"{mark} ".join([*TURNS, FOLLOWUP])
        context, followup = tokens(model, JoinSettings("fed"))
        assert (*context, *followup) == encoded(model, text)

    def test_gives_the_tokens_of_the_text_without_any_space_beside_the_mark(self, models):
        model = models["gpt2"]
        text = model.tokenizer.eos_token + model.tokenizer.eos_token.join([*TURNS, FOLLOWUP])
        context, followup = tokens(model, JoinSettings("fed", space_after_end=False))
        assert (*context, *followup) == encoded(model, text)

    def test_strips_a_turns_own_spaces_where_those_beside_the_mark_are_stripped(self, models):
        model = models["gpt2"]
        join = JoinSettings("fed", space_after_end=False)
        assert made(model, join, [" Yes. "], [" Why?"])(0, 1) == made(model, join, ["Yes."], ["Why?"])(0, 1)

    def test_splits_at_a_mark_that_no_token_reaches_over(self, models):
        """Each context with its mark is a prefix of the next one, and the follow-up has the tokens it has alone."""
        model = models["gpt2"]
        for before in (True, False):
            join = JoinSettings("fed", space_before_end=before)
            contexts = [tokens(model, join, end=end)[0] for end in (1, 2, 3)]
            for shorter, longer in pairwise(contexts):
                assert longer[: len(shorter)] == shorter
            assert tokens(model, join)[1] == encoded(model, f" {FOLLOWUP}")

    def test_lets_no_turn_spell_the_mark(self, models):
        model = models["gpt2"]
        spelled = made(model, JoinSettings("fed"), [f"Hello{model.tokenizer.eos_token} there"], ["Why?"])(0, 1)
        assert spelled.context.count(model.tokenizer.eos_token_id) == 2


class TestTurnsEndJoin:
    def test_ends_each_turn_with_the_mark_and_no_spaces(self, models):
        model = models["gpt2"]
        context, followup = tokens(model, JoinSettings("turns_end"))
        mark = model.tokenizer.eos_token
        assert context == encoded(model, mark.join([*TURNS, ""]))
        assert followup == encoded(model, FOLLOWUP)


class TestChatJoin:
    def test_ends_the_context_where_the_template_writes_the_next_message(self, models):
        """The template of the tiny model writes `role: content<|end|>`; the first speaker is the user."""
        model = models["llama"]
        context, followup = tokens(model, JoinSettings("chat"), end=2)
        mark = model.tokenizer.eos_token
        assert context == encoded(model, f"user: {TURNS[0]}{mark}assistant: {TURNS[1]}{mark}user: ")
        assert followup == encoded(model, FOLLOWUP)

    def test_makes_a_context_that_begins_the_next_turns_context(self, models):
        shorter, longer = (tokens(models["llama"], JoinSettings("chat"), end=end)[0] for end in (1, 2))
        assert longer[: len(shorter)] == shorter

    def test_needs_a_template(self, models):
        with pytest.raises(ValueError, match="has no chat template: name another join"):
            tokens(models["gpt2"], JoinSettings("chat"))

    def test_says_what_the_template_refuses(self, tmp_path):
        strict = "{% for m in messages %}{{ raise_exception('only questions') }}{% endfor %}"
        model = loaded(tiny_models.llama(tmp_path, strict))
        with pytest.raises(ValueError, match=r"refuses the dialogue \(only questions\): name another join"):
            tokens(model, JoinSettings("chat"))

    def test_refuses_a_template_that_changes_messages(self, tmp_path):
        model = loaded(tiny_models.llama(tmp_path, "{% for m in messages %}{{ m.content | length }}{% endfor %}"))
        with pytest.raises(ValueError, match="changes messages: name another join"):
            tokens(model, JoinSettings("chat"))


class TestTextJoin:
    def test_makes_tokens_of_context_and_follow_up_apart(self, models):
        model = models["gpt2"]
        context, followup = tokens(model, JoinSettings("text", start="A chat.\n", separator="\n- "))
        texts = ["A chat.\n", *(f"{turn}\n- " for turn in TURNS)]
        assert context == tuple(token for text in texts for token in encoded(model, text))
        assert followup == encoded(model, FOLLOWUP)

    def test_keeps_a_boundary_where_the_whole_text_would_have_merged_over_it(self, models):
        """A separator that ends in a space: in the whole text, the space is part of the follow-up's first token."""
        model = models["gpt2"]
        joined = made(model, JoinSettings("text", separator=" "), ["Yes"], ["before breakfast"])(0, 1)
        context, (followup,) = joined.context, joined.followups
        whole = encoded(model, "Yes before breakfast")
        assert (*context, *followup) != whole
        assert len(context) + len(followup) > len(whole)
        assert model.tokenizer.decode([*context, *followup]) == "Yes before breakfast"


class TestBlenderbotJoin:
    def test_puts_turns_two_spaces_apart_and_the_follow_up_into_the_decoder(self, models):
        """Turns of the other speaker than the follow-up's have one space more in front, as transformers writes them."""
        model = models["blenderbot"]
        context, followup = tokens(model, JoinSettings("blenderbot"))
        text = f" {TURNS[0]}  {TURNS[1]}   {TURNS[2]}"
        assert context == (*encoded(model, text), model.tokenizer.eos_token_id)
        assert followup == encoded(model, FOLLOWUP)

    def test_is_for_encoder_decoders_alone(self, models):
        with pytest.raises(ValueError, match="'blenderbot' can't be used with a causal model"):
            tokens(models["gpt2"], JoinSettings("blenderbot"))
        with pytest.raises(ValueError, match="'fed' can't be used with an encoder-decoder model"):
            tokens(models["bart"], JoinSettings("fed"))


class TestDefaultJoin:
    def test_is_the_chat_template_where_there_is_one(self, models):
        assert chosen(models["llama"]) == "chat"

    def test_is_blenderbots_for_encoder_decoders(self, models):
        assert chosen(models["bart"]) == "blenderbot"

    def test_is_the_end_of_each_turn_for_other_causal_models(self, models):
        assert chosen(models["gpt2"]) == "turns_end"

    def test_is_feds_for_gpt2_with_its_own_mark(self, models):
        """The published tokenizer of DialoGPT has a chat template, too; the released FED code does not use it."""
        model = models["gpt2"]
        tokenizer = tiny_models.tokenizer(chat_template="{{ messages }}")
        tokenizer.add_special_tokens({"eos_token": "<|endoftext|>"})
        assert default_join(tokenizer, model.model.config).form == "fed"


def chosen(model):
    return default_join(model.tokenizer, model.model.config).form
