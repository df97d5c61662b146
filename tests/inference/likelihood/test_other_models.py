"""Models and templates that need care: blanks before messages, dates, masked models, other limits of contexts.

Expected likelihoods are the sums that transformers' own forward pass gives the reply's characters in the whole text.
"""

import json
import shutil

import pytest

from spotthebot.inference.models.batch import run_batch
from spotthebot.inference.models.dialogue.kind import load as load_dialogue
from spotthebot.inference.models.dialogue.requests import GenerationRequest
from spotthebot.inference.models.errors import NoSuchModel, UnknownModelKind
from spotthebot.inference.models.likelihood.kind import load
from tests.factories import tiny_models
from tests.factories.lazy_imports import lazily, needs_models

pytestmark = needs_models
torch = lazily("torch")
transformers = lazily("transformers")

TURNS = ["Did you water the tomatoes?", "Yes, before breakfast.", "Is there bread?"]
FOLLOWUPS = ["before breakfast", "the train is late.", "é"]
LLAMA_2 = (
    "{% for m in messages %}{% if m.role == 'user' %}{{ bos_token + '[INST] ' + m.content + ' [/INST]' }}"
    "{% else %}{{ ' ' + m.content + ' ' + eos_token }}{% endif %}{% endfor %}"
)
DATED = "{% for m in messages %}{{ strftime_now('%d %b %Y') + ' ' + m.content + eos_token }}{% endfor %}"
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}


def saved(folder, kind, config, **settings):
    words = tiny_models.tokenizer(bos_token=tiny_models.BEGIN, pad_token=tiny_models.PADDING)
    numbers = tiny_models._tokens(words)
    del numbers["decoder_start_token_id"]
    model = getattr(transformers, kind)(getattr(transformers, config)(**numbers, **settings))
    return tiny_models._save(folder, model, words)


def by_the_whole_text(folder, turns, followup, template):
    """Return the summed loss of the tokens with a character of the follow-up in the whole text."""
    words = transformers.AutoTokenizer.from_pretrained(folder)
    said = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate([*turns, followup])]
    text = words.apply_chat_template(said, chat_template=template, tokenize=False)
    start = text.rindex(followup)
    encoded = words(text, add_special_tokens=False, return_offsets_mapping=True)
    ids = torch.tensor(encoded["input_ids"])
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    with torch.inference_mode():
        scores = model(input_ids=ids[None]).logits[0].log_softmax(-1)
    own = [
        at for at, span in enumerate(encoded["offset_mapping"]) if span[1] > start and span[0] < start + len(followup)
    ]
    return -sum(float(scores[at - 1, ids[at]]) for at in own)


class TestChatTemplates:
    @pytest.mark.parametrize(
        ("template", "written"),
        [(LLAMA_2, LLAMA_2), (DATED, DATED.replace("strftime_now('%d %b %Y')", "'26 Jul 2024'"))],
    )
    def test_give_replies_the_likelihood_that_the_whole_text_gives_them(self, template, written, tmp_path):
        folder = tiny_models.llama(tmp_path, template)
        (answer,) = run_batch(load(str(folder)), [json.dumps({"turns": TURNS, "ends": [1, 2], "followups": FOLLOWUPS})])
        for context in answer["contexts"]:
            for text, found in zip(FOLLOWUPS, context["followups"], strict=True):
                expected = by_the_whole_text(folder, TURNS[: context["turns"]], text, written)
                assert found["nll"] == pytest.approx(expected, rel=1e-4)
        assert answer.get("template_date") == (None if template is LLAMA_2 else "2024-07-26")


class TestModelsThatAreNotCausal:
    @pytest.mark.parametrize("family", ["Roberta", "Electra"])
    def test_are_refused(self, family, tmp_path):
        saved(tmp_path, f"{family}ForCausalLM", f"{family}Config", **SIZES)
        with pytest.raises(UnknownModelKind, match="not causal"):
            load(str(tmp_path))
        with pytest.raises(UnknownModelKind, match="not causal"):
            load_dialogue(str(tmp_path))

    def test_are_taken_where_they_are_set_to_be_decoders(self, tmp_path):
        """RoBERTa counts positions from the padding token's number, 1, on: 514 positions hold 512 tokens."""
        saved(tmp_path, "RobertaForCausalLM", "RobertaConfig", is_decoder=True, max_position_embeddings=514, **SIZES)
        assert load(str(tmp_path)).description.context_length == 512


class TestContextLength:
    def test_is_read_under_its_other_names_or_is_the_suites_own(self, tmp_path):
        mpt = saved(tmp_path / "mpt", "MptForCausalLM", "MptConfig", d_model=32, n_layers=1, n_heads=4, max_seq_len=700)
        bloom = saved(tmp_path / "bloom", "BloomForCausalLM", "BloomConfig", hidden_size=32, n_layer=1, n_head=4)
        assert [load(str(each)).description.context_length for each in (mpt, bloom)] == [700, 8192]

    def test_ends_where_longer_texts_change_earlier_scores(self, tmp_path):
        rope = {"rope_type": "longrope", "rope_theta": 1e4, "original_max_position_embeddings": 100}
        rope |= {"short_factor": [1.0] * 4, "long_factor": [3.0] * 4}
        limits = {"max_position_embeddings": 400, "original_max_position_embeddings": 100}
        saved(tmp_path, "Phi3ForCausalLM", "Phi3Config", num_key_value_heads=2, rope_parameters=rope, **limits, **SIZES)
        model = load(str(tmp_path))
        assert model.description.context_length == 100
        (answer,) = run_batch(model, [json.dumps({"turns": ["bread " * 200], "followups": ["Why?"]})])
        assert "its rotary positions ('longrope') change earlier scores beyond" in answer["error"]


class TestPadding:
    def test_is_kept_from_models_that_read_it(self, tmp_path):
        rwkv = {"hidden_size": 32, "attention_hidden_size": 32, "num_hidden_layers": 2, "context_length": 600}
        saved(tmp_path / "rwkv", "RwkvForCausalLM", "RwkvConfig", **rwkv)
        model = load_dialogue(str(tmp_path / "rwkv"))
        short, long = (GenerationRequest((text,), temperature=0, max_new_tokens=8) for text in ("Hi.", "bread " * 30))
        assert model.replies([short, long]) == [*model.replies([short]), *model.replies([long])]


class TestBart:
    def test_reads_and_writes_texts_behind_its_start_token(self, tmp_path):
        model = load(str(tiny_models.bart(tmp_path)))
        (context,) = model.parse({"turns": TURNS, "followups": FOLLOWUPS}).contexts
        begin = transformers.AutoTokenizer.from_pretrained(tmp_path).bos_token_id
        assert context.joined.context[0] == begin
        assert {followup[0] for followup in context.joined.followups} == {begin}
        assert context.joined.given == (1, 1, 1)


class TestRefusals:
    @pytest.mark.parametrize("name", ["models/scorer", "here/scorer", "no such name", "a/b/c"])
    def test_a_name_that_no_hub_can_have_is_refused_before_the_hub_is_asked(self, name, tmp_path, monkeypatch):
        (tmp_path / "here").mkdir()
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("spotthebot.inference.models.pretrained.hub_answers", shutil.Error)
        with pytest.raises(NoSuchModel, match="there is no such directory"):
            load(name)

    @pytest.mark.parametrize("field", ["turns", "followups"])
    def test_half_a_surrogate_pair_is_refused(self, field, tmp_path):
        model = load(str(tiny_models.gpt2(tmp_path)))
        (answer,) = run_batch(model, [json.dumps({"turns": ["Hi."], "followups": ["Why?"], field: ["\ud83d"]})])
        assert answer["error"].startswith(f"{field} must be whole characters")
