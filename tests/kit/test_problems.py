import json
from collections.abc import Mapping
from typing import Any

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from psycopg import sql
from pydantic import SecretStr
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from structlog.testing import capture_logs

from spotthebot.kit.errors import Conflict, Error, FieldError, Invalid, UpstreamFailed
from spotthebot.kit.processes.sockets import bind
from spotthebot.kit.settings import ServiceSettings
from spotthebot.kit.web.api import build_service
from spotthebot.kit.web.core.problems import ProblemDetails, status_of
from tests.factories.databases import PostgresServer
from tests.factories.running_suite import served
from tests.kit.conftest import Edge

MEMBERS = {"type", "title", "status", "detail", "instance", "errors", "further_errors"}
TYPE = "urn:spotthebot:problem:"
JSON = {"Content-Type": "application/json"}


def _members(answer: httpx.Response) -> dict[str, Any]:
    """Check what RFC 9457 asks of every problem; return its members."""
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert set(body) == MEMBERS
    assert body["status"] == answer.status_code
    assert body["instance"] == answer.request.url.path
    assert body["type"].startswith(TYPE)
    return body


class TestFamilies:
    @pytest.mark.parametrize(
        ("family", "status", "slug", "title"),
        [
            ("invalid", 422, "invalid", "Invalid request"),
            ("unauthenticated", 401, "unauthenticated", "Not authenticated"),
            ("forbidden", 403, "forbidden", "Forbidden"),
            ("missing", 404, "not-found", "Not found"),
            ("conflict", 409, "conflict", "Conflict"),
            ("many", 429, "too-many", "Too many requests"),
            ("unavailable", 503, "unavailable", "Unavailable"),
            ("upstream", 502, "upstream-failed", "Upstream failed"),
        ],
    )
    async def test_each_has_its_status(self, admin: httpx.AsyncClient, family: str, status: int, slug: str, title: str):
        answer = await admin.get(f"/failing/{family}")
        body = _members(answer)
        assert answer.status_code == status
        assert (body["type"], body["title"]) == (TYPE + slug, title)

    async def test_field_errors_point_into_the_body(self, admin: httpx.AsyncClient):
        body = _members(await admin.get("/failing/invalid"))
        assert body["errors"] == [{"pointer": "/a/0", "parameter": None, "detail": "is odd"}]

    async def test_waiting_is_said_in_a_header(self, admin: httpx.AsyncClient):
        assert (await admin.get("/failing/many")).headers["retry-after"] == "7"


REQUEST = Request({"type": "http", "path": "/x", "headers": [], "server": ("x", 80), "query_string": b""})


async def _answered(error: Exception) -> Response:
    """Give an error to the handler that an application has for it."""
    app = FastAPI()
    ProblemDetails().mount(app)
    handler: Any = app.exception_handlers[type(error)]
    answer: Response = await handler(REQUEST, error)
    return answer


async def _handled(error: Exception) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(bytes((await _answered(error)).body))
    return body


async def _fault(place: tuple[str | int, ...], *, said: str = "is odd", body: object = None, **more: Any) -> Any:
    fault: Mapping[str, Any] = {"type": "value_error", "loc": place, "msg": said, **more}
    (shown,) = (await _handled(RequestValidationError([fault], body=body)))["errors"]
    return shown


class TestFaults:
    @pytest.mark.parametrize(
        ("place", "kind", "pointer"),
        [
            (("bot", "webhook", "url"), "value_error", "/bot/url"),  # pydantic names the member of the union too
            (("bot", "webhook", "name"), "missing", "/bot/name"),
            (("bot", "webhook", "name"), "value_error", "/bot"),
            (("bot", "sizes", 1), "value_error", "/bot/sizes/1"),
            (("bot", "sizes", 2), "value_error", "/bot/sizes"),
            (("bot", "url", "scheme"), "value_error", "/bot/url"),
            ((), "missing", ""),
        ],
    )
    async def test_point_at_the_parts_of_a_body_that_are_there_or_missing(
        self, place: tuple[str | int, ...], kind: str, pointer: str
    ):
        body = {"bot": {"url": 1, "sizes": [1, 2]}}
        assert (await _fault(("body", *place), body=body, type=kind))["pointer"] == pointer

    async def test_name_the_parameter_or_where_parameters_stand(self):
        named, unnamed = await _fault(("query", "limit")), await _fault(("query",))
        assert [(each["parameter"], each["pointer"]) for each in (named, unnamed)] == [("limit", None), ("query", None)]

    @pytest.mark.parametrize(("more", "end"), [(0, "x"), (1, "x…")])
    async def test_have_three_hundred_characters_and_names_of_two_hundred(self, more: int, end: str):
        found = await _fault(("query", (200 + more) * "x"), said=(300 + more) * "x")
        assert (found["parameter"], found["detail"]) == (199 * "x" + end, 299 * "x" + end)

    async def test_stand_once_in_the_answer_where_two_parts_of_an_endpoint_read_the_body(self):
        fault = {"type": "value_error", "loc": ("body", "a"), "msg": "is odd"}
        found = await _handled(RequestValidationError([fault, fault, fault | {"msg": "is old"}], body={"a": 1}))
        assert [(each["pointer"], each["detail"]) for each in found["errors"]] == [("/a", "is odd"), ("/a", "is old")]
        assert (found["further_errors"], found["detail"]) == (0, "See `errors`: /a.")

    async def test_say_the_byte_where_a_body_stops_being_json(self):
        fault = {"type": "json_invalid", "loc": ("body", 9), "msg": "JSON decode error", "ctx": {"error": "Expecting"}}
        found = await _handled(RequestValidationError([fault]))
        assert found["detail"] == "The request body is not JSON: Expecting at byte 9."

    async def test_keep_the_words_and_headers_of_the_framework(self):
        answer = await _answered(HTTPException(418, "I'm a teapot", {"X-Tea": "green"}))
        found = json.loads(bytes(answer.body))
        assert (found["status"], found["title"], found["detail"]) == (418, "I'm a teapot", "I'm a teapot.")
        assert (answer.status_code, answer.headers["x-tea"]) == (418, "green")
        found = await _handled(HTTPException(400, "There was an error parsing the body"))
        assert found["detail"] == "The request body is not JSON: is it UTF-8 JSON?"
        assert (found["errors"], found["further_errors"]) == ([], 0)


def test_an_error_of_no_family_is_ours():
    assert [status_of(each) for each in (Error(), Conflict())] == [500, 409]


def test_only_failures_of_peers_are_logged():
    with capture_logs() as lines:
        for error in (Conflict(), UpstreamFailed()):
            ProblemDetails().respond(REQUEST, error)
    assert [line["event"] for line in lines] == ["upstream.failed"]


async def test_a_refusal_of_ours_names_twenty_fields_and_counts_the_others():
    for count, further in ((20, 0), (22, 2)):
        fields = tuple(FieldError(f"/{number}", "is odd") for number in range(count))
        body = json.loads(bytes(ProblemDetails().respond(REQUEST, Invalid(fields=fields)).body))
        assert [each["pointer"] for each in body["errors"]] == [f"/{number}" for number in range(20)]
        assert body["further_errors"] == further


class TestPeers:
    """An endpoint of ours calls another service, which refuses: here, this very application, which has no such path."""

    async def test_a_refusal_is_answered_502_with_the_peers_name_and_status(self, edge: Edge, admin: httpx.AsyncClient):
        body = _members(answer := await admin.get("/failing/peer", params={"url": edge.url}))
        assert answer.status_code == 502
        assert (body["type"], body["title"]) == (TYPE + "peer-refused", "Refused by a peer")
        assert body["detail"] == "This needs the service things, which refused our request (404)."

    async def test_a_refusal_is_not_quoted_to_the_caller(self, edge: Edge, admin: httpx.AsyncClient):
        answer = await admin.get("/failing/peer", params={"url": edge.url})
        assert "internal" not in answer.text
        assert "hunter2" not in answer.text
        assert edge.url.removeprefix("http://") not in answer.text

    async def test_a_peer_that_does_not_answer_is_503(self, admin: httpx.AsyncClient):
        answer = await admin.get("/failing/peer", params={"url": "http://127.0.0.1:1"})
        assert answer.status_code == 503
        assert _members(answer)["type"] == TYPE + "peer-unavailable"


class TestValidation:
    async def test_points_at_every_fault(self, admin: httpx.AsyncClient):
        body = {"name": "", "sizes": [1, "two"], "by_place": {"a/b~c": "three"}}
        answer = await admin.post("/things", json=body)
        assert answer.status_code == 422
        pointers = {fault["pointer"] for fault in _members(answer)["errors"]}
        assert pointers == {"/name", "/sizes/1", "/by_place/a~1b~0c"}  # "~1" is "/" and "~0" is "~" in RFC 6901

    async def test_points_at_a_field_that_is_missing(self, admin: httpx.AsyncClient):
        answer = await admin.post("/things", json={"sizes": [1]})
        assert [fault["pointer"] for fault in _members(answer)["errors"]] == ["/name"]

    async def test_a_missing_body_is_a_fault_of_the_whole(self, admin: httpx.AsyncClient):
        answer = await admin.post("/things")
        assert answer.status_code == 422
        assert [fault["pointer"] for fault in _members(answer)["errors"]] == [""]  # RFC 6901: the whole document

    @pytest.mark.parametrize(("faults", "further", "end"), [(20, 0, "/sizes/9."), (25, 5, ", and 5 more.")])
    async def test_twenty_faults_are_named_and_the_others_counted(
        self, admin: httpx.AsyncClient, faults: int, further: int, end: str
    ):
        body = _members(await admin.post("/things", json={"name": "one", "sizes": ["x"] * faults}))
        assert [fault["pointer"] for fault in body["errors"]] == [f"/sizes/{number}" for number in range(20)]
        assert body["further_errors"] == further
        assert body["detail"].endswith(end)

    @pytest.mark.parametrize(("length", "shown"), [(200, 200), (201, 201)])
    async def test_a_pointer_shows_two_hundred_characters(self, admin: httpx.AsyncClient, length: int, shown: int):
        name = "x" * (length - len("/by_place/"))
        (fault,) = _members(await admin.post("/things", json={"name": "one", "by_place": {name: "two"}}))["errors"]
        assert len(fault["pointer"]) == shown
        assert fault["pointer"].endswith("…") is (length > 200)

    async def test_a_bad_parameter_is_named(self, admin: httpx.AsyncClient):
        answer = await admin.get("/things", params={"limit": 0})
        assert [fault["parameter"] for fault in _members(answer)["errors"]] == ["limit"]

    @pytest.mark.parametrize("body", [b'{"name": ', b"\xff\xfe", b"[" * 15, b"{'name': 'one'}"])
    async def test_malformed_json_is_answered_400(self, admin: httpx.AsyncClient, body: bytes):
        answer = await admin.post("/things", content=body, headers=JSON)
        assert answer.status_code == 400
        assert _members(answer)["type"] == TYPE + "malformed-json"


class TestFramework:
    async def test_an_unknown_path_is_a_problem(self, admin: httpx.AsyncClient):
        answer = await admin.get("/nowhere")
        assert answer.status_code == 404
        assert _members(answer)["type"] == TYPE + "not-found"

    async def test_an_unknown_method_is_a_problem_that_names_the_known(self, admin: httpx.AsyncClient):
        answer = await admin.delete("/things")
        assert answer.status_code == 405
        assert _members(answer)["type"] == TYPE + "method-not-allowed"
        assert answer.headers["allow"] in {"GET", "POST", "PUT"}

    async def test_what_nobody_foresaw_keeps_its_words_to_itself(self, admin: httpx.AsyncClient):
        answer = await admin.get("/failing/unforeseen")
        assert answer.status_code == 500
        assert _members(answer)["type"] == TYPE + "internal-error"
        assert "secret" not in answer.text


class TestBodyLimit:
    @pytest.mark.parametrize("announced", [True, False])
    async def test_a_body_too_large_is_refused(self, admin: httpx.AsyncClient, announced: bool):
        async def pieces():
            for _ in range(64):
                yield b" " * 64

        answer = await admin.post("/things", content=b" " * 4096 if announced else pieces(), headers=JSON)
        assert answer.status_code == 413
        assert _members(answer)["type"] == TYPE + "body-too-large"
        assert "2048 bytes" in answer.json()["detail"]

    @pytest.mark.parametrize(("size", "status"), [(2048, 201), (2049, 413)])
    async def test_the_limit_is_exact(self, admin: httpx.AsyncClient, size: int, status: int):
        content = b'{"name": "one"}'.ljust(size)
        assert (await admin.post("/things", content=content, headers=JSON)).status_code == status


class TestDatabase:
    async def test_one_that_was_never_there_is_503(self):
        settings = ServiceSettings(database_url=SecretStr("postgresql://nobody:hunter2@127.0.0.1:1/none"))
        app = build_service("lost", summary="", settings=settings, routers=[])
        async with served(app, bind("127.0.0.1", 0)) as url, httpx.AsyncClient(base_url=url, trust_env=False) as client:
            ready, alive = await client.get("/readyz"), await client.get("/healthz")
        assert ready.status_code == 503
        assert _members(ready)["type"] == TYPE + "database-unavailable"
        assert ready.headers["retry-after"] == "1"
        assert "127.0.0.1" not in ready.text
        assert alive.status_code == 200

    async def test_one_that_goes_away_is_503_until_it_is_back(
        self, edge: Edge, admin: httpx.AsyncClient, cluster: PostgresServer
    ):
        assert (await admin.get("/things")).status_code == 200
        name = edge.owner_url.rpartition("/")[2]
        allow = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
        async with await psycopg.AsyncConnection.connect(cluster.admin_url, autocommit=True) as root:
            await root.execute(allow.format(sql.Identifier(name), False))
            ending = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s"
            await root.execute(ending, [name])
            away = await admin.get("/things")
            await root.execute(allow.format(sql.Identifier(name), True))
        assert away.status_code == 503
        assert _members(away)["type"] == TYPE + "database-unavailable"
        assert (await admin.get("/things")).status_code == 200


class TestCors:
    @pytest.mark.parametrize("path", ["/healthz", "/things", "/failing/conflict", "/failing/unforeseen", "/nowhere"])
    async def test_only_listed_origins_may_read_answers_and_errors(self, admin: httpx.AsyncClient, path: str):
        listed = await admin.get(path, headers={"Origin": "https://frontend.example"})
        other = await admin.get(path, headers={"Origin": "https://elsewhere.example"})
        assert listed.headers["access-control-allow-origin"] == "https://frontend.example"
        assert "access-control-allow-origin" not in other.headers

    async def test_a_frontend_is_asked_before_it_sends_its_key(self, admin: httpx.AsyncClient):
        preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
        listed = await admin.options("/things", headers=preflight | {"Origin": "https://frontend.example"})
        other = await admin.options("/things", headers=preflight | {"Origin": "https://elsewhere.example"})
        assert listed.status_code == 200
        assert "authorization" in listed.headers["access-control-allow-headers"].lower()
        assert other.status_code == 400
        assert "access-control-allow-origin" not in other.headers

    async def test_a_frontend_may_read_how_long_to_wait(self, admin: httpx.AsyncClient):
        answer = await admin.get("/things", headers={"Origin": "https://frontend.example"})
        exposed = {name.strip() for name in answer.headers["access-control-expose-headers"].split(",")}
        assert exposed >= {"Retry-After", "RateLimit", "X-Request-Id"}
