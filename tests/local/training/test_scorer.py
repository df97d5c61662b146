"""A scorer is trained in the form in which FED reads dialogues, and on every position that it has."""

from dataclasses import replace

import pytest

from spotthebot.cli.commands.training import NotABot
from spotthebot.local.training.examples import PackedWindows
from spotthebot.local.training.options import ModelKind, Size, preset
from tests.factories.command_line import run_stb
from tests.factories.lazy_imports import lazily, needs_models
from tests.local.training.trainings import run

load = lazily("spotthebot.inference.models.likelihood.kind:load")
ScorerTask = lazily("spotthebot.local.training.causal_task:ScorerTask")
END = 99


def packed(length, *dialogues):
    """Pack dialogues of turns of the same token: `[3, 2]` are two turns, of three tokens and of two."""
    found = PackedWindows(lambda turn: [int(turn[0])] * len(turn), dialogues, length, END)
    return [found[at] for at in range(len(found))]


class TestPackedWindows:
    def test_fill_rows_and_begin_the_next_one_with_the_dialogue_that_was_cut(self):
        rows = packed(8, ("11", "2"), ("333", "4"), ("5",))
        assert rows == [[END, 1, 1, END, 2, END, 3, 3], [END, 3, 3, 3, END, 4, END, 5], [END, 5, END]]

    def test_begin_no_dialogue_twice_where_one_ends_with_a_row(self):
        assert packed(6, ("11",), ("2",), ("3",)) == [[END, 1, 1, END, 2, END], [END, 3, END]]

    def test_continue_a_dialogue_that_is_longer_than_a_row(self):
        rows = packed(5, ("1111111",), ("2",))
        assert rows == [[END, 1, 1, 1, 1], [END, 1, 1, 1, END], [END, 2, END]]

    @pytest.mark.parametrize("length", [4, 5])
    def test_leave_no_row_without_a_turn(self, length):
        assert packed(length, ("11",)) == [[END, 1, 1, END]]
        assert packed(length) == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("scorer") / "scorer"
    options = replace(preset(ModelKind.SCORER, Size.TINY), max_steps=3, width=32, context_length=128)
    run(ModelKind.SCORER, out, options=options)
    return out


@needs_models
class TestScorer:
    def test_is_read_by_the_join_of_the_released_code(self, folder):
        model = load(str(folder))
        assert (model.description.default_join, model.description.path) == ("fed", "packed")
        assert model.description.context_length == 128
        assert "stb fed train-scorer" in (folder / "README.md").read_text()

    def test_learns_the_tokens_that_are_scored(self, folder):
        """A row of one dialogue is the context that the join `fed` makes of it, token by token."""
        options = replace(preset(ModelKind.SCORER, Size.TINY), width=32, context_length=128)
        turns = ["Is the train late? ", " Yes.", "Let us get a coffee, then."]
        task = ScorerTask([turns], [], options, (folder / "tokenizer.json").read_text())
        prepared = load(str(folder)).parse({"turns": [turn.strip() for turn in turns], "followups": ["Hi!"]})
        assert task._train[0] == list(prepared.contexts[0].joined.context)
        assert task.examples == 1


class TestTrainScorer:
    @needs_models
    def test_trains_on_a_corpus_and_scores_with_the_model(self, tmp_path):
        out = tmp_path / "scorer"
        said = run_stb("fed", "train-scorer", "sample", "--out", out, "--steps", "2")
        assert (said.returncode, "Trained scorer" in said.stderr) == (0, True)
        again = run_stb("fed", "train-scorer", "sample", "--out", out, "--steps", "2", "--resume")
        assert again.returncode == 0
        talk = tmp_path / "talk.jsonl"
        talk.write_text('{"id": 1, "turns": [{"speaker": "A", "text": "Hi!"}, {"speaker": "B", "text": "Hello."}]}')
        assert "likeable" in run_stb("fed", "score", talk, "--model", out).stdout

    def test_names_a_corpus_that_is_not_there(self, tmp_path):
        said = run_stb("fed", "train-scorer", tmp_path / "none.jsonl", "--out", tmp_path / "scorer")
        assert said.returncode == 1
        assert "There is no corpus at" in said.stderr

    def test_is_the_way_to_train_one(self, tmp_path):
        said = run_stb("bots", "train", "scorer", "--corpus", "sample", "--out", tmp_path / "scorer")
        assert said.returncode == 1
        assert str(NotABot(model="scorer")) in said.stderr
