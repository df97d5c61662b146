"""`stb fed score`: scores of a file without any service, against the released algorithm under transformers itself."""

import importlib.util
import io
import json
import math

import numpy as np
import pytest
import scipy
from rich.console import Console

from spotthebot.cli.commands.fed_tables import print_correlations
from spotthebot.fed.dialogues.domain.dialogues import Dialogue, Turn
from spotthebot.fed.dimension_sets.domain.published_dimensions import FED
from spotthebot.fed.scores.domain.length_baseline import context_length
from spotthebot.fed.scores.domain.scoring import ContextScore, DimensionScore
from spotthebot.fed.stats.split_half import split_half
from spotthebot.local.scoring.dialogue_files import DialogueToScore, ReadDialogues
from spotthebot.local.scoring.run import Scored
from tests.factories import tiny_models
from tests.factories.command_line import run_stb
from tests.factories.lazy_imports import lazily, needs_models

torch = lazily("torch")
AutoTokenizer = lazily("transformers:AutoTokenizer")
AutoModelForCausalLM = lazily("transformers:AutoModelForCausalLM")

TEXTS = {
    "late": ("Is the train to Geneva late?", "Yes.", "Let us get a coffee.", "There is fresh bread, too."),
    "soup": ("I made lentil soup.", "Thirsty tomatoes [bold] for dinner!"),
    "bike": ("My bike has a flat tyre again.", "Can I borrow your pump?", "No."),
}
BAD = {4: b'{"id": "empty", "turns": []}', 5: b"nonsense"}


def line(name, texts):
    turns = [{"speaker": "AB"[at % 2], "text": text} for at, text in enumerate(texts)]
    return json.dumps({"id": name, "turns": turns}).encode()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny_models.gpt2(tmp_path_factory.mktemp("scorer"), positions=160)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("talks") / "talks.jsonl"
    path.write_bytes(b"\n".join([*(line(*each) for each in TEXTS.items()), *BAD.values()]))
    return path


class Released:
    """The released algorithm by transformers' own loss, a pass for each follow-up, with tokens of this tokenizer."""

    def __init__(self, folder):
        self._model = AutoModelForCausalLM.from_pretrained(folder).eval()
        self._words = AutoTokenizer.from_pretrained(folder)

    def ids(self, texts):
        end = self._words.eos_token_id
        return [end, *(each for text in texts for each in (*self._words(f" {text}")["input_ids"], end))]

    def loss(self, turns, followup):
        tokens = torch.tensor([[*self.ids(turns), *self._words(f" {followup}")["input_ids"]]])
        with torch.no_grad():
            return float(self._model(tokens, labels=tokens).loss)

    def score(self, turns, dimension):
        high = sum(self.loss(turns, text) for text in dimension.positive) / max(len(dimension.positive), 1)
        low = sum(self.loss(turns, text) for text in dimension.negative) / max(len(dimension.negative), 1)
        return low - high


@needs_models
class TestScore:
    def test_is_the_released_algorithm_after_every_turn_that_answers(self, file, model, tmp_path):
        out = tmp_path / "scores.json"
        options = ("--level", "turn", "--join", "fed", "--dimensions", "interesting,relevant", "--json", out)
        done = run_stb("fed", "score", file, "--model", model, *options)
        assert done.returncode == 0, done.stderr
        rows, released = json.loads(out.read_text()), Released(model)
        places = [(row["id"], row["turn"], row["dimension"]) for row in rows]
        assert places == [
            (name, turn, dimension)
            for name, texts in TEXTS.items()
            for turn in range(2, len(texts) + 1)
            for dimension in ("interesting", "relevant")
        ]
        for row in rows:
            turns, dimension = TEXTS[row["id"]][: row["turn"]], FED.get(row["dimension"])
            assert row["score"] == pytest.approx(released.score(turns, dimension), abs=1e-5)
            assert [each["text"] for each in row["followups"]] == [*dimension.positive, *dimension.negative]
            first = row["followups"][0]
            assert first["value"] == pytest.approx(released.loss(turns, first["text"]), abs=1e-5)
            assert first["polarity"] == ("positive" if dimension.positive else "negative")
            assert row["turns_left_out"] == 0

    def test_stands_beside_what_length_says(self, file, model, tmp_path):
        out = tmp_path / "scores.json"
        options = ("--level", "turn", "--dimensions", "interesting", "--json", out)
        done = run_stb("fed", "score", file, "--model", model, *options)
        rows = json.loads(out.read_text())
        inverses = np.array([1 / context_length(TEXTS[row["id"]][: row["turn"]]) for row in rows])
        scores = [row["score"] for row in rows]
        line = scipy.stats.linregress(inverses, scores)
        assert [row["length_baseline"] for row in rows] == pytest.approx(list(line.intercept + line.slope * inverses))
        assert "Length says" in done.stdout
        assert f"{line.rvalue**2:.0%}" in done.stdout
        assert f"{rows[0]['length_baseline']:.4f}" in done.stdout
        assert f"{rows[0]['score'] - rows[0]['length_baseline']:.4f}" in done.stdout

    def test_reports_bad_lines_and_scores_the_others(self, file, model):
        talk = run_stb("fed", "score", file, "--model", model, "--dimensions", "coherent", "--json", "-")
        assert talk.returncode == 0
        assert [row["id"] for row in json.loads(talk.stdout)] == [*TEXTS]
        assert "Not scored: talks.jsonl, line 4: it has no turns" in talk.stderr
        assert "Not scored: talks.jsonl, line 5: it is not JSON (Expecting value)" in talk.stderr
        assert "Scoring dialogues" in talk.stderr

    def test_gives_the_log_probability_of_each_token(self, file, model, tmp_path):
        out = tmp_path / "s.json"
        sums = ("--mode", "followup_sum", "--set-rule", "sum", "--tokens", "--json", out)
        options = (*sums, "--dimensions", "likeable", "--polarity", "negatives", "--speaker", "B")
        done = run_stb("fed", "score", file, "--model", model, *options)
        assert done.returncode == 0, done.stderr
        rows = json.loads(out.read_text())
        assert [(row["id"], row["turn"]) for row in rows] == [("late", 4), ("soup", 2), ("bike", 2)]
        for row in rows:
            assert len(row["followups"]) == 3
            for each in row["followups"]:
                assert each["polarity"] == "negative"
                assert each["value"] == pytest.approx(-sum(each["token_log_probabilities"]))
            assert row["score"] == pytest.approx(sum(each["value"] for each in row["followups"]))

    def test_reports_what_is_too_long_or_shortens_it(self, model, tmp_path):
        long = tmp_path / "long.jsonl"
        turns = ["Did you water the tomatoes this morning?"] * 16
        long.write_bytes(b"\n".join((line("long", turns), line("short", turns[:2]))))
        options = ("--model", model, "--dimensions", "coherent")
        refused = run_stb("fed", "score", long, *options, "--json", "-")
        assert [row["id"] for row in json.loads(refused.stdout)] == ["short"]
        assert "Not scored: long.jsonl, line 1: " in refused.stderr
        out = tmp_path / "s.json"
        shortened = run_stb("fed", "score", long, *options, "--over-long", "truncate_oldest_turns", "--json", out)
        left_out = {row["id"]: row["turns_left_out"] for row in json.loads(out.read_text())}
        assert left_out["long"] > 0
        assert left_out["short"] == 0
        assert "1 contexts lost their oldest turns" in shortened.stdout

    def test_reads_the_published_data_and_correlates_it(self, model, tmp_path, monkeypatch):
        monkeypatch.setenv("COLUMNS", "160")
        entries = [
            {
                "context": f"User: Hi {at}!\nSystem: " + "Bread? " * at,
                **({"response": "System: Yes"} if at % 2 else {}),
                "annotations": {"Fluent": [at % 5, 1, "N/A (none)"], "Coherent": [at % 3], "Overall": [at % 4, at % 5]},
            }
            for at in range(1, 13)
        ]
        published = tmp_path / "fed_data.json"
        published.write_text(json.dumps(entries))
        done = run_stb("fed", "score", published, "--model", model, "--level", "turn", "--json", tmp_path / "s.json")
        assert done.returncode == 0, done.stderr
        rows = json.loads((tmp_path / "s.json").read_text())
        assert {(row["id"], row["turn"]) for row in rows} == {(f"fed-{at - 1}", 3) for at in range(1, 13, 2)}
        assert "FED less length" in done.stdout
        fluent = [row["score"] for row in rows if row["dimension"] == "fluent"]
        ratings = [(at % 5 + 1) / 2 for at in range(1, 13, 2)]
        (cells,) = [row.split("│") for row in done.stdout.split("\n") if row.startswith("│ Fluent")]
        of_fed, of_length = (scipy.stats.spearmanr(each, ratings).statistic for each in (fluent, range(6)))
        shown = [float(cell.split()[0]) for cell in cells[4:7]]
        assert shown == pytest.approx([of_fed, of_length, of_fed - of_length], abs=0.0005)
        people = split_half([[at % 5, 1, math.nan] for at in range(1, 13, 2)], n_splits=50).estimate
        assert cells[7].strip() == f"{people:.3f}"
        assert "Coherent" not in done.stdout  # is rated in dialogues

    def test_says_that_a_broken_model_gives_no_numbers(self, file, model, tmp_path):
        broken = AutoModelForCausalLM.from_pretrained(model)
        with torch.no_grad():
            broken.transformer.ln_f.weight[0] = float("nan")
        broken.save_pretrained(tmp_path / "broken")
        AutoTokenizer.from_pretrained(model).save_pretrained(tmp_path / "broken")
        done = run_stb("fed", "score", file, "--model", tmp_path / "broken", "--json", tmp_path / "s.json")
        assert done.returncode == 1
        assert "finite" in done.stderr.rpartition("Error: ")[2]
        assert not (tmp_path / "s.json").exists()

    def test_needs_follow_up_modes_for_an_encoder_decoder(self, file, tmp_path):
        folder = tiny_models.MAKERS["bart"](tmp_path / "bart")
        refused = run_stb("fed", "score", file, "--model", folder)
        assert refused.returncode == 1
        assert "encoder-decoder" in refused.stderr
        assert "followup_mean or followup_sum" in refused.stderr
        done = run_stb("fed", "score", file, "--model", folder, "--mode", "followup_mean", "--dimensions", "bipartite")
        assert done.returncode == 0, done.stderr
        assert "sensibleness" in done.stdout


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            (("--dimensions", "nice"), "There is no dimension 'nice': there are interesting, engaging"),
            (
                ("--polarity", "positives"),
                "coherent, error recovery, consistent, diverse, depth, understand would score 0",
            ),
            (("--dimensions", "none.json"), "No such file or directory (none.json)"),
            (("--speaker", "C"), "line 1: the speaker 'C' never talks"),
            (("--json", "/nowhere/at/all.json"), "The result can't be written to /nowhere/at/all.json"),
        ],
    )
    def test_come_before_the_model_is_loaded(self, file, options, reason):
        done = run_stb("fed", "score", file, "--model", "/nowhere", *options)
        assert done.returncode == 1
        assert reason in done.stderr

    @needs_models
    @pytest.mark.parametrize("model", ["/nowhere", "models/scorer"])
    def test_name_a_model_that_is_not_there(self, model, file):
        done = run_stb("fed", "score", file, "--model", model)
        assert (done.returncode, done.stderr.count("Error: ")) == (1, 1)
        assert f"There is no model '{model}': there is no such directory. Train one with" in done.stderr

    def test_say_how_to_install_torch(self, file, monkeypatch):
        found = importlib.util.find_spec
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name, *more: None if name == "torch" else found(name, *more)
        )
        done = run_stb("fed", "score", file, "--model", "/nowhere")
        assert (done.returncode, "run `./stb install models`" in done.stderr) == (1, True)


def test_copies_of_a_dialogue_make_no_interval_of_a_correlation_narrower():
    """Three copies, which differ in their case: ranks stay as they are, and copies are left out together."""
    shown = []
    for copies in (1, 3):
        read, scores = [], []
        for copy in range(copies):
            for at in range(9):
                texts = (f"Hi {at}" if copy else f"HI {at}", "Yes " * (5 * at % 9 + 1))
                dialogue = Dialogue(f"{at}-{copy}", tuple(map(Turn, "AB", texts)))
                read.append(DialogueToScore(1, dialogue, (2,), {"Fluent": (at % 5, at % 4)}))
                score = DimensionScore("fluent", float(7 * at % 9), ())
                scores.append(ContextScore(dialogue.id, 2, 0, context_length(texts), score, None))
        console = Console(width=160, record=True, file=io.StringIO())
        print_correlations(console, ReadDialogues(tuple(read), ()), Scored(tuple(scores), {}, ()))
        (row,) = [row.split("│") for row in console.export_text().split("\n") if row.startswith("│ Fluent")]
        shown.append(row[3:7])
    once, copied = shown
    assert (once[0].strip(), copied[0].strip()) == ("9", "27")
    assert once[1:] == copied[1:]
    assert all(" to " in cell for cell in once[1:])
