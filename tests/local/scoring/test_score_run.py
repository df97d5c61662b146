"""Scoring with a model that is a table: what counts of its results, and which length stands beside a score."""

import math

import pytest

from spotthebot.fed.dialogues.domain.dialogues import Level, parse_dialogue
from spotthebot.fed.dimension_sets.domain.dimensions import Dimension
from spotthebot.fed.scores.domain.length_baseline import context_length
from spotthebot.fed.scores.domain.modes import Mode, ScoringRule
from spotthebot.inference.models.protocol import ModelDescription
from spotthebot.local.scoring.dialogue_files import DialogueToScore, ReadDialogues
from spotthebot.local.scoring.run import ScoringOptions, score_dialogues

POLITE = Dimension("polite", ("How kind!",), ("So rude!",))
TEXTS = ("Hello!", "What do you want?", "Nothing.", "Go away then, will you?")


class TableModel:
    """Gives "How kind!" a likelihood of 1 nat, and "So rude!" as many as there are turns, or NaN."""

    description = ModelDescription("table", 0, "float32", "cpu", 99)

    def __init__(self, *, left_out=0, broken_after=99):
        self._left_out, self._broken_after = left_out, broken_after
        self.batches = []

    def parse(self, document):
        return document

    def run(self, requests):
        self.batches.append(len(requests))
        return [{"contexts": [self._context(end) for end in request["ends"]]} for request in requests]

    def _context(self, end):
        rude = math.nan if end >= self._broken_after else float(end)
        followups = [{"nll": 1.0, "tokens": 1}, {"nll": rude, "tokens": 1}]
        left_out = min(self._left_out, end - 1)
        shared = {"context_tokens": 9, "context_nll": None, "context_predicted_tokens": 8}
        return {"turns": end, "turns_left_out": left_out, "followups": followups, **shared}


def read(count=1):
    turns = [{"speaker": "AB"[at % 2], "text": text} for at, text in enumerate(TEXTS)]
    dialogues = [parse_dialogue({"id": at, "turns": turns}) for at in range(count)]
    return ReadDialogues(tuple(DialogueToScore(3, each, each.ends(Level.TURN)) for each in dialogues), ())


OPTIONS = ScoringOptions((POLITE,), ScoringRule(Mode.FOLLOWUP_SUM))


class TestScoreDialogues:
    def test_rejects_a_dialogue_whole_where_one_of_its_turns_has_no_number(self):
        scored = score_dialogues(TableModel(broken_after=4), read(), OPTIONS, lambda _: None)
        assert scored.scores == ()
        assert [(each.line, "the model answered nan" in each.reason) for each in scored.rejected] == [(3, True)]

    def test_stands_beside_the_length_of_the_turns_that_were_scored(self):
        scored = score_dialogues(TableModel(left_out=1), read(), OPTIONS, lambda _: None)
        assert [(each.turn, each.turns_left_out, each.score.score) for each in scored.scores] == [
            (2, 1, 1.0),
            (3, 1, 2.0),
            (4, 1, 3.0),
        ]
        assert [each.length for each in scored.scores] == [context_length(TEXTS[1:end]) for end in (2, 3, 4)]
        line = scored.baselines["polite"]
        assert line is not None
        assert [each.baseline for each in scored.scores] == pytest.approx(
            [line.score_of(each.length) for each in scored.scores]
        )

    def test_goes_in_batches_and_says_how_far_it_is(self):
        model = TableModel()
        done: list[int] = []
        score_dialogues(model, read(35), OPTIONS, done.append)
        assert (model.batches, done) == ([16, 16, 3], [16, 32, 35])

    def test_has_no_baseline_of_few_lengths(self):
        one = read()
        last = DialogueToScore(1, one.dialogues[0].dialogue, (4,))
        scored = score_dialogues(TableModel(), ReadDialogues((last,), ()), OPTIONS, lambda _: None)
        assert scored.scores[0].to_json()["length_baseline"] is None
