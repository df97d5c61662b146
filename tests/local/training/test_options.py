import json
import shutil
from dataclasses import replace
from typing import Any

import pytest

from spotthebot.inference.models.dialogue.kind import load
from spotthebot.inference.models.dialogue.requests import GenerationRequest
from spotthebot.inference.models.errors import ModelFilesDamaged, UnknownModelKind
from spotthebot.local.training.errors import CorpusTooSmall, OptionOutOfRange, TrainingDiverged
from spotthebot.local.training.options import ModelKind, Size, preset
from tests.factories.lazy_imports import lazily, needs_models
from tests.local.training.trainings import run, tiny

pytestmark = needs_models
torch = lazily("torch")
gpt_network = lazily("spotthebot.local.training.causal_task:gpt_network")
Checkpoints = lazily("spotthebot.local.training.training_loop:Checkpoints")
gru_arguments = lazily("spotthebot.local.training.gru_task:gru_arguments")
OwnVocabulary = lazily("spotthebot.local.training.own_vocabulary:OwnVocabulary")
BiEncoderTask = lazily("spotthebot.local.training.ranking_tasks:BiEncoderTask")
KeyValueTask = lazily("spotthebot.local.training.ranking_tasks:KeyValueTask")
TrainingLoop = lazily("spotthebot.local.training.training_loop:TrainingLoop")
BiEncoder = lazily("spotthebot.inference.models.dialogue.bi_encoder:BiEncoder")
AttentionGru = lazily("spotthebot.inference.models.dialogue.gru:AttentionGru")
GruModel = lazily("spotthebot.inference.models.dialogue.gru:GruModel")
KeyValueMemory = lazily("spotthebot.inference.models.dialogue.key_value:KeyValueMemory")
read_own_files = lazily("spotthebot.inference.models.dialogue.own_files:read_own_files")
padded = lazily("spotthebot.inference.models.dialogue.rows:padded")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    made = {}

    def find(kind):
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp(kind)
            run(kind, made[kind], options=tiny(kind, max_steps=3))
        return made[kind]

    return find


class TestADamagedDirectory:
    @pytest.mark.parametrize(
        "file", ["tokenizer.json", "model.safetensors", "candidates.json", "candidates.safetensors"]
    )
    @pytest.mark.parametrize("is_missing", [True, False])
    def test_is_refused(self, file, is_missing, trained, tmp_path):
        folder = shutil.copytree(trained(ModelKind.KV), tmp_path / "model")
        whole = (folder / file).read_bytes()
        (folder / file).unlink()
        if not is_missing:
            (folder / file).write_bytes(whole[: len(whole) // 2])
        with pytest.raises(ModelFilesDamaged):
            load(str(folder))

    @pytest.mark.parametrize(
        ("change", "error"),
        [
            ({"kind": "oracle"}, UnknownModelKind),
            ({"format": 2}, UnknownModelKind),
            ({"kind": "gru"}, ModelFilesDamaged),
            ({"network": {"vocabulary": 800, "width": 128, "attended": 32}}, ModelFilesDamaged),
            ({"network": {"vocabulary": 300, "width": 64, "attended": 32}}, ModelFilesDamaged),
            ({"network": {}}, ModelFilesDamaged),
            ({"more": 1}, ModelFilesDamaged),
        ],
    )
    def test_is_refused_for_its_configuration(self, change, error, trained, tmp_path):
        folder = shutil.copytree(trained(ModelKind.KV), tmp_path / "model")
        file = folder / "spotthebot.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | change))
        with pytest.raises(error):
            load(str(folder))

    def test_is_refused_where_a_text_is_missing(self, trained, tmp_path):
        folder = shutil.copytree(trained(ModelKind.BERT_RANK), tmp_path / "model")
        texts = json.loads((folder / "candidates.json").read_text())
        (folder / "candidates.json").write_text(json.dumps(texts[1:]))
        with pytest.raises(ModelFilesDamaged, match=rf"{len(texts) - 1} texts have {len(texts)} embeddings"):
            load(str(folder))


class TestRanking:
    def test_encodes_a_text_the_same_beside_longer_ones(self, trained):
        """Padding must not move an encoding: each context alone, and beside a much longer one."""
        rows = [[3, 9, 2], [3, *range(10, 50), 2], [2]]
        for kind, network in ((ModelKind.BERT_RANK, BiEncoder), (ModelKind.KV, KeyValueMemory)):
            files = read_own_files(trained(kind))
            made: Any = network(**files.configuration.network).eval()
            made.load_state_dict(files.weights)
            encode = made.encode_contexts if kind is ModelKind.BERT_RANK else lambda ids, _: made.encode(ids)  # noqa: B023 - called in this turn of the loop
            alone = torch.cat([encode(*padded([row], torch.device("cpu"))) for row in rows])
            assert torch.allclose(encode(*padded(rows, torch.device("cpu"))), alone, atol=1e-6)

    def test_counts_a_response_of_several_contexts_as_no_mistake(self):
        """Four contexts with one response: nothing is left to tell apart, so the loss is log 1."""
        dialogues = [(f"Question {each}?", "Yes.") for each in range(4)]
        for task in (BiEncoderTask, KeyValueTask):
            made = task(dialogues, (), tiny(ModelKind.KV), None)
            assert made.loss([1, 3, 5, 7]).item() == pytest.approx(0)
            assert made.loss([0, 2, 4, 6]).item() > 0.1


class TestTurnTokens:
    """Controls are the first four tokens: padding 0, end 1, self 2, partner 3; the corpus has no others to merge."""

    def test_mark_who_speaks_and_drop_the_oldest(self):
        tokens = OwnVocabulary([("ab", "c")], 300, None).tokens
        a, b, c = (tokens.ids(letter)[0] for letter in "abc")
        ab = tokens.ids("ab")
        assert tokens.context([], 8) == [2]
        assert tokens.context([[c], ab, [a, b, a]], 20) == [3, a, b, a, 2, *ab, 3, c, 2]
        assert tokens.context([[c], [a, b], [a, b, a]], 9) == [2, a, b, 3, c, 2]
        assert tokens.context([[a, b, c]], 4) == [3, b, c, 2]
        assert 2 not in tokens.ids("<self>")

    def test_never_end_the_reply_of_a_recurrent_model_before_its_first_word(self):
        words = OwnVocabulary([("ab", "c")], 300, None)
        network = AttentionGru(len(words.tokens), 8, 1).eval()
        with torch.no_grad():
            network.output.bias[:4] = 100.0  # it would rather say any control token than a word
            network.output.bias[words.tokens.ids("a")[0]] = 50.0
        model = GruModel(network, words.tokens, 8)
        requests = [GenerationRequest(("c",), seed=seed, temperature=seed / 2) for seed in range(5)]
        assert model.replies(requests) == ["a"] * 5


class TestPaperSizes:
    """Deriu et al. (2020): S2 with two layers of 512 and Adam at 0.001; DR with one layer of 128, 3 epochs."""

    @pytest.mark.parametrize(("kind", "layers", "width"), [(ModelKind.S2, 2, 512), (ModelKind.DR, 1, 128)])
    def test_hold_for_the_recurrent_models(self, kind, layers, width):
        options = preset(kind, Size.PAPER)
        with torch.device("meta"):
            network = AttentionGru(**gru_arguments(options, options.vocabulary))
        for part in (network.encoder, network.decoder):
            assert (part.num_layers, part.hidden_size, part.input_size) == (layers, width, width)
        assert options.learning_rate == 0.001
        assert options.warmup_share == 0  # a constant rate, and Adam without weight decay
        assert kind is ModelKind.S2 or options.epochs == 3
        gates = 3 * (2 * width * width + 2 * width)
        attention = width**2 + 2 * width**2 + width
        expected = 2 * layers * gates + attention + 2 * options.vocabulary * width + options.vocabulary
        assert sum(each.numel() for each in network.parameters()) == expected

    def test_hold_for_gpt(self):
        """12 layers of 768 with 12 heads (Radford et al. 2018): 12 w^2 + 13 w weights a layer."""
        options = preset(ModelKind.GPT, Size.PAPER)
        with torch.device("meta"):
            network = gpt_network(options, options.vocabulary)
        assert (network.config.n_layer, network.config.n_embd, network.config.n_head) == (12, 768, 12)
        embeddings = (options.vocabulary + options.context_length) * 768
        assert network.num_parameters() == embeddings + 12 * (12 * 768**2 + 13 * 768) + 2 * 768


class TestOptions:
    @pytest.mark.parametrize(
        ("name", "value"),
        [("layers", 0), ("vocabulary", 10), ("learning_rate", 0.0), ("dropout", 1.0), ("epochs", 0), ("batch_size", 1)],
    )
    def test_out_of_range_are_refused(self, name, value):
        with pytest.raises(OptionOutOfRange, match=f"{name} must be .* and {value} is not"):
            replace(preset(ModelKind.S2, Size.TINY), **{name: value})

    @pytest.mark.parametrize(("width", "heads"), [(768, 12), (64, 1), (1000, 10), (130, 2), (97, 1)])
    def test_heads_divide_the_width(self, width, heads):
        """1,000 / 64 is 15.6; 15 to 11 do not divide it, 10 does."""
        assert replace(preset(ModelKind.GPT, Size.TINY), width=width).heads == heads

    def test_beyond_the_machine_or_the_corpus_are_refused(self, tmp_path):
        with pytest.raises(OptionOutOfRange, match="warp"):
            run(ModelKind.KV, tmp_path / "model", options=tiny(ModelKind.KV, device="warp"))
        with pytest.raises(CorpusTooSmall, match="at least 2 examples"):
            run(ModelKind.GPT, tmp_path / "model", [("Hello.", "Hi.")])


class Exploding:
    """A model whose loss is soon beyond all numbers."""

    autocasts, vocabulary, examples = False, "", 100

    def __init__(self):
        self.network = torch.nn.Linear(1, 1)

    def loss(self, indices):
        return torch.exp(self.network.weight.abs().sum() * 10.0 ** len(indices))

    def evaluate(self):
        return {}

    def export(self, folder):
        raise NotImplementedError


class TestALossThatIsNotANumber:
    def test_ends_the_training(self, tmp_path):
        loop = TrainingLoop(Exploding(), tiny(ModelKind.KV), Checkpoints(tmp_path), {})
        with pytest.raises(TrainingDiverged, match=r"at step 1: .* lower learning rate"):
            loop.run(lambda _: None)
        assert Checkpoints(tmp_path).find() is None
