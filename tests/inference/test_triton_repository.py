import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from spotthebot.inference.errors import BatchingNotUsable, HostedModelNameNotUsable, ModelNotInRepository
from spotthebot.inference.models.dialogue import kind as dialogue_kind
from spotthebot.inference.triton.repository import remove_model
from spotthebot.inference.triton.repository import write_model as write_model_of_kind

write_model = partial(write_model_of_kind, kind=dialogue_kind.KIND)


@pytest.fixture
def repository(tmp_path):
    return tmp_path / "models"


def values_in(config: Path):
    """Read the strings of a protobuf text file back, by the rules of its text format: octal escapes, UTF-8."""
    quoted = re.findall(r'"((?:[^"\\\n]|\\[0-7]{3})*)"', config.read_text())
    return [re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), text.encode()).decode() for text in quoted]


class TestWriteModel:
    def test_writes_a_model_with_all_the_code_that_it_needs(self, repository, tmp_path):
        folder = write_model(repository, "dialogue", tmp_path / "weights")
        files = {str(path.relative_to(repository)) for path in folder.rglob("*") if path.is_file()}
        assert {
            "dialogue/config.pbtxt",
            "dialogue/1/model.py",
            "dialogue/1/inference_models/__init__.py",
            "dialogue/1/inference_models/batch.py",
            "dialogue/1/inference_models/dialogue/requests.py",
        } <= files
        assert [path.name for path in repository.iterdir()] == ["dialogue"]

    def test_writes_what_was_asked_for(self, repository, tmp_path):
        folder = write_model(
            repository,
            "dialogue",
            tmp_path / "weights",
            max_batch_size=8,
            max_queue_delay_microseconds=500,
            device="cuda:1",
            dtype="bfloat16",
        )
        config = folder / "config.pbtxt"
        assert {"max_batch_size: 8", "dynamic_batching { max_queue_delay_microseconds: 500 }"} <= set(
            config.read_text().splitlines()
        )
        assert values_in(config)[-8:] == [
            *("kind", "inference_models.dialogue.batch_model:load_batch_model"),
            *("model_directory", str(tmp_path / "weights")),
            *("device", "cuda:1"),
            *("dtype", "bfloat16"),
        ]

    @pytest.mark.parametrize(
        "path", ['a" } } evil: "', "back\\slash", "new\nline", "tomate 🍅", "$name ${name} $$", "'"]
    )
    def test_lets_no_path_out_of_its_quotes(self, repository, tmp_path, path):
        config = write_model(repository, "dialogue", tmp_path / path) / "config.pbtxt"
        plain = write_model(repository, "other", tmp_path / "plain") / "config.pbtxt"
        assert str(tmp_path / path) in values_in(config)
        assert len(config.read_text().splitlines()) == len(plain.read_text().splitlines())

    @pytest.mark.parametrize("name", ["", "..", "a/b", "Upper", "-x", ".hidden", "a" * 64, "a\n", "é"])
    def test_refuses_a_name_that_could_be_a_path(self, repository, tmp_path, name):
        with pytest.raises(HostedModelNameNotUsable):
            write_model(repository, name, tmp_path)
        assert not repository.exists()

    def test_refuses_a_kind_whose_code_is_not_copied(self, repository, tmp_path):
        with pytest.raises(ValueError, match=r"not below spotthebot\.inference\.models"):
            write_model_of_kind(repository, "dialogue", tmp_path, kind="spotthebot.fed.model:load")

    @pytest.mark.parametrize(("size", "delay"), [(0, 0), (1025, 0), (1, -1), (1, 1_000_001)])
    def test_refuses_a_batch_that_is_none(self, repository, tmp_path, size, delay):
        with pytest.raises(BatchingNotUsable):
            write_model(repository, "dialogue", tmp_path, max_batch_size=size, max_queue_delay_microseconds=delay)

    def test_replaces_a_model_as_a_whole(self, repository, tmp_path):
        write_model(repository, "dialogue", tmp_path / "old").joinpath("stray").touch()
        folder = write_model(repository, "dialogue", tmp_path / "new")
        assert not (folder / "stray").exists()
        assert str(tmp_path / "new") in values_in(folder / "config.pbtxt")

    def test_leaves_the_old_model_when_the_new_one_cannot_be_written(self, repository, tmp_path, monkeypatch):
        write_model(repository, "dialogue", tmp_path / "old")
        monkeypatch.setattr("spotthebot.inference.triton.repository._CODE", tmp_path / "no such folder")
        with pytest.raises(FileNotFoundError):
            write_model(repository, "dialogue", tmp_path / "new")
        assert str(tmp_path / "old") in values_in(repository / "dialogue" / "config.pbtxt")
        assert [path.name for path in repository.iterdir()] == ["dialogue"]

    def test_can_be_called_by_hand(self, repository, tmp_path):
        command = [sys.executable, "-m", "spotthebot.inference.triton.repository", repository, "dialogue", tmp_path]
        subprocess.run([*command, "--device", "cuda"], check=True)
        assert values_in(repository / "dialogue" / "config.pbtxt")[-3] == "cuda"


class TestRemoveModel:
    def test_removes_the_folder_but_not_the_weights(self, repository, tmp_path):
        (tmp_path / "weights").mkdir()
        write_model(repository, "dialogue", tmp_path / "weights")
        remove_model(repository, "dialogue")
        assert list(repository.iterdir()) == []
        assert (tmp_path / "weights").exists()

    def test_says_that_there_is_no_such_model(self, repository, tmp_path):
        write_model(repository, "dialogue", tmp_path)
        with pytest.raises(ModelNotInRepository, match="'other'"):
            remove_model(repository, "other")

    def test_goes_nowhere_else(self, repository, tmp_path):
        (tmp_path / "precious").mkdir()
        with pytest.raises(HostedModelNameNotUsable):
            remove_model(repository, "../precious")
