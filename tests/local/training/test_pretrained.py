"""Trainings that start from pretrained weights or word vectors, and what the card says of the paper."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from spotthebot.inference.models.dialogue.kind import load
from spotthebot.inference.models.dialogue.requests import GenerationRequest
from spotthebot.inference.models.dialogue.turn_tokens import CONTROLS
from spotthebot.local.training.errors import StartUnusable
from spotthebot.local.training.options import ModelKind, Size, deviations, preset
from spotthebot.local.training.pretrained import fill_embeddings
from tests.factories import tiny_models
from tests.factories.command_line import run_stb
from tests.factories.lazy_imports import lazily
from tests.local.training.trainings import SAMPLE, run, tiny

torch: Any = lazily("torch")
transformers: Any = lazily("transformers")
load_file: Any = lazily("safetensors.torch")
WORDS = {"the": [0.5, -0.25, 1.0], "you": [0.125, 2.0, -1.0], "Qaxx": [9.0, 9.0, 9.0]}
"""The last is no word of the corpus."""


def bert(folder: Path, *, layers: int = 6) -> Path:
    """Save a BERT of 64 that was never trained, with a WordPiece vocabulary as BERT's."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.train_from_iterator(
        (turn for dialogue in SAMPLE for turn in dialogue),
        trainers.WordPieceTrainer(vocab_size=400, special_tokens=special, show_progress=False),
    )
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    transformers.PreTrainedTokenizerFast(tokenizer_object=made, **names).save_pretrained(folder)
    sizes = {"hidden_size": 64, "num_hidden_layers": layers, "num_attention_heads": 1, "intermediate_size": 256}
    config = transformers.BertConfig(vocab_size=made.get_vocab_size(), max_position_embeddings=80, **sizes)
    transformers.BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


def weights(folder: Path) -> dict[str, Any]:
    return load_file.load_file(folder / "model.safetensors")


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    file = tmp_path / "words.vec"
    file.write_text("3 3\n" + "".join(f"{word} {' '.join(map(str, each))}\n" for word, each in WORDS.items()))
    return file


class TestWeights:
    def test_gpt_2s_are_the_start_of_gpt(self, tmp_path: Path):
        """With hardly any learning rate, the trained weights are those of the folder."""
        start, out = tiny_models.gpt2(tmp_path / "gpt2"), tmp_path / "out"
        options = tiny(ModelKind.GPT, pretrained=str(start), max_steps=1, learning_rate=1e-9)
        card = run(ModelKind.GPT, out, options=options)
        before, after = weights(start), weights(out)
        assert before.keys() == after.keys()
        assert all(torch.allclose(before[name], after[name], atol=1e-6) for name in before)
        assert (card.options["layers"], card.options["width"], card.options["context_length"]) == (2, 32, 96)
        assert "random weights" not in (out / "README.md").read_text()
        request = GenerationRequest(("Hello.",), temperature=0, max_new_tokens=8)
        assert load(str(out)).replies([request]) == load(str(start)).replies([request])

    def test_berts_are_the_start_of_bert_rank_and_its_last_four_layers_learn(self, tmp_path: Path):
        start, out = bert(tmp_path / "bert"), tmp_path / "out"
        card = run(ModelKind.BERT_RANK, out, options=tiny(ModelKind.BERT_RANK, pretrained=str(start), max_steps=3))
        before, after = weights(start), weights(out)
        assert (card.options["layers"], card.options["trained_layers"]) == (6, 4)
        for side in ("contexts", "responses"):
            table = after[f"{side}.embeddings.word_embeddings.weight"]
            assert torch.equal(table[len(CONTROLS) :], before["embeddings.word_embeddings.weight"])
            changed = {
                name.split(".")[2]
                for name, value in before.items()
                if name.startswith("encoder") and not torch.equal(value, after[f"{side}.{name}"])
            }
            assert changed == {"2", "3", "4", "5"}
        reply = load(str(out)).replies([GenerationRequest(("Good morning!",), temperature=0)])[0]
        assert reply in {turn.strip() for dialogue in SAMPLE for turn in dialogue}

    def test_keep_the_words_of_bert(self, tmp_path: Path):
        """A text has BERT's own tokens, four numbers later, without its class and separator."""
        start, out = bert(tmp_path / "bert", layers=1), tmp_path / "out"
        run(ModelKind.BERT_RANK, out, options=tiny(ModelKind.BERT_RANK, pretrained=str(start), max_steps=1))
        theirs = transformers.AutoTokenizer.from_pretrained(start)("Good morning, you!", add_special_tokens=False)
        ours = Tokenizer.from_file(str(out / "tokenizer.json")).encode("Good morning, you!").ids
        assert ours == [number + 4 for number in theirs.input_ids]


class TestWordVectors:
    @pytest.mark.parametrize("kind", [ModelKind.S2, ModelKind.DR])
    def test_are_the_width_of_the_embeddings(self, kind: ModelKind, tmp_path: Path, vectors: Path):
        out = tmp_path / "out"
        run(kind, out, options=tiny(kind, word_vectors=str(vectors), max_steps=1, learning_rate=1e-9))
        words = Tokenizer.from_file(str(out / "tokenizer.json"))
        table = weights(out)["embedding.weight"]
        assert table.shape == (words.get_vocab_size(), 3)
        for word in ("the", "you"):
            expected = torch.tensor(WORDS[word])
            assert torch.allclose(table[words.token_to_id(f"Ġ{word}")], expected, atol=1e-6)
        assert load(str(out)).replies([GenerationRequest(("Hello.",), max_new_tokens=4)]) != [""]

    def test_count_the_words_that_have_one(self, tmp_path: Path, vectors: Path):
        out = tmp_path / "out"
        run(ModelKind.DR, out, options=tiny(ModelKind.DR, word_vectors=str(vectors), max_steps=1))
        words = Tokenizer.from_file(str(out / "tokenizer.json"))
        assert fill_embeddings(torch.nn.Embedding(words.get_vocab_size(), 3), words, str(vectors)) == 2


class TestAnUnusableStart:
    @pytest.mark.parametrize(
        ("kind", "made", "reason"),
        [
            (ModelKind.BERT_RANK, tiny_models.gpt2, "it is of the type gpt2, not bert"),
            (ModelKind.GPT, bert, "it is of the type bert, not gpt2"),
            (ModelKind.S2, bert, "only gpt and bert_rank start from weights"),
            (ModelKind.GPT, lambda folder: folder, "can't start from"),
        ],
    )
    def test_is_refused(self, kind: ModelKind, made: Any, reason: str, tmp_path: Path):
        with pytest.raises(StartUnusable, match=reason):
            run(kind, tmp_path / "out", options=tiny(kind, pretrained=str(made(tmp_path / "start"))))
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize(
        ("kind", "lines", "reason"),
        [
            (ModelKind.GPT, "the 1 2\n", "only s2 and dr take word vectors"),
            (ModelKind.S2, "the 1 2\nyou 1\n", "line 2 has 1 values, not 2"),
            (ModelKind.S2, "the one two\n", "could not convert"),
            (ModelKind.S2, "1 2\n", "it holds no vectors"),
            (ModelKind.S2, "Qaxx 1 2\n", "none of its words is in the vocabulary"),
        ],
    )
    def test_in_a_file_of_vectors_is_refused(self, kind: ModelKind, lines: str, reason: str, tmp_path: Path):
        (tmp_path / "words.vec").write_text(lines)
        with pytest.raises(StartUnusable, match=reason):
            run(kind, tmp_path / "out", options=tiny(kind, word_vectors=str(tmp_path / "words.vec")))

    def test_has_sizes_of_its_own(self, tmp_path: Path):
        out = str(tmp_path / "out")
        said = run_stb("bots", "train", "gpt", "--corpus", "sample", "--out", out, "--from", "x", "--layers", "2")
        assert (said.returncode, "leave out --layers, --width and --vocabulary" in said.stderr) == (1, True)


class TestDeviations:
    def test_are_none_where_the_training_is_the_papers(self):
        """Deriu et al. (2020), appendix C: what it says of each; the card says the rest."""
        br = replace(preset(ModelKind.BERT_RANK, Size.PAPER), pretrained="bert", trained_layers=4)
        gpt = replace(preset(ModelKind.GPT, Size.PAPER), pretrained="gpt2")
        recurrent = {kind: replace(preset(kind, Size.PAPER), word_vectors="f") for kind in (ModelKind.S2, ModelKind.DR)}
        assert [deviations(ModelKind.BERT_RANK, br), deviations(ModelKind.GPT, gpt)] == [[], []]
        assert [deviations(kind, options) for kind, options in recurrent.items()] == [[], []]

    def test_are_named_on_the_card(self, tmp_path: Path):
        run(ModelKind.S2, tmp_path / "out")
        said = (tmp_path / "out" / "README.md").read_text()
        assert "width 64 (paper: 512); epochs 3 (paper: 30); max steps 40 (paper: no limit); no word vectors" in said
        assert deviations(ModelKind.GPT, preset(ModelKind.GPT, Size.PAPER)) == [
            "random weights at the start (paper: GPT-2's, small)"
        ]
