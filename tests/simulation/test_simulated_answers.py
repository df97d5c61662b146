"""Simulated annotators answer any protocol: what is asked and no more, and better where the texts are better."""

import json
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from spotthebot.annotation.protocols.domain.answers import check_answer, missing
from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.annotation.protocols.domain.questions import PAIR_SHAPE, UnitShape
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.turns import Turn
from spotthebot.importers.abc_eval.tasks import convert_tasks
from spotthebot.local.seeding import simulated_annotators
from spotthebot.simulation.answers import ShownItem, answer_steps

GOOD = (
    "Do you cook at home, or do you eat out?",
    "I cook most evenings, soup and bread, as my garden is full of potatoes.",
    "Potatoes! Do you put salt into the soup first, or after the potatoes?",
    "After them. The potatoes take the salt out, so I taste the soup at the end.",
)
DULL = (
    "Do you cook at home, or do you eat out?",
    "I do not know.",
    "Potatoes! Do you put salt into the soup first, or after the potatoes?",
    "I do not know.",
)
CROWD = simulated_annotators(6, seed=3)
ABC_EVAL = Path(__file__).parents[3] / "shared" / "data" / "abc-eval" / "annotation_buckets.json"


def _turns(texts: tuple[str, ...]) -> tuple[Turn, ...]:
    return tuple(Turn(speaker="AB"[at % 2], text=text) for at, text in enumerate(texts))


def _item(protocol: AnnotationProtocol, texts: tuple[str, ...] = GOOD) -> ShownItem:
    return ShownItem(_turns(texts), _turns(DULL) if protocol.unit.kind == "pair" else None)


def _protocols() -> list[AnnotationProtocol]:
    return [*built_in_protocols().values()]


def _answers(protocol: AnnotationProtocol, item: ShownItem) -> list[dict[str, Any]]:
    return [[*answer_steps(each, protocol, item, {})][-1][0] for each in CROWD]


class TestAnswers:
    @pytest.mark.parametrize("protocol", _protocols(), ids=lambda protocol: protocol.name)
    def test_are_complete_and_hold_nothing_that_was_not_asked(self, protocol: AnnotationProtocol):
        item = _item(protocol)
        shape = PAIR_SHAPE if protocol.unit.kind == "pair" else UnitShape.of_turns(item.turns)
        for answer in _answers(protocol, item):
            assert check_answer(protocol, shape, answer) == ()
            assert missing(protocol, shape, answer) == ()

    @pytest.mark.skipif(not ABC_EVAL.exists(), reason="the data of ABC-Eval are not here")
    def test_are_complete_for_the_trees_of_abc_eval(self):
        tasks = convert_tasks(json.loads(ABC_EVAL.read_text(encoding="utf-8")))
        converted = [each.protocol for each in tasks if each.protocol is not None]
        assert len(converted) > 20
        for protocol in converted:
            item = _item(protocol)
            shape = PAIR_SHAPE if protocol.unit.kind == "pair" else UnitShape.of_turns(item.turns)
            for answer in _answers(protocol, item):
                assert check_answer(protocol, shape, answer) == (), protocol.name
                assert missing(protocol, shape, answer) == (), protocol.name

    def test_are_the_same_again(self):
        protocol = built_in_protocols()["turn_likert", 1]
        assert _answers(protocol, _item(protocol)) == _answers(protocol, _item(protocol))

    def test_differ_between_annotators_and_questions(self):
        """Else nothing could be told of agreement, and all measures would be one."""
        protocol = built_in_protocols()["turn_likert", 1]
        answers = _answers(protocol, _item(protocol))
        assert len({json.dumps(answer) for answer in answers}) == len(answers)
        assert len({json.dumps(given) for given in answers[0].values()}) > 1

    def test_rate_a_speaker_who_answers_above_one_who_does_not(self):
        protocol = built_in_protocols()["dialogue_likert", 1]
        good, dull = (
            mean(answer["quality"]["B"] for answer in _answers(protocol, _item(protocol, texts)))
            for texts in (GOOD, DULL)
        )
        assert good > dull + 1

    def test_take_a_speaker_who_answers_for_a_person_rather_than_one_who_does_not(self):
        """The protocol lists human, bot, unsure: that is no order from bad to good."""
        protocol = built_in_protocols()["spot_the_bot_labels", 1]
        good, dull = (
            [answer["entity"]["B"] for answer in _answers(protocol, _item(protocol, texts))] for texts in (GOOD, DULL)
        )
        assert good.count("human") > dull.count("human")
        assert dull.count("bot") > good.count("bot")

    def test_prefer_the_dialogue_with_answers(self):
        protocol = built_in_protocols()["comparative", 1]
        preferred = [answer["quality"] for answer in _answers(protocol, _item(protocol))]
        assert preferred.count("A") > preferred.count("B")

    def test_keep_what_was_saved_in_steps_before(self):
        protocol = built_in_protocols()["spot_the_bot", 1]
        saved: dict[str, Any] = {"entity": {"A": "unsure", "B": "unsure"}}
        ((answer, elapsed_ms),) = answer_steps(CROWD[0], protocol, _item(protocol), saved, step=2)
        assert answer["entity"] == saved["entity"]
        assert {"fluency", "sensibleness", "specificity"} <= set(answer)
        assert elapsed_ms > 0
