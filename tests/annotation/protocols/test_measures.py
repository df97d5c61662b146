"""What answers by protocols say of bots, as numbers."""

import math

import pytest

from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.contracts.annotation.measures import ShownTurns, headline_of, measured_questions, sides_of
from spotthebot.contracts.annotation.protocols import AnnotationProtocol

EMPATHY = AnnotationProtocol.model_validate(
    {
        "format": 1,
        "name": "empathy",
        "version": 1,
        "title": "Empathy",
        "unit": {"kind": "turns", "speaker": "B"},
        "steps": [
            {
                "id": "all",
                "title": "All",
                "questions": [
                    {
                        "id": "kinds",
                        "kind": "multiple",
                        "per": "turn",
                        "text": "Which?",
                        "choices": [{"value": "warm", "text": "Warm"}, {"value": "cold", "text": "Cold"}],
                    },
                    {"id": "trust", "kind": "likert", "text": "?", "scale": {"min": 1, "max": 5}},
                    {"id": "why", "kind": "text", "text": "?"},
                ],
            }
        ],
    }
)


def questions(name):
    return measured_questions(built_in_protocols()[name, 1])


class TestMeasuredQuestions:
    @pytest.mark.parametrize(
        ("protocol", "names", "per", "level"),
        [
            ("spot_the_bot", {"label", "entity:human", "fluency", "sensibleness", "specificity"}, "side", "dialogue"),
            ("dialogue_likert", {"quality", "engaging"}, "side", "dialogue"),
            ("turn_likert", {"quality", "engaging"}, "turn", "turn"),
            ("factual_behaviour", {"facts:yes", "accuracy:false", "search:refuted"}, "turn", "turn"),
            ("abc_transitions", {"ignore", "irrelevant", "follow_up", "topic_switch"}, "turn", "turn"),
            ("comparative", {"quality", "engaging"}, "side", "pair"),
        ],
    )
    def test_are_scales_preferences_choices_and_labels(self, protocol, names, per, level):
        found = questions(protocol)
        assert names <= set(found)
        assert {found[name].per for name in names} == {per}
        assert {found[name].measure.level for name in names} == {level}

    def test_say_what_they_ask_and_between_which_ends_values_lie(self):
        found = {name: each.measure for name, each in measured_questions(EMPATHY).items()}
        assert {name: (each.kind, each.lowest, each.highest) for name, each in found.items()} == {
            "kinds:warm": ("share", 0, 1),
            "kinds:cold": ("share", 0, 1),
            "trust": ("scale", 1, 5),
        }
        assert found["kinds:cold"].question == "Which? Cold"

    def test_count_labels_and_preferences_from_0_to_1(self):
        answer = {"entity": {"A": "unsure", "B": "human"}, "fluency": "B", "specificity": "tie"}
        found = {name: dict(question.numbers(answer)) for name, question in questions("spot_the_bot").items()}
        assert found["label"] == {"A": 0.5, "B": 1.0}
        assert found["fluency"] == {"A": 0.0, "B": 1.0}
        assert found["specificity"] == {"A": 0.5, "B": 0.5}
        assert found["sensibleness"] == {}

    def test_count_a_choice_that_was_not_asked_for_as_not_taken(self):
        """Of turn 0 nobody asks whether its facts are false, as it has none; turn 4 has no answer at all."""
        answer = {"facts": {"0": "no", "1": "yes", "2": "yes"}, "accuracy": {"1": "false", "2": "true"}}
        found = questions("factual_behaviour")
        assert found["facts:yes"].numbers(answer) == {"0": 0.0, "1": 1.0, "2": 1.0}
        assert found["accuracy:false"].numbers(answer) == {"0": 0.0, "1": 1.0, "2": 0.0}
        assert found["search:refuted"].numbers(answer) == {"0": 0.0, "1": 0.0, "2": 0.0}

    def test_count_each_of_several_choices(self):
        found = measured_questions(EMPATHY)
        answer = {"kinds": {"1": ["cold", "warm"], "3": []}, "trust": 4}
        assert found["kinds:cold"].numbers(answer) == {"1": 1.0, "3": 0.0}
        assert found["trust"].numbers(answer) == {None: 4.0}

    def test_count_the_mean_of_probabilities_and_nothing_of_a_missing_answer(self):
        found = measured_questions(EMPATHY)
        answer = {"kinds": {"1": {"warm": 0.5, "cold": 0.25}, "3": None}, "trust": {None: {"1": 0.5, "4": 0.5}}}
        assert found["kinds:cold"].numbers(answer) == pytest.approx({"1": 0.25, "3": math.nan}, nan_ok=True)
        assert found["trust"].numbers(answer) == {None: 2.5}
        stated = {"A": 0.5, "B": 0, "tie": 0.5}
        labels = {"entity": {"A": {"human": 0.5, "unsure": 0.5, "bot": 0}}, "fluency": {None: stated}}
        spotted = questions("spot_the_bot")
        assert spotted["label"].numbers(labels) == {"A": 0.75}
        assert spotted["fluency"].numbers(labels) == {"A": 0.75, "B": 0.25}

    def test_leave_out_questions_about_two_dialogues_as_a_whole(self):
        document = EMPATHY.model_dump(exclude_none=True)
        document["unit"] = {"kind": "pair"}
        trust = document["steps"][0]["questions"][1]
        by_side = {**trust, "id": "care", "per": "side"}
        document["steps"][0]["questions"] = [trust, by_side]
        assert [*measured_questions(AnnotationProtocol.model_validate(document))] == ["care"]


class TestBehaviours:
    def test_take_the_place_of_choices_and_say_which_end_is_better(self):
        found = {name: each.measure for name, each in questions("abc_knowledge").items()}
        assert {name: (each.kind, each.better, each.level) for name, each in found.items()} == {
            "correct_fact": ("share", "higher", "turn"),
            "incorrect_fact": ("share", "lower", "turn"),
        }
        assert found["incorrect_fact"].question == "The response makes facts up or gets them wrong."
        assert {each.measure.better for each in questions("factual_behaviour").values()} == {None}
        assert {each.measure.better for each in questions("turn_likert").values()} == {"higher"}

    def test_are_shown_where_one_of_their_choices_was_taken(self):
        """Turns 0 to 7 take each path through the tree of knowledge; a fact is wrong if it is false, misleading or
        refuted by a search (Finch, Finch and Choi 2023, Table 4)."""
        answer = {
            "facts": {"0": [], **{str(turn): ["used"] for turn in range(1, 8)}},
            "accuracy": {"1": "true", "2": "false", "3": "misleading", **dict.fromkeys("4567", "unsure")},
            "search": {"4": "confirmed", "5": "refuted", "6": "disputed", "7": "not_found"},
        }
        found = questions("abc_knowledge")
        correct, incorrect = (found[name].numbers(answer) for name in ("correct_fact", "incorrect_fact"))
        assert correct == {str(turn): float(turn in {1, 4}) for turn in range(8)}
        assert incorrect == {str(turn): float(turn in {2, 3, 5}) for turn in range(8)}

    def test_have_the_largest_share_of_a_judge_and_none_if_it_did_not_answer_all(self):
        stated = {"facts": {"0": {"used": 1.0}}, "accuracy": {"0": {"false": 0.5, "misleading": 0.25, "unsure": 0.25}}}
        incorrect = questions("abc_knowledge")["incorrect_fact"]
        assert incorrect.numbers(stated | {"search": {"0": {"refuted": 0.7, "confirmed": 0.3}}}) == {"0": 0.7}
        assert math.isnan(incorrect.numbers(stated | {"search": {"0": None}})["0"])

    def test_leave_other_measures_of_the_protocol(self):
        written = EMPATHY.model_dump(exclude_none=True)
        shown = {"question": "kinds", "any_of": ["warm", "cold"]}
        written["behaviours"] = [{"id": "felt", "definition": "It is felt.", "shown_by": [shown]}]
        found = measured_questions(AnnotationProtocol.model_validate(written))
        assert [*found] == ["felt", "trust"]
        assert found["felt"].numbers({"kinds": {"1": ["cold"], "3": [], "5": ["warm", "cold"]}}) == {
            "1": 1.0,
            "3": 0.0,
            "5": 1.0,
        }


class TestHeadline:
    @pytest.mark.parametrize(
        ("names", "headline"),
        [(["engaging", "quality"], "quality"), (["label", "overall"], "overall"), (["facts:yes", "label"], "label")],
    )
    def test_is_quality_before_overall_before_labels(self, names, headline):
        assert headline_of(names) == headline

    def test_is_the_first_where_there_is_none_of_them(self):
        assert headline_of(["warm", "cold"]) == "warm"


class TestSides:
    def test_belong_to_who_spoke_the_turn_after_the_opening(self):
        """The opening has two turns, one of them shown: turn 1 of the answer is the first turn after it."""
        quality, turns = questions("turn_likert")["quality"], ShownTurns("ABA", opening=2, opening_shown=1)
        found = [sides_of(quality, str(turn), turns) for turn in range(5)]
        assert found == [((), -1), (("A",), 0), (("B",), 1), (("A",), 2), ((), -1)]

    def test_belong_to_the_sides_that_the_protocol_asks_about(self):
        assert sides_of(measured_questions(EMPATHY)["trust"], None, None) == (("B",), -1)
        assert sides_of(questions("dialogue_likert")["quality"], "A", None) == (("A",), -1)

    def test_belong_to_nobody_where_turns_are_unknown(self):
        assert sides_of(questions("turn_likert")["quality"], "0", None) == ((), -1)
