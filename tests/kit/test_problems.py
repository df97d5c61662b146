import httpx
import pytest
from pydantic import SecretStr

from spotthebot.kit.settings import ServiceSettings
from spotthebot.kit.web.application import build_application
from spotthebot.suite.supervision.sockets import bind
from tests.factories.house import served

MEMBERS = {"type", "title", "status", "detail", "instance", "errors"}


class TestProblems:
    @pytest.mark.parametrize(
        ("family", "status"),
        [
            ("invalid", 422),
            ("forbidden", 403),
            ("missing", 404),
            ("conflict", 409),
            ("many", 429),
            ("unavailable", 503),
        ],
    )
    async def test_each_family_has_its_status(self, admin: httpx.AsyncClient, family: str, status: int):
        answer = await admin.get(f"/failing/{family}")
        body = answer.json()
        assert answer.status_code == body["status"] == status
        assert answer.headers["content-type"] == "application/problem+json"
        assert set(body) == MEMBERS
        assert body["instance"] == f"/failing/{family}"
        assert body["type"].startswith("urn:spotthebot:problem:")

    async def test_field_errors_point_into_the_body(self, admin: httpx.AsyncClient):
        (fault,) = (await admin.get("/failing/invalid")).json()["errors"]
        assert fault == {"pointer": "/a/0", "parameter": None, "detail": "is odd"}

    async def test_validation_points_at_every_fault(self, admin: httpx.AsyncClient):
        answer = await admin.post("/things", json={"name": "", "sizes": [1, "two"]})
        assert answer.status_code == 422
        assert {fault["pointer"] for fault in answer.json()["errors"]} == {"/name", "/sizes/1"}

    async def test_a_bad_parameter_is_named(self, admin: httpx.AsyncClient):
        answer = await admin.get("/things", params={"limit": 0})
        assert [fault["parameter"] for fault in answer.json()["errors"]] == ["limit"]

    @pytest.mark.parametrize("body", [b'{"name": ', b"\xff\xfe", b"[" * 1500])
    async def test_malformed_json_is_answered_400(self, admin: httpx.AsyncClient, body: bytes):
        answer = await admin.post("/things", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 400
        assert answer.json()["type"] == "urn:spotthebot:problem:malformed-json"

    async def test_unknown_paths_and_methods_are_problems_too(self, admin: httpx.AsyncClient):
        assert (await admin.get("/nowhere")).json()["status"] == 404
        assert (await admin.delete("/things")).json()["status"] == 405

    async def test_what_nobody_foresaw_keeps_its_words_to_itself(self, admin: httpx.AsyncClient):
        answer = await admin.get("/failing/unforeseen")
        assert answer.status_code == 500
        assert set(answer.json()) == MEMBERS
        assert "secret" not in answer.text

    async def test_waiting_is_said_in_a_header(self, admin: httpx.AsyncClient):
        assert (await admin.get("/failing/many")).headers["retry-after"] == "7"

    @pytest.mark.parametrize("announced", [True, False])
    async def test_a_body_too_large_is_refused(self, admin: httpx.AsyncClient, announced: bool):
        async def pieces():
            for _ in range(64):
                yield b" " * 64

        content = b" " * 4096 if announced else pieces()
        answer = await admin.post("/things", content=content, headers={"Content-Type": "application/json"})
        assert answer.status_code == 413
        assert "2048 bytes" in answer.json()["detail"]

    async def test_a_database_that_does_not_answer_is_503(self):
        settings = ServiceSettings(database_url=SecretStr("postgresql://nobody:x@127.0.0.1:1/none"))
        app = build_application("lost", summary="", settings=settings, routers=[])
        async with served(app, bind("127.0.0.1", 0)) as url, httpx.AsyncClient(base_url=url, trust_env=False) as client:
            ready, alive = await client.get("/readyz"), await client.get("/healthz")
        assert ready.status_code == 503
        assert ready.headers["content-type"] == "application/problem+json"
        assert alive.status_code == 200


class TestCors:
    async def test_only_listed_origins_are_let_in(self, admin: httpx.AsyncClient):
        listed = await admin.get("/healthz", headers={"Origin": "https://frontend.example"})
        other = await admin.get("/healthz", headers={"Origin": "https://elsewhere.example"})
        assert listed.headers["access-control-allow-origin"] == "https://frontend.example"
        assert "access-control-allow-origin" not in other.headers
