import ast
import json
import os
import pickle
import shutil
import sys
from pathlib import Path

import pytest

from spotthebot.inference import models
from spotthebot.inference.models.dialogue.kind import load
from spotthebot.inference.models.dialogue.requests import GenerationRequest
from spotthebot.inference.models.errors import (
    LoadFailed,
    ModelFilesDamaged,
    NoSuchModel,
    NoTokenizer,
    SettingUnusable,
    UnknownModelKind,
)
from tests.factories import tiny_models
from tests.factories.lazy_imports import lazily, needs_models

pytestmark = needs_models
torch = lazily("torch")
load_file = lazily("safetensors.torch:load_file")
save_file = lazily("safetensors.torch:save_file")
BertConfig = lazily("transformers:BertConfig")
BertModel = lazily("transformers:BertModel")

GREEDY = [GenerationRequest(("Did you water the tomatoes?",), temperature=0)]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    return tiny_models.gpt2(tmp_path_factory.mktemp("sound"))


@pytest.fixture
def folder(sound, tmp_path):
    """A copy to damage."""
    return shutil.copytree(sound, tmp_path / "model")


class TestLoading:
    def test_describes_what_was_loaded(self, folder):
        """Parameters of a GPT-2: embeddings, 12 w^2 + 13 w for each layer, the last norm; the head is tied."""
        description = load(str(folder)).description
        vocabulary = json.loads((folder / "config.json").read_text())["vocab_size"]
        assert description.parameters == (vocabulary + 96) * 32 + 2 * (12 * 32**2 + 13 * 32) + 2 * 32
        assert description.kind == "causal"
        assert description.dtype == "float32"
        assert description.device == "cpu"
        assert description.context_length == 96

    def test_takes_another_dtype(self, folder):
        model = load(str(folder), dtype="bfloat16")
        assert model.description.dtype == "bfloat16"
        assert model.replies(GREEDY)[0]

    def test_reads_weights_that_torch_saved(self, folder):
        expected = load(str(folder)).replies(GREEDY)
        weights = load_file(folder / "model.safetensors")
        (folder / "model.safetensors").unlink()
        torch.save(weights, folder / "pytorch_model.bin")
        assert load(str(folder)).replies(GREEDY) == expected

    def test_leaves_the_progress_bars_of_others_alone(self, folder, capfd):
        load(str(folder))
        assert capfd.readouterr().err == ""


class TestLoadingRefuses:
    def test_a_directory_that_is_not_there(self, tmp_path):
        with pytest.raises(NoSuchModel, match="there is no such directory"):
            load(str(tmp_path / "nowhere"))

    def test_a_file(self, folder):
        with pytest.raises(NoSuchModel, match="there is no such directory"):
            load(str(folder / "config.json"))

    def test_an_empty_directory(self, tmp_path):
        with pytest.raises(UnknownModelKind, match=r"neither config.json nor spotthebot.json"):
            load(str(tmp_path))

    def test_a_name_that_no_hub_gives(self, monkeypatch):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # the environment is read at import
        with pytest.raises(NoSuchModel):
            load("no-such-team/no-such-model")

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"model_type": "no-such-type"}'])
    def test_a_configuration_that_is_none(self, folder, text):
        (folder / "config.json").write_text(text)
        with pytest.raises(LoadFailed):
            load(str(folder))

    def test_a_model_that_does_not_speak(self, folder):
        (folder / "config.json").unlink()
        small = BertConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=1, intermediate_size=16)
        BertModel(small).save_pretrained(folder)
        with pytest.raises(LoadFailed, match="weights lack"):
            load(str(folder))

    @pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.99])
    def test_weights_that_are_cut_short(self, folder, share):
        whole = (folder / "model.safetensors").read_bytes()
        (folder / "model.safetensors").write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(ModelFilesDamaged):
            load(str(folder))

    def test_missing_weights(self, folder):
        (folder / "model.safetensors").unlink()
        with pytest.raises(ModelFilesDamaged):
            load(str(folder))

    def test_weights_that_lack_a_layer(self, folder):
        weights = load_file(folder / "model.safetensors")
        first = next(name for name in weights if name.endswith("h.1.mlp.c_fc.weight"))
        save_file({name: each for name, each in weights.items() if name != first}, folder / "model.safetensors")
        with pytest.raises(ModelFilesDamaged, match="weights lack"):
            load(str(folder))

    def test_weights_of_another_shape(self, folder):
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, "n_embd": 64}))
        with pytest.raises(ModelFilesDamaged, match="another shape"):
            load(str(folder))

    @pytest.mark.parametrize("text", [None, "", "{}", "not json"])
    def test_a_tokenizer_that_is_none(self, folder, text):
        (folder / "tokenizer.json").unlink()
        if text is not None:
            (folder / "tokenizer.json").write_text(text)
        with pytest.raises(LoadFailed):
            load(str(folder))

    @pytest.mark.parametrize("family", tiny_models.MAKERS)
    def test_a_directory_without_any_file_of_a_tokenizer(self, family, tmp_path):
        """For some families transformers then makes a tokenizer with an empty vocabulary, and says nothing."""
        folder = tiny_models.MAKERS[family](tmp_path)
        for file in folder.glob("*token*"):
            file.unlink()
        with pytest.raises(NoTokenizer, match=r"its tokenizer (knows no words|can't be read)"):
            load(str(folder))

    def test_a_tokenizer_without_an_end(self, folder):
        settings = json.loads((folder / "tokenizer_config.json").read_text())
        settings = {name: value for name, value in settings.items() if name != "eos_token"}
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
        with pytest.raises(NoTokenizer, match="end-of-text"):
            load(str(folder))

    def test_pickles_that_run_a_program(self, folder, tmp_path):
        (folder / "model.safetensors").unlink()
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Evil(str(tmp_path / "was-here")), protocol=2))
        with pytest.raises(ModelFilesDamaged, match=r"[Ww]eights.only"):
            load(str(folder))
        assert not (tmp_path / "was-here").exists()

    def test_to_run_code_that_comes_with_a_model(self, folder, tmp_path):
        config = json.loads((folder / "config.json").read_text())
        config |= {"model_type": "strange", "auto_map": {"AutoConfig": "strange.Strange"}}
        (folder / "config.json").write_text(json.dumps(config))
        (folder / "strange.py").write_text(f"open({str(tmp_path / 'was-here')!r}, 'w')\nclass Strange: pass\n")
        with pytest.raises(LoadFailed):
            load(str(folder))
        assert not (tmp_path / "was-here").exists()

    def test_devices_and_dtypes_that_are_not_there(self, folder):
        with pytest.raises(SettingUnusable, match="no device 'warp'"):
            load(str(folder), device="warp")
        with pytest.raises(SettingUnusable, match="'float1' is not a dtype"):
            load(str(folder), dtype="float1")


class TestTheFolderOfModels:
    def test_can_be_copied_away_from_ours(self):
        """A Triton server gets a copy: only relative imports, and of others only what a server's environment has."""
        there = {
            "huggingface_hub",
            "jinja2",
            "numpy",
            "safetensors",
            "tokenizers",
            "torch",
            "transformers",
            *sys.stdlib_module_names,
        }
        folder = Path(models.__file__).parent
        others = {
            name.split(".")[0]
            for file in folder.rglob("*.py")
            for node in ast.walk(ast.parse(file.read_text()))
            for name in _imported(node, depth=len(file.relative_to(folder).parts))
        }
        assert "torch" in others
        assert others <= there


def _imported(node, depth):
    """Return the modules that an import names, but for those inside the folder."""
    if isinstance(node, ast.ImportFrom):
        return [] if 1 <= node.level <= depth else [str(node.module)]
    return [each.name for each in node.names] if isinstance(node, ast.Import) else []


class Evil:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)
