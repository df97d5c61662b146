import asyncio
import json
from typing import Any

import jsonschema_rs
import pytest

from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.clients import AsyncAnnotation
from spotthebot.contracts.annotation.protocols import AnnotationProtocol, ProtocolIn
from tests.factories.protocols import document, single
from tests.factories.running_suite import RunningSuite

PATH = "/v1/protocols"
X = single("x", "yes", "no", text="<script>alert('x')</script> Ist das ein Bot? \U0001f916")


def _body(*questions: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"protocol": document([*questions] or [X], **more)}


def _y(**more: Any) -> dict[str, Any]:
    return single("y", "a", "b", **more)


def _problem(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].removeprefix("urn:spotthebot:problem:")


class TestCreateProtocol:
    async def test_stores_a_version_as_it_was_sent(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        answer = await admin.post(PATH, json=_body())
        assert answer.status_code == 201
        stored = answer.json()
        assert (stored["built_in"], stored["created_at"] is None) == (False, False)
        sent = AnnotationProtocol.model_validate(_body()["protocol"])
        assert AnnotationProtocol.model_validate(stored["protocol"]) == sent
        reader = await suite.client("annotation", "annotation")
        assert (await reader.get(f"{PATH}/example/versions/1")).json() == stored

    async def test_answers_the_same_document_the_same_and_refuses_another(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        first = await admin.post(PATH, json=_body())
        spelt_out = {"protocol": first.json()["protocol"]}  # what was left out is there with its default
        again = [await admin.post(PATH, json=body) for body in (_body(), spelt_out)]
        assert [(each.status_code, each.json()) for each in again] == [(201, first.json())] * 2
        other = await admin.post(PATH, json=_body(title="Another title"))
        assert _problem(other) == (409, "protocol-version-stored")
        assert (await admin.get(f"{PATH}/example/versions/1")).json() == first.json()
        assert (await admin.post(PATH, json=_body(title="Another title", version=2))).status_code == 201

    async def test_stores_one_of_two_documents_that_come_at_once(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        bodies = [_body(title=f"Title {number % 2}") for number in range(8)]
        answers = await asyncio.gather(*(admin.post(PATH, json=body) for body in bodies))
        created = [each.json() for each in answers if each.status_code == 201]
        assert len(created) == 4
        assert all(each == created[0] for each in created)
        assert {_problem(each) for each in answers if each.status_code != 201} == {(409, "protocol-version-stored")}

    async def test_keeps_the_names_of_built_in_protocols(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        built_in = built_in_protocols()["spot_the_bot", 1].model_dump(mode="json")
        same = await admin.post(PATH, json={"protocol": built_in})
        assert same.status_code == 201
        assert same.json()["built_in"] is True
        assert same.json()["created_at"] is None
        for other in (built_in | {"title": "Mine"}, built_in | {"version": 2}):
            assert _problem(await admin.post(PATH, json={"protocol": other})) == (409, "protocol-built-in")

    async def test_replays_its_answer_to_the_same_key(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        key = {"Idempotency-Key": "k"}
        first = await admin.post(PATH, json=_body(), headers=key)
        again = await admin.post(PATH, json=_body(), headers=key)
        assert (again.json(), again.headers["Idempotency-Replayed"]) == (first.json(), "true")

    @pytest.mark.parametrize(
        ("body", "pointer", "rule"),
        [
            (_body(X, X), "/protocol/steps/0/questions/1/id", "Another question has the id 'x'."),
            (
                _body(_y(when={"question": "z", "any_of": ["a"]})),
                "/protocol/steps/0/questions/0/when/question",
                "'z' is not in this protocol",
            ),
            (
                _body({"id": "l", "kind": "likert", "text": "?", "scale": {"min": 1, "max": 5}, "choices": []}),
                "/protocol/steps/0/questions/0/choices",
                "is not known here: leave it out",
            ),
            (_body({"id": "l", "kind": "slider", "text": "?"}), "/protocol/steps/0/questions/0", "'slider'"),
            (_body(name="Not A Name"), "/protocol/name", "pattern"),
            (_body(unit={"kind": "segment", "exchanges": 3}), "/protocol/unit/exchanges", "is not known here"),
            (_body(*[single(f"q{n}", "a", "b") for n in range(51)]), "/protocol/steps/0/questions", "at most 50"),
            (_body(single("x", "yes")), "/protocol/steps/0/questions/0/choices", "must hold at least 2 items"),
            ({"protocol": document([])}, "/protocol/steps/0/questions", "must hold at least 1 item"),
            ({"protocol": document()}, "/protocol/steps", "must hold at least 1 item"),
            ({}, "/protocol", "is missing"),
        ],
    )
    async def test_names_the_field_and_the_rule(
        self, suite: RunningSuite, body: dict[str, Any], pointer: str, rule: str
    ):
        admin = await suite.client("annotation", "admin")
        answer = await admin.post(PATH, json=body)
        assert answer.status_code == 422
        (fault,) = answer.json()["errors"]
        assert fault["pointer"] == pointer
        assert rule in fault["detail"]
        assert answer.headers["Content-Type"] == "application/problem+json"

    async def test_refuses_a_value_that_no_question_can_have(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        for value in (10**4000, 1.5, True, "a" * 51):
            answer = await admin.post(PATH, json=_body(X, _y(when={"question": "x", "any_of": [value]})))
            assert answer.status_code == 422
            pointers = {fault["pointer"] for fault in answer.json()["errors"]}
            assert pointers == {"/protocol/steps/0/questions/1/when/any_of/0"}
            assert len(answer.content) < 1000

    async def test_refuses_what_is_nested_without_end_and_what_is_too_large(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        question = X
        for level in range(40):
            question = single(f"q{level}", "yes", "no", follows={"yes": [question]})
        assert (await admin.post(PATH, json=_body(question))).status_code == 422
        assert (await admin.post(PATH, json=_body(X | {"help": "x" * 2_000_000}))).status_code == 413

    async def test_is_for_administrators(self, suite: RunningSuite):
        for role in ("annotation", "analyst", "service"):
            client = await suite.client("annotation", role)
            assert (await client.post(PATH, json=_body())).status_code == 403
            assert (await client.get(PATH)).status_code == 200
        team = await suite.client("annotation", "team")
        assert (await team.get(PATH)).status_code == 403


class TestListProtocols:
    async def test_begins_with_those_that_are_built_in(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        for name, version in (("b", 1), ("a", 1), ("b", 2)):
            assert (await admin.post(PATH, json=_body(name=name, version=version))).status_code == 201
        expected = [*built_in_protocols(), ("b", 1), ("a", 1), ("b", 2)]
        for limit in (1, 2, 6, 7, 50):
            assert [(each["name"], each["version"]) for each in await _pages(admin, limit)] == expected
        listed = {each["name"]: each for each in await _pages(admin, 50)}
        assert listed["spot_the_bot"] == {
            "name": "spot_the_bot",
            "version": 1,
            "title": "Spot The Bot",
            "source": built_in_protocols()["spot_the_bot", 1].source,
            "built_in": True,
            "created_at": None,
        }

    async def test_finds_the_versions_of_a_name(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        for version in (1, 3):
            await admin.post(PATH, json=_body(version=version))
        assert [each["version"] for each in await _pages(admin, 1, name="example")] == [1, 3]
        found = await _pages(admin, 1, name="comparative")
        assert [(each["name"], each["version"]) for each in found] == [("comparative", 1), ("comparative", 2)]


class TestGetProtocol:
    async def test_returns_a_built_in_one(self, suite: RunningSuite):
        reader = await suite.client("annotation", "analyst")
        found = (await reader.get(f"{PATH}/turn_likert/versions/1")).json()
        expected = built_in_protocols()["turn_likert", 1].model_dump(mode="json")
        assert found == {"protocol": expected, "built_in": True, "created_at": None}

    async def test_knows_no_other(self, suite: RunningSuite):
        reader = await suite.client("annotation", "analyst")
        assert _problem(await reader.get(f"{PATH}/turn_likert/versions/2")) == (404, "no-such-protocol")
        assert (await reader.get(f"{PATH}/Turn-Likert/versions/1")).status_code == 422
        assert (await reader.get(f"{PATH}/turn_likert/versions/0")).status_code == 422


class TestSchema:
    async def test_says_what_a_protocol_may_hold(self, suite: RunningSuite):
        reader = await suite.client("annotation", "annotation")
        answer = await reader.get(f"{PATH}/schema")
        assert answer.headers["Content-Type"] == "application/schema+json"
        validator = jsonschema_rs.validator_for(json.loads(answer.text))
        assert validator.is_valid(document([X]))
        assert not validator.is_valid(document([X | {"kind": "slider"}]))


class TestClient:
    async def test_creates_finds_and_lists_protocols(self, suite: RunningSuite):
        protocol = AnnotationProtocol.model_validate(document([X]))
        async with AsyncAnnotation(suite.urls["annotation"], await suite.keys.make("admin")) as client:
            created = await client.create_protocol(ProtocolIn(protocol=protocol))
            assert await client.get_protocol("example", 1) == created
            assert created.protocol == protocol
            names = [each.name async for each in client.list_protocols(page_size=2)]
            assert names == [*(name for name, _ in built_in_protocols()), "example"]
            assert json.loads(await client.get_protocol_schema())["title"] == "AnnotationProtocol"


async def _pages(client: Any, limit: int, **filters: str) -> list[dict[str, Any]]:
    found, cursor = [], None
    for _ in range(40):
        params = {"limit": limit, **filters, **({"cursor": cursor} if cursor else {})}
        page = (await client.get(PATH, params=params)).json()
        assert len(page["items"]) <= limit
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert cursor is None
    return found
