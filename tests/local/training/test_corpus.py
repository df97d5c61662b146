import json
import subprocess
import sys
from datetime import date

import pytest

from spotthebot.cli.application import main
from spotthebot.local.training.corpus import fingerprint, read_corpus, with_validation
from spotthebot.local.training.errors import CorpusEmpty, CorpusMalformed, CorpusMissing, TorchIsMissing
from spotthebot.local.training.options import ModelKind, Size, preset
from spotthebot.local.training.train import train

TODAY = date(2026, 11, 21)


def dialogue(number):
    return (f"Question {number}?", f"Answer {number}.")


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def stb(monkeypatch, capsys):
    """Run `./stb` with some arguments in this process; return its exit code and what it said."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["stb", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, " ".join(capsys.readouterr().err.split())

    return run


class TestReadCorpus:
    def test_takes_texts_and_objects_with_text(self, tmp_path):
        file = tmp_path / "talk.jsonl"
        file.write_text(lines({"turns": ["Hi.", "Hello."]}) + "\n" + lines({"turns": [{"text": "A", "by": 1}, "B"]}))
        corpus = read_corpus(file)
        assert corpus.name == "talk"
        assert corpus.dialogues == {"train": [("Hi.", "Hello."), ("A", "B")], "validation": []}

    def test_keeps_to_the_splits_of_lines_and_of_file_names(self, tmp_path):
        (tmp_path / "train.jsonl").write_text(lines(*({"turns": dialogue(each)} for each in range(12))))
        (tmp_path / "valid.jsonl").write_text(lines({"turns": dialogue(20)}))
        (tmp_path / "test.jsonl").write_text(lines({"turns": dialogue(30)}))
        (tmp_path / "more.jsonl").write_text(lines(*({"turns": dialogue(40), "split": each} for each in ("dev", "x"))))
        (tmp_path / "notes.txt").write_text("no corpus")
        found = read_corpus(tmp_path).dialogues
        assert found["train"] == [dialogue(each) for each in range(12)]
        assert found["validation"] == [dialogue(40), dialogue(20)]

    def test_holds_every_tenth_dialogue_back_where_none_validate(self):
        found = with_validation("made", {"train": [dialogue(each) for each in range(25)]}).dialogues
        assert found["validation"] == [dialogue(9), dialogue(19)]
        assert len(found["train"]) == 23

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            (b'{"turns": ["a", "b"]', "not JSON"),
            (b"[1]", "must be an object with 'turns'"),
            (b'{"text": "a"}', "must be an object with 'turns'"),
            (b'{"turns": ["a"]}', "at least two"),
            (b'{"turns": ["a", " "]}', "turn 2 is empty"),
            (b'{"turns": [{"said": "a"}, "b"]}', "turn 1 is empty or has no text"),
            (b'{"turns": ["a", 3]}', "turn 2 is empty or has no text"),
            (b'{"turns": ["a", "half \\ud83d"]}', "turn 2 holds half a surrogate pair"),
            (b'{"turns": ["a", "\xff"]}', "not UTF-8"),
        ],
    )
    def test_names_the_line_that_is_wrong(self, line, reason, tmp_path):
        file = tmp_path / "talk.jsonl"
        file.write_bytes(lines({"turns": dialogue(1)}).encode() + b"\n" + line + b"\n")
        with pytest.raises(CorpusMalformed, match=rf"talk.jsonl, line 3: .*{reason}"):
            read_corpus(file)

    def test_says_what_is_missing_or_empty(self, tmp_path):
        for path in (tmp_path / "nothing.jsonl", tmp_path):
            with pytest.raises(CorpusMissing, match="no corpus at"):
                read_corpus(path)
        (tmp_path / "empty.jsonl").write_text("\n\n")
        with pytest.raises(CorpusEmpty, match="split 'train' is empty"):
            read_corpus(tmp_path / "empty.jsonl")

    def test_knows_data_by_content_and_order(self):
        first = {"train": [dialogue(1), dialogue(2)], "validation": []}
        assert fingerprint(first) == fingerprint({"train": [list(dialogue(1)), list(dialogue(2))]})
        assert fingerprint(first)["train"] != fingerprint({"train": [dialogue(2), dialogue(1)]})["train"]


class TestTheCommandLine:
    def test_trains_and_resumes(self, stb, tmp_path):
        pytest.importorskip("torch", reason="torch is not installed: run './stb install models'")
        pytest.importorskip("transformers", reason="transformers is not installed: run './stb install models'")
        train = ("bots", "train", "kv", "--corpus", "sample", "--out", tmp_path / "kv", "--steps", 30, "--epochs", 2)
        code, output = stb(*train, "--width", 32)
        assert code == 0, output
        assert "epoch 2 of 2: loss" in output
        assert "Trained kv" in output
        assert json.loads((tmp_path / "kv" / "training.json").read_text())["options"]["width"] == 32
        code, output = stb(*train, "--width", 32)
        assert (code, output[:6]) == (1, "Error:")
        assert "--resume" in output
        assert stb(*train, "--width", 32, "--resume")[0] == 0

    @pytest.mark.parametrize(
        ("arguments", "code", "message"),
        [
            (("nope", "--corpus", "sample", "--out", "x"), 2, "'nope' is not one of 'gpt'"),
            (("kv", "--corpus", "/nowhere", "--out", "x"), 1, "Error: There is no corpus at /nowhere"),
            (("kv", "--corpus", "sample", "--out", "x", "--epochs", "0"), 2, "--epochs"),
        ],
    )
    def test_reports_an_error_in_one_sentence(self, arguments, code, message, stb):
        found, output = stb("bots", "train", *arguments)
        assert found == code
        assert message in output
        assert "Traceback" not in output

    def test_does_without_torch_until_it_trains(self):
        program = (
            "import sys, spotthebot.cli.commands.training, spotthebot.local.training\n"
            "import spotthebot.inference.models.dialogue\n"
            "print({'torch', 'transformers', 'tokenizers', 'safetensors'} & set(sys.modules))"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "set()"

    def test_says_how_to_get_torch(self, monkeypatch, tmp_path):
        monkeypatch.setattr("spotthebot.local.training.train.find_spec", lambda _: None)
        tiny = preset(ModelKind.KV, Size.TINY)
        with pytest.raises(TorchIsMissing, match=r"\./stb install models"):
            train(ModelKind.KV, {"train": [dialogue(1)]}, tmp_path, tiny, corpus="made", today=TODAY)
