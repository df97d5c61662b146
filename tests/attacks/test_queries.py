"""Parameters that nobody knows, cursors of other lists, and text that is none: 422, on every route of every service."""

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from spotthebot.contracts.services import API_NAMES
from tests.architecture.documents import committed_document
from tests.factories.running_suite import RunningSuite

SURROGATE = "\ud800"
JSON = {"Content-Type": "application/json"}


def _operations(service: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in committed_document(service)["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def _filled(path: str) -> str:
    """Put a made-up value in the place of every parameter."""
    return path.replace("{", "").replace("}", "") if "{" not in path else _replace(path)


def _replace(path: str) -> str:
    parts = [
        "00000000-0000-7000-8000-000000000000" if part.startswith("{") and part.endswith("_id}") else part.strip("{}")
        for part in path.split("/")
    ]
    return "/".join("1" if part == "version" else part for part in parts)


ROLES = ("admin", "service", "team", "annotation")
_ALLOWED: dict[tuple[str, str, str], str] = {}
"""The role that may ask a route, once it is known: it is asked with first, and the others need not be refused again."""


async def _ask(
    suite: RunningSuite, service: str, method: str, path: str, *, template: str = "", **more: Any
) -> httpx.Response:
    """Ask with the first role that may."""
    route = (service, method, template or path)
    answer = None
    for role in sorted(ROLES, key=lambda each: each != _ALLOWED.get(route)):
        client = await suite.client(service, role, team="t" if role == "team" else None)
        answer = await client.request(method, path, **more)
        if answer.status_code != 403:
            _ALLOWED[route] = role
            break
    assert answer is not None
    return answer


class TestUnknownParameters:
    @pytest.mark.parametrize("service", API_NAMES)
    async def test_are_refused_by_every_route(self, suite: RunningSuite, service: str):
        operations = list(_operations(service))
        assert len(operations) > 10
        ignored = []
        for method, path, _ in operations:
            answer = await _ask(suite, service, method, _filled(path), params={"filtre": "none"})
            fault = answer.text if path.startswith("/openai") else str(answer.json().get("errors"))
            if answer.status_code not in {400, 422} or "filtre" not in fault:
                ignored.append((method, path, answer.status_code, answer.text))
        assert ignored == []

    @pytest.mark.parametrize("service", API_NAMES)
    async def test_those_that_the_document_names_are_known(self, suite: RunningSuite, service: str):
        """Each is given a value that no type takes but text, and is never called unknown."""
        unknown = []
        for method, path, operation in _operations(service):
            names = [each["name"] for each in operation.get("parameters", []) if each["in"] == "query"]
            for some in (names[at : at + 20] for at in range(0, len(names), 20)):  # so many faults are listed
                answer = await _ask(suite, service, method, _filled(path), params=dict.fromkeys(some, "x"))
                if "no such parameter" in answer.text:
                    unknown.append((method, path, answer.text))
        assert unknown == []

    async def test_are_answered_with_the_nearest_that_is_known(self, suite: RunningSuite):
        analyst = await suite.client("analytics", "analyst")
        campaign = "00000000-0000-7000-8000-000000000000"
        answer = await analyst.get(f"/v1/campaigns/{campaign}/ranking", params={"filtre": "none"})
        assert answer.status_code == 422
        (fault,) = answer.json()["errors"]
        assert fault["parameter"] == "filtre"
        assert fault["detail"] == "There is no such parameter. The nearest is filter."

    async def test_are_named_shortly(self, suite: RunningSuite):
        admin = await suite.client("bots", "admin")
        answer = await admin.get("/v1/bots", params={"x" * 5000: "1", **{f"y{number}": "1" for number in range(100)}})
        assert answer.status_code == 422
        assert len(answer.json()["errors"]) == 20
        assert answer.json()["further_errors"] == 81
        assert len(answer.content) < 10_000


class TestCursors:
    async def test_cursors_of_another_list_are_refused(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        for number in range(3):
            corpus = {"name": f"c{number}", "domain": "d", "origin": "o", "licence": "l"}
            assert (await admin.post("/v1/corpora", json=corpus)).status_code == 201
        cursor = (await admin.get("/v1/corpora", params={"limit": "1"})).json()["next_cursor"]
        assert (await admin.get("/v1/corpora", params={"cursor": cursor})).status_code == 200
        refused = [path for path in _lists() if path != "/v1/corpora"]
        assert len(refused) > 10
        for path in refused:
            answer = await _ask(suite, "conversations", "GET", _filled(path), params={"cursor": cursor})
            assert answer.status_code == 422, path
            assert "cursor" in answer.json()["detail"]
        answer = await admin.get("/v1/corpora", params={"cursor": cursor, "name": "c1"})
        assert answer.status_code == 422  # filtered otherwise, it is another list

    async def test_made_by_hand_are_refused_or_answered(self, suite: RunningSuite):
        """The numbered lists once gave PostgreSQL a number of 128 bits."""
        admin = await suite.client("conversations", "admin")
        opened = await admin.post("/v1/collections", json={"mode": "import", "name": "n", "domain": "d"})
        for name in ("pairs", "failures"):
            path = f"/v1/collections/{opened.json()['id']}/{name}"
            tag = hashlib.sha256(repr((path, [])).encode()).digest()[:8]
            cursor = base64.urlsafe_b64encode(b"\xff" * 16 + tag).decode()
            answer = await admin.get(path, params={"cursor": cursor})
            assert answer.status_code == 422, answer.text


class TestTextThatIsNone:
    @pytest.mark.parametrize("service", API_NAMES)
    @pytest.mark.parametrize("text", ["half \udfff of a pair", "NUL \0"])
    async def test_is_refused_in_every_field_of_every_body(self, suite: RunningSuite, service: str, text: str):
        answers = []
        for method, path, operation in _operations(service):
            if "application/json" not in operation.get("requestBody", {}).get("content", {}):
                continue
            for body in ({"a": [{"b": text}]}, {text: 1}, text):
                answer = await _ask(suite, service, method, _filled(path), content=json.dumps(body), headers=JSON)
                answers.append((method, path, answer.status_code))
                assert answer.status_code in ({400} if path.startswith("/openai") else {422}), answer.text
                assert "surrogate" in answer.text or "NUL" in answer.text
        assert answers or service == "web"

    async def test_is_named_by_its_place(self, suite: RunningSuite):
        admin = await suite.client("bots", "admin")
        body = json.dumps({"name": "b", "domains": ["d", SURROGATE], "protocol": {"model": "\0"}})
        answer = await admin.post("/v1/bots", content=body, headers=JSON)
        assert [fault["pointer"] for fault in answer.json()["errors"]] == ["/domains/1", "/protocol/model"]

    async def test_whole_pairs_are_text(self, suite: RunningSuite):
        admin = await suite.client("bots", "admin")
        body = '{"name": "\\ud83d\\ude00", "domains": ["d"], "protocol": {"kind": "builtin", "model": "dull"}}'
        answer = await admin.post("/v1/bots", content=body, headers=JSON)
        assert (answer.status_code, answer.json()["name"]) == (201, "😀")

    async def test_bytes_of_half_a_pair_are_no_json(self, suite: RunningSuite):
        admin = await suite.client("bots", "admin")
        answer = await admin.post("/v1/bots", content=b'{"name": "\xed\xa0\x80"}', headers=JSON)
        assert answer.status_code == 400

    @pytest.mark.parametrize("text", ["\\ud800", "\\u0000", "a \\udfff b"])
    async def test_in_an_uploaded_file_is_no_fault_of_ours(self, suite: RunningSuite, text: str):
        admin = await suite.client("conversations", "admin")
        corpus = {"name": "c", "domain": "d", "origin": "o", "licence": "l"}
        corpus_id = (await admin.post("/v1/corpora", json=corpus)).json()["id"]
        collection = {"mode": "import", "name": "n", "domain": "d"}
        collection_id = (await admin.post("/v1/collections", json=collection)).json()["id"]
        line = f'{{"key": "k{text}", "split": "s", "turns": ["x{text}", "y"], "metadata": {{"m{text}": "{text}"}}}}\n'
        for path in (
            f"/v1/corpora/{corpus_id}/uploads?format=jsonl&split=s",
            f"/v1/collections/{collection_id}/uploads",
        ):
            answer = await admin.post(path, content=line.encode())
            assert answer.status_code in {200, 422}, answer.text
        dialogues = await admin.get(f"/v1/corpora/{corpus_id}/dialogues")
        assert dialogues.status_code == 200

    @pytest.mark.parametrize("service", API_NAMES)
    @pytest.mark.parametrize("text", ["a%00b", "%ED%A0%80"])
    async def test_is_no_fault_of_ours_in_query_and_path(self, suite: RunningSuite, service: str, text: str):
        failed: list[tuple[str, ...]] = []
        for method, path, operation in _operations(service):
            if "{" in path:
                parts = [text if part.startswith("{") else part for part in path.split("/")]
                answer = await _ask(suite, service, method, "/".join(parts), template=_filled(path))
                failed += [(method, path, answer.text)] if answer.status_code >= 500 else []
            queried = [each for each in operation.get("parameters", []) if each["in"] == "query"]
            plain = [each["name"] for each in queried if _is_plain_text(each["schema"])]
            # No text is a number, a date or a choice: such parameters are refused together.
            others = [each["name"] for each in queried if each["name"] not in plain]
            for names in [*([each] for each in plain), *([others] if others else [])]:
                query = "&".join(f"{name}={text}" for name in names)
                answer = await _ask(suite, service, method, f"{_filled(path)}?{query}", template=_filled(path))
                failed += [(method, path, query, answer.text)] if answer.status_code >= 500 else []
        assert failed == []


def _is_plain_text(schema: dict[str, Any]) -> bool:
    """Say whether a parameter may be any text, or a list of any texts."""
    kinds = [schema, *schema.get("anyOf", [])]
    kinds += [each["items"] for each in kinds if "items" in each]
    return any(each.get("type") == "string" and not {"enum", "format", "const"} & each.keys() for each in kinds)


def _lists() -> list[str]:
    return [
        path
        for method, path, operation in _operations("conversations")
        if method == "GET" and any(parameter["name"] == "cursor" for parameter in operation.get("parameters", []))
    ]
