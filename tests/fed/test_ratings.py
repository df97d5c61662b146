"""What answers by protocols say of bots, as numbers."""

from uuid import UUID

import pytest

from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.contracts.annotation.annotations import AnnotationOut
from spotthebot.contracts.annotation.measures import ShownTurns, measured_questions
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.fed.correlations.domain import rated_as_systems, rated_in_dialogues, rated_in_turns
from spotthebot.fed.ratings.domain import ratings_in_campaign
from spotthebot.fed.score_sets.domain import ScoredContext

TALK = UUID(int=1)
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
                        "text": "?",
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


def annotation(answer, annotator="ann"):
    return AnnotationOut(
        id=UUID(int=2),
        conversation_id=TALK,
        package_id=UUID(int=3),
        exchanges=2,
        right=None,
        annotator=annotator,
        annotator_kind="person",
        judge=None,
        judge_labels=None,
        answer=answer,
        decisions=(),
        started_at=None,
        ended_at=None,
        elapsed_ms=None,
        reported_ms=None,
    )


def said(question, answers, *, sides="ABAB", opening=0, opening_shown=0):
    annotations = [annotation(answer, annotator) for annotator, answer in answers.items()]
    shown = {TALK: ShownTurns(sides, opening, opening_shown)}
    return ratings_in_campaign(annotations, question, {TALK: ("ada", "bob")}, shown)


class TestRatings:
    def test_ratings_of_turns_are_of_those_who_spoke_after_the_opening(self):
        """The opening has two turns, one of them shown: turn 1 of the answer is the third of the context."""
        answers = {"ann": {"quality": {"0": 5, "1": 2, "2": 3, "5": 4}}}
        found = said(questions("turn_likert")["quality"], answers, opening=2, opening_shown=1)
        assert [(each.bot, each.end, each.value) for each in found] == [("ada", 3, 2.0), ("bob", 4, 3.0)]

    def test_ratings_of_a_dialogue_as_a_whole_are_of_the_side_that_is_asked_about(self):
        (one,) = said(measured_questions(EMPATHY)["trust"], {"ann": {"trust": 4}})
        assert (one.bot, one.value, one.end) == ("bob", 4.0, None)

    def test_ratings_of_unknown_conversations_are_left_out(self):
        question = questions("dialogue_likert")["quality"]
        assert ratings_in_campaign([annotation({"quality": {"A": 1, "B": 2}})], question, {}, {}) == []


class TestItems:
    def test_are_turns_dialogues_and_systems_with_an_annotator_s_mean(self):
        """Annotator ann rates two turns of bob with 1 and 2, and a turn that was not scored with 5; ben one with 4."""
        contexts = [ScoredContext(TALK, 2, "bob", 10, 0, (1.0,)), ScoredContext(TALK, 4, "bob", 30, 0, (3.0,))]
        answers = {"ann": {"quality": {"1": 1, "3": 2, "5": 5}}, "ben": {"quality": {"3": 4}}}
        ratings = said(questions("turn_likert")["quality"], answers, sides="ABABAB")
        first, second = rated_in_turns(contexts, ratings, {TALK: "talk"})
        assert (first.annotator_means, first.scores, first.length) == ({"ann": 1.0}, (1.0,), 10)
        assert second.annotator_means == {"ann": 2.0, "ben": 4.0}
        (dialogue,) = rated_in_dialogues(contexts, ratings, {TALK: "talk"})
        assert (dialogue.scores, dialogue.length, dialogue.cluster) == ((2.0,), 20.0, "talk")
        assert dialogue.annotator_means == {"ann": pytest.approx(8 / 3), "ben": 4.0}
        (system,) = rated_as_systems([dialogue])
        assert (system.cluster, system.annotator_means) == ("bob", dialogue.annotator_means)
