"""The order in which an annotator is asked: drawn once for each annotator, kept in training, package and export."""

import csv
import io
import json
from collections import Counter
from typing import Any

import pytest

from spotthebot.annotation.packages.domain.shuffle import Shuffle
from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.annotation.protocols.domain.checks import check_protocol
from spotthebot.annotation.protocols.domain.order import drawn_order, in_drawn_order
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from tests.factories.annotating import claim, save, submit
from tests.factories.annotator_trainings import gold_pair, preferring, training_of_pairs
from tests.factories.campaign_exports import lines
from tests.factories.campaigns import CONVERSATIONS, create_campaign, imported_annotation, open_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations


def _likert(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "kind": "likert", "text": "?", "scale": {"min": 1, "max": 3}} | more


TREE = {
    "id": "tree",
    "kind": "single",
    "text": "?",
    "choices": [
        {"value": "no", "text": "No"},
        {"value": "yes", "text": "Yes", "questions": [_likert("leaf"), _likert("second_leaf")]},
    ],
}
"""A question with two follow-ups."""
QUESTIONS = [
    _likert("a"),
    _likert("b"),
    TREE,
    _likert("behind_b", when={"question": "b", "any_of": [1]}),
    _likert("behind_leaf", when={"question": "leaf", "any_of": [2]}),
    _likert("behind_behind_b", when={"question": "behind_b", "any_of": [3]}),
    _likert("c"),
]
"""Four groups: a; b with the two behind it; the tree with its leaves and the one behind it; c."""
DOCUMENT: dict[str, Any] = {
    "format": 1,
    "name": "ordered",
    "version": 1,
    "title": "Ordered",
    "unit": {"kind": "dialogue"},
    "question_order": "annotator",
    "steps": [
        {"id": "first", "title": "First", "questions": QUESTIONS},
        {"id": "last", "title": "Last", "questions": [_likert("d", when={"question": "c", "any_of": [1]})]},
    ],
}
DIMENSIONS = {"grammatical", "relevant", "informative", "emotion_aware", "engaging", "consistent", "proactive"} | {
    "quality"
}


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "conversations", "annotation"


def _orders(count: int) -> list[tuple[str, ...]]:
    protocol, shuffle = AnnotationProtocol.model_validate(DOCUMENT), Shuffle(b"secret", 7)
    drawn = [in_drawn_order(protocol, lambda step, all_, at=at: shuffle(f"{at}/{step}", all_)) for at in range(count)]
    assert {check_protocol(each) for each in drawn} == {()}
    return [drawn_order(each) for each in drawn]


class TestDrawnOrder:
    def test_keeps_conditions_behind_their_question_and_steps_in_place(self):
        blocks = [
            ("a",),
            ("b", "behind_b", "behind_behind_b"),
            ("tree", "leaf", "second_leaf", "behind_leaf"),
            ("c",),
        ]
        orders = _orders(200)
        for order in orders:
            assert order[-1] == "d"
            starts = [order.index(block[0]) for block in blocks]
            assert [order[at : at + len(block)] for at, block in zip(starts, blocks, strict=True)] == blocks
        assert len(set(orders)) == 24  # 4! orders of four groups

    def test_draws_every_order_about_equally_often(self):
        """Chi-squared with 23 degrees of freedom stays below its 99.9 % quantile, 49.7."""
        counts = Counter(_orders(2400))
        assert sum((count - 100) ** 2 / 100 for count in counts.values()) < 49.7

    def test_joins_questions_with_one_that_depends_on_both(self):
        both = {
            **TREE,
            "id": "both",
            "when": {"question": "a", "any_of": [1]},
            "choices": [
                {"value": "x", "text": "X", "questions": [_likert("on_b", when={"question": "b", "any_of": [1]})]},
                {"value": "y", "text": "Y"},
            ],
        }
        document = DOCUMENT | {"steps": [DOCUMENT["steps"][0] | {"questions": [*QUESTIONS[:2], both, _likert("c")]}]}
        protocol = AnnotationProtocol.model_validate(document)
        orders = {drawn_order(in_drawn_order(protocol, lambda _, groups: groups[::-1]))}
        assert orders == {("c", "a", "b", "both", "on_b")}


class TestBuiltInVersions:
    def test_ask_the_same_questions_in_version_2(self):
        for name in ("comparative", "dialogue_likert"):
            first, second = (built_in_protocols()[name, version] for version in (1, 2))
            assert (first.question_order, second.question_order) == ("fixed", "annotator")
            assert second.steps == first.steps
            assert set(drawn_order(second)) == DIMENSIONS
        assert max(version for name, version in built_in_protocols() if name == "turn_likert") == 1


def _asked(assignment: dict[str, Any]) -> list[str]:
    (step,) = assignment["protocol"]["steps"]
    return [each["id"] for each in step["questions"]]


async def _campaign(suite: RunningSuite, **more: Any) -> dict[str, Any]:
    collection = await import_conversations(suite, CONVERSATIONS)
    settings = {"protocol": "dialogue_likert", "package_size": 2, "annotations_per_segment": 6}
    return await open_campaign(suite, collection, **settings | more)


async def _work(suite: RunningSuite, assignment: dict[str, Any]) -> None:
    answer = {each: {"A": 3, "B": 4} for each in DIMENSIONS}
    for item in assignment["items"]:
        assert (await save(suite, assignment, item["position"], answer)).json()["missing"] == []
    assert (await submit(suite, assignment)).status_code == 200


class TestPackages:
    async def test_have_the_order_of_their_annotator(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        assert campaign["protocol_version"] == 2
        people = [f"w{number}" for number in range(5)]
        orders = {}
        for person in people:
            first = await claim(suite, campaign, person)
            again = await claim(suite, campaign, person)
            frontend = await suite.client("annotation", "annotation")
            reread = (await frontend.get(f"/v1/assignments/{first['id']}")).json()
            await _work(suite, first)
            second = await claim(suite, campaign, person)
            assert second["id"] != first["id"]
            orders[person] = _asked(first)
            assert _asked(again) == _asked(reread) == _asked(second) == orders[person]
        assert {frozenset(each) for each in orders.values()} == {frozenset(DIMENSIONS)}
        assert len({*map(tuple, orders.values())}) > 1
        rows = await lines(suite, campaign["id"], role="admin", annotators="ids")
        assert {each["annotator"]: each["question_order"] for each in rows} == orders
        values = await lines(suite, campaign["id"], role="admin", annotators="ids", rows="values")
        for row in values:
            assert orders[row["annotator"]].index(row["question"]) + 1 == row["question_position"]
        analyst = await suite.client("annotation", "analyst")
        text = (await analyst.get(f"/v1/campaigns/{campaign['id']}/export?format=csv")).text
        found = [json.loads(each["question_order"]) for each in csv.DictReader(io.StringIO(text))]
        assert {*map(tuple, found)} == {*map(tuple, orders.values())}

    async def test_stay_in_the_order_of_an_erased_annotator(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        assignment = await claim(suite, campaign, "w")
        await _work(suite, assignment)
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{campaign['id']}"
        (person,) = (await admin.get(f"{path}/annotators")).json()["items"]
        assert (await admin.post(f"{path}/annotators/{person['id']}/erase", json={})).status_code in {200, 204}
        rows = await lines(suite, campaign["id"])
        assert [each["question_order"] for each in rows] == [_asked(assignment)] * 2

    async def test_have_the_documents_order_in_version_1(self, suite: RunningSuite):
        campaign = await _campaign(suite, protocol_version=1)
        (step,) = built_in_protocols()["dialogue_likert", 1].steps
        fixed = [each.id for each in step.questions]
        for person in ("w1", "w2", "w3"):
            assignment = await claim(suite, campaign, person)
            assert _asked(assignment) == fixed
        await _work(suite, assignment)
        assert {tuple(each["question_order"]) for each in await lines(suite, campaign["id"])} == {()}
        values = await lines(suite, campaign["id"], rows="values")
        assert {each["question_position"] for each in values} == {None}


class TestTraining:
    async def test_asks_in_the_annotators_order(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        document = training_of_pairs(dialogues=[gold_pair("training")])
        await created(admin, "/v1/trainings", {"training": document})
        dialogues = [conversation(f"c{number}", "HU", f"SECRET-{number % 2}") for number in range(4)]
        collection = await import_conversations(suite, dialogues)
        more = {"protocol": "comparative", "training": {"name": "first_steps"}}
        campaign = await create_campaign(suite, "open", collection, **more)
        frontend = await suite.client("annotation", "annotation")
        path = f"/v1/campaigns/{campaign['id']}/training"
        orders = {}
        for person in ("w1", "w2", "w3"):
            orders[person] = _asked((await frontend.post(path, json={"annotator": person})).json())
            answer = {"annotator": person, "attempt": 1, "answer": preferring("A")}
            assert (await frontend.put(f"{path}/dialogues/0", json=answer)).json()["state"] == "passed"
        assert len({*map(tuple, orders.values())}) > 1
        assert _asked(await claim(suite, campaign, "w2")) == orders["w2"]


class TestDocuments:
    async def test_with_another_order_are_refused(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        refused = await admin.post("/v1/protocols", json={"protocol": DOCUMENT | {"question_order": "shuffled"}})
        assert refused.status_code == 422
        (fault,) = refused.json()["errors"]
        assert fault["pointer"] == "/protocol/question_order"
        assert "'fixed' or 'annotator'" in fault["detail"]

    async def test_by_imports_name_each_question_once_or_none(self, suite: RunningSuite):
        collection = await import_conversations(suite, CONVERSATIONS[:1])
        campaign = await create_campaign(suite, "open", collection, mode="import", protocol="dialogue_likert")
        admin, path = await suite.client("annotation", "admin"), f"/v1/campaigns/{campaign['id']}"
        shown = {"conversation": "c0", "exchanges": 3}
        await created(admin, f"{path}/packages", {"packages": [{"external_id": "p", "segments": [shown]}]})
        answer, order = {each: {"A": 1, "B": 2} for each in DIMENSIONS}, sorted(DIMENSIONS)
        row = imported_annotation("x", exchanges=3, answer=answer)
        for wrong in (order[1:], [*order[1:], "speed"], [*order, order[0]]):
            rows = {"annotations": [row | {"question_order": wrong}]}
            refused = await admin.post(f"{path}/annotations", json=rows)
            assert refused.status_code == 422
            assert [each["pointer"] for each in refused.json()["errors"]] == ["/annotations/0/question_order"]
        known = imported_annotation("y", exchanges=3, answer=answer, annotator="other", question_order=order)
        await created(admin, f"{path}/annotations", {"annotations": [row, known]})
        assert [each["question_order"] for each in await lines(suite, campaign["id"])] == [[], order]
