import math
import signal
from dataclasses import replace
from typing import Any

import pytest

from spotthebot.inference.models.dialogue.kind import load
from spotthebot.inference.models.dialogue.requests import GenerationRequest
from spotthebot.local.training.errors import (
    CheckpointDamaged,
    OtherTrainingStarted,
    OutputExists,
    TrainingStopped,
)
from spotthebot.local.training.model_card import ModelCard
from spotthebot.local.training.options import ModelKind
from spotthebot.local.training.progress import Progress
from spotthebot.local.training.train import train
from tests.factories.lazy_imports import lazily, needs_models
from tests.local.training.trainings import SAMPLE, TODAY, run, tiny

pytestmark = needs_models
torch = lazily("torch")
load_file = lazily("safetensors.torch:load_file")
AutoModelForCausalLM = lazily("transformers:AutoModelForCausalLM")
AutoTokenizer = lazily("transformers:AutoTokenizer")

WORDS = ("apples", "bread", "cats", "ducks", "eggs", "figs", "grapes", "hats", "ink", "jam", "kites", "lamps")
ASKED = ("I saw {} today.", "Do you like {}?", "My aunt collects {}.", "We ran out of {}.", "Nothing beats {}.")
REQUESTS = [
    GenerationRequest(("Did you water the tomatoes?",), temperature=0),
    GenerationRequest((), seed=1),
    GenerationRequest(("Hi!", "Hello there.", "I am cooking."), seed=2, persona="I am a cook."),
    GenerationRequest(("\U0001f642" * 40, "\u05e9\u05dc\u05d5\u05dd", "broken \ud83d", "a" * 5000), seed=3),
    GenerationRequest(("a <end> b <self> c",), seed=4, top_k=3),
]


def weights(out):
    return load_file(out / "model.safetensors")


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    made = {}

    def find(kind):
        if kind not in made:
            progress: list[Progress] = []
            out = tmp_path_factory.mktemp(kind) / "model"
            made[kind] = out, run(kind, out, on_progress=progress.append), progress
        return made[kind]

    return find


@pytest.mark.parametrize("kind", [kind for kind in ModelKind if kind.is_bot])
class TestEveryModelOfThePool:
    def test_learns(self, kind, trained):
        """The mean of all steps of the first epoch so far falls: its last value is below that of the first ten."""
        first = [step.loss for step in trained(kind)[2] if step.epoch == 1]
        assert len(first) > 25
        assert first[-1] < first[9]

    def test_replies_the_same_alone_and_in_a_batch(self, kind, trained):
        model = load(str(trained(kind)[0]))
        alone = [model.replies([request])[0] for request in REQUESTS]
        assert model.replies(REQUESTS) == alone
        assert model.replies(REQUESTS[::-1]) == alone[::-1]
        assert all(alone)
        again = [model.replies([replace(REQUESTS[1], seed=seed)])[0] for seed in range(8)]
        assert len(set(again)) > 4

    def test_describes_itself(self, kind, trained):
        out, card, progress = trained(kind)
        assert ModelCard.read(out) == card
        assert (card.model, card.date, card.steps) == (kind.value, "2026-11-21", 40)
        assert card.dialogues == {"train": 19, "validation": 2}
        assert card.parameters == load(str(out)).description.parameters
        assert card.epochs[-1]["validation_loss"] == progress[-1].validation_loss
        if "perplexity" in card.epochs[-1]:
            assert card.epochs[-1]["perplexity"] == pytest.approx(math.exp(progress[-1].validation_loss))
        else:
            assert kind in {ModelKind.BERT_RANK, ModelKind.KV}
            assert 0 <= card.epochs[-1]["hits_at_1"] <= 1
        text = (out / "README.md").read_text()
        assert all(each in text for each in ("sample", "2026-11-21", card.data_sha256["train"], "learning_rate"))
        assert not (out / "checkpoint").exists()

    def test_reports_its_progress(self, kind, trained):
        _, _, progress = trained(kind)
        assert [each.step for each in progress] == list(range(1, 41))
        assert {each.steps for each in progress} == {40}
        assert [each.seconds_left == 0 for each in progress] == [False] * 39 + [True]
        assert all(each.examples_per_second > 0 for each in progress)

    def test_resumes_after_sigint_with_the_same_weights(self, kind, trained, tmp_path):
        def interrupt(progress):
            if progress.step == 17:
                signal.raise_signal(signal.SIGINT)

        with pytest.raises(TrainingStopped, match="after step 18 of 40"):
            run(kind, tmp_path / "model", on_progress=interrupt)
        torch.rand(5)  # other random numbers in between must not matter
        progress: list[Progress] = []
        card = run(kind, tmp_path / "model", on_progress=progress.append, resume=True)
        whole, its_card, _ = trained(kind)
        assert progress[0].step == 19
        assert same(weights(tmp_path / "model"), weights(whole))
        assert card == its_card


class TestResuming:
    def test_continues_from_the_last_checkpoint_after_a_crash(self, trained, tmp_path):
        """232 examples in batches of 8 are 29 steps an epoch; the crash in step 24 loses the steps after step 21."""

        def crash(progress):
            if progress.step == 24:
                message = "the power failed"
                raise RuntimeError(message)

        options = tiny(ModelKind.KV, checkpoint_every=7)
        with pytest.raises(RuntimeError, match="power"):
            run(ModelKind.KV, tmp_path, options=options, on_progress=crash)
        progress: list[Progress] = []
        run(ModelKind.KV, tmp_path, options=options, on_progress=progress.append, resume=True)
        assert [progress[0].step, progress[-1].step] == [22, 40]
        assert same(weights(tmp_path), weights(trained(ModelKind.KV)[0]))

    def test_starts_without_a_checkpoint_and_returns_the_card_of_a_finished_training(self, trained, tmp_path):
        out, card, _ = trained(ModelKind.KV)
        assert run(ModelKind.KV, tmp_path / "new", resume=True) == card
        progress: list[Progress] = []
        assert run(ModelKind.KV, out, resume=True, on_progress=progress.append) == card
        assert progress == []

    @pytest.mark.parametrize("done", [True, False])
    def test_refuses_other_data_and_options(self, done, trained, tmp_path):
        out = trained(ModelKind.KV)[0] if done else self.stopped(tmp_path)
        with pytest.raises(OtherTrainingStarted, match="other data"):
            run(ModelKind.KV, out, SAMPLE[1:], resume=True)
        with pytest.raises(OtherTrainingStarted, match=r"options \(width 64, seed 0\)"):
            run(ModelKind.KV, out, options=tiny(ModelKind.KV, width=32, seed=5), resume=True)
        with pytest.raises(OtherTrainingStarted, match="the model kv"):
            run(ModelKind.DR, out, resume=True)

    def test_refuses_a_damaged_checkpoint(self, tmp_path):
        state = self.stopped(tmp_path) / "checkpoint" / "state.pt"
        state.write_bytes(state.read_bytes()[:-1000])
        with pytest.raises(CheckpointDamaged, match="can't be read"):
            run(ModelKind.KV, tmp_path, resume=True)

    def test_never_overwrites_other_files(self, trained, tmp_path):
        with pytest.raises(OutputExists):
            run(ModelKind.KV, trained(ModelKind.KV)[0])
        (tmp_path / "thesis.tex").write_text("All of it.")
        for resume in (False, True):
            with pytest.raises(OutputExists):
                run(ModelKind.KV, tmp_path, resume=resume)
        assert (tmp_path / "thesis.tex").read_text() == "All of it."

    @staticmethod
    def stopped(out):
        def stop(progress):
            if progress.step == 3:
                signal.raise_signal(signal.SIGTERM)

        with pytest.raises(TrainingStopped, match="after step 4 of 40"):
            run(ModelKind.KV, out, on_progress=stop)
        return out


class TestATrainedModel:
    """A made-up corpus in which the answer follows from one word of the question."""

    @pytest.mark.parametrize(
        ("kind", "words", "changed"),
        [
            (ModelKind.BERT_RANK, WORDS, {"epochs": 12, "learning_rate": 3e-3}),
            (ModelKind.KV, WORDS, {"epochs": 20, "learning_rate": 1e-2}),
            (ModelKind.S2, WORDS[:4], {"epochs": 60, "learning_rate": 5e-3, "layers": 1}),
        ],
        ids=("bert_rank", "kv", "s2"),
    )
    def test_answers_new_questions(self, kind, words, changed, tmp_path):
        options = self.options(kind, len(words) * 3 // 2, **changed)
        run(kind, tmp_path, self.dialogues(words), options=options)
        assert self.right(tmp_path, "I like {}.", words) >= len(words) * 0.75

    def test_answers_questions_that_gpt_has_learned(self, tmp_path):
        """GPT learns the questions, too: it knows the old ones by heart long before it answers new ones."""
        words, sizes = WORDS[:4], {"layers": 1, "width": 128}
        options = self.options(ModelKind.GPT, 5, epochs=60, learning_rate=3e-3, **sizes)
        train(ModelKind.GPT, {"train": self.dialogues(words)}, tmp_path, options, corpus="made", today=TODAY)
        assert self.right(tmp_path, "I saw {} today.", words) >= 3

    @staticmethod
    def dialogues(words):
        return [(asked.format(word), f"Tell me more about those {word}!") for word in words for asked in ASKED]

    @staticmethod
    def options(kind, batch_size, **changed):
        return tiny(kind, max_steps=None, vocabulary=400, dropout=0.0, batch_size=batch_size, **changed)

    @staticmethod
    def right(folder, question, words):
        requests = [GenerationRequest((question.format(word),), temperature=0) for word in words]
        replies = load(str(folder)).replies(requests)
        return sum(word in reply for word, reply in zip(words, replies, strict=True))

    def test_is_readable_by_transformers_alone(self, trained):
        """The directory of `gpt` needs nothing of ours: the same greedy reply by hand."""
        out, _, _ = trained(ModelKind.GPT)
        words: Any = AutoTokenizer.from_pretrained(out)  # transformers' types do not fit each other
        model: Any = AutoModelForCausalLM.from_pretrained(out)
        prompt = f"{words.bos_token}Hello.{words.eos_token}"
        ids = words(prompt, return_tensors="pt", add_special_tokens=False).input_ids
        written = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, pad_token_id=1)
        expected = words.decode(written[0, ids.shape[1] :], skip_special_tokens=True).strip()
        request = GenerationRequest(("Hello.",), temperature=0, max_new_tokens=12)
        assert load(str(out)).replies([request]) == [expected]

    def test_never_repeats_itself_as_a_retriever(self, trained):
        for kind in (ModelKind.BERT_RANK, ModelKind.KV):
            model = load(str(trained(kind)[0]))
            turns = ["Good morning!"]
            for _ in range(6):
                turns += [model.replies([GenerationRequest(tuple(turns), temperature=0)])[0], "Tell me more."]
            own = turns[1::2]
            assert len(set(own)) == len(own)
            assert set(own) <= {turn.strip() for dialogue in SAMPLE for turn in dialogue}

    def test_has_the_weights_of_the_best_epoch(self, tmp_path):
        """At a constant rate, a training that ends with that epoch has the same weights."""
        options = tiny(ModelKind.KV, max_steps=None, epochs=5, learning_rate=3e-2)
        card = run(ModelKind.KV, tmp_path / "long", options=options)
        losses = [epoch["validation_loss"] for epoch in card.epochs]
        assert losses.index(min(losses)) + 1 == card.kept_epoch < 5
        run(ModelKind.KV, tmp_path / "short", options=replace(options, epochs=card.kept_epoch))
        assert same(weights(tmp_path / "long"), weights(tmp_path / "short"))
