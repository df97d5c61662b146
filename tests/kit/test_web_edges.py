"""The edge of an application at its bounds, without a server, a database or waiting."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
import structlog
from fastapi import APIRouter, FastAPI, Request
from httpx import ASGITransport
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from spotthebot.kit.ids import new_ids
from spotthebot.kit.settings import EdgeSettings
from spotthebot.kit.web.core import disk, requests
from spotthebot.kit.web.core.application import build_application
from spotthebot.kit.web.core.bodies import BodyLimits, LimitedRequest
from spotthebot.kit.web.core.disk import DiskPart, NoRoomOnDisk
from spotthebot.kit.web.core.metrics import RequestMetrics
from spotthebot.kit.web.core.parts import Part
from spotthebot.kit.web.core.problems import ProblemDetails
from spotthebot.kit.web.core.requests import RequestContext
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.core.streams import stream

pytestmark = pytest.mark.usefixtures("no_services")

router = APIRouter(route_class=CheckedRoute)


@router.put("/files")
async def upload(request: Request) -> int:
    return len(await request.body())


@router.post("/lists")
async def create_list(items: list[int]) -> int:
    return len(items)


def _application(*parts: Part) -> FastAPI:
    return build_application("edges", summary="", settings=EdgeSettings(), routers=[router], parts=parts)


@asynccontextmanager
async def _client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=ASGITransport(app), base_url="http://test") as client:
        yield client


class _Checked(Part):
    """Counts how often it is asked whether it is ready, and answers when it is let."""

    def __init__(self) -> None:
        self.checks = 0
        self.answers = asyncio.Event()

    async def check_ready(self) -> None:
        self.checks += 1
        await self.answers.wait()


class TestReadiness:
    async def test_is_checked_once_for_all_who_ask_meanwhile_and_again_for_who_asks_later(self):
        part = _Checked()
        async with _client(_application(part)) as client:
            asking = [asyncio.create_task(client.get("/readyz")) for _ in range(3)]
            for _ in range(50):
                await asyncio.sleep(0)
            assert part.checks == 1
            part.answers.set()
            assert [answer.status_code for answer in await asyncio.gather(*asking)] == [200] * 3
            assert (await client.get("/readyz")).status_code == 200
        assert part.checks == 2

    @pytest.mark.parametrize(("free", "is_ready"), [(63, False), (64, True)])
    async def test_needs_as_much_room_on_disks_as_the_setting_says(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int, is_ready: bool
    ):
        class Settings(EdgeSettings):
            folder: Path
            file: Path

        asked: set[Path] = set()

        def free_mebibytes(folder: Path) -> int:
            asked.add(folder)
            return free

        monkeypatch.setattr(disk, "free_mebibytes", free_mebibytes)
        monkeypatch.setattr("tempfile.gettempdir", lambda: "/somewhere")
        part = DiskPart(Settings(folder=tmp_path, file=tmp_path / "b" / "key", min_free_disk_mb=64))
        if is_ready:
            await part.check_ready()
            assert asked == {Path("/somewhere"), tmp_path, tmp_path / "b"}
        else:
            with pytest.raises(NoRoomOnDisk, match="has 63 MiB left, and needs 64"):
                await part.check_ready()


class TestBodies:
    @pytest.mark.parametrize(("parts", "is_taken"), [((4, 6), True), ((4, 7), False), ((11,), False)])
    async def test_are_read_up_to_the_limit_where_they_announce_no_length(self, parts: Sequence[int], is_taken: bool):
        messages: list[Message] = [{"type": "http.request", "body": size * b"x", "more_body": True} for size in parts]
        messages.append({"type": "http.request", "body": b"", "more_body": False})

        async def receive() -> Message:
            return messages.pop(0)

        scope: Scope = {"type": "http", "headers": [], "app": _application()}
        request = LimitedRequest(Request(scope, receive), BodyLimits.declared({"x-max-body-bytes": 10}))
        if is_taken:
            assert await request.body() == sum(parts) * b"x"
        else:
            with pytest.raises(HTTPException, match="may hold 10 bytes at most"):
                await request.body()

    @pytest.mark.parametrize(("announced", "is_taken"), [("10", True), ("11", False), ("ten", True)])
    def test_are_not_read_where_they_announce_more_than_the_limit(self, announced: str, is_taken: bool):
        headers = [(b"content-length", announced.encode())]
        request = Request({"type": "http", "headers": headers, "app": _application()})
        limits = BodyLimits.declared({"x-max-body-bytes": 10})
        if is_taken:
            LimitedRequest(request, limits)
        else:
            with pytest.raises(HTTPException, match="may hold 10 bytes at most"):
                LimitedRequest(request, limits)

    async def test_may_be_any_bytes_where_a_route_takes_a_file(self):
        content = b"[" + 30_000 * b"," + b"]"  # more values than JSON may hold
        async with _client(_application()) as client:
            assert (await client.put("/files", content=content)).json() == len(content)
            refused = await client.post("/lists", content=content, headers={"Content-Type": "application/json"})
        assert (refused.status_code, refused.json()["errors"][0]["detail"][:24]) == (422, "The JSON may hold 20,000")

    async def test_may_break_off_without_a_fault_of_ours(self):
        messages: list[Message] = [{"type": "http.request", "body": b"[", "more_body": True}]
        sent: list[Message] = []

        async def receive() -> Message:
            return messages.pop() if messages else {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)

        scope: Scope = {
            "type": "http",
            "method": "PUT",
            "scheme": "http",
            "server": ("test", 80),
            "path": "/files",
            "query_string": b"",
            "headers": [(b"transfer-encoding", b"chunked")],
        }
        with structlog.testing.capture_logs() as lines:
            await _application()(scope, receive, send)
        assert [message["status"] for message in sent if message["type"] == "http.response.start"] == [400]
        assert lines == []


class TestContext:
    async def test_is_logged_and_measured_and_then_forgotten(self, monkeypatch: pytest.MonkeyPatch):
        logged: list[Mapping[str, Any]] = []
        seconds = iter([1.0, 1.25])
        monkeypatch.setattr(requests, "log_request", lambda **line: logged.append(line))
        metrics = RequestMetrics("edges")

        async def answer(_scope: Scope, _receive: Receive, send: Send) -> None:
            monkeypatch.setattr(time, "perf_counter", lambda: next(seconds))
            await send({"type": "http.response.start", "status": 204})

        async def send(_message: Message) -> None:
            assert "request_id" in structlog.contextvars.get_contextvars()

        context = RequestContext(answer, metrics=metrics, error_responses=ProblemDetails())
        monkeypatch.setattr(time, "perf_counter", lambda: next(seconds))
        scope: Scope = {"type": "http", "method": "GET", "path": "/a", "headers": []}
        await context(scope, lambda: asyncio.sleep(0, {}), send)
        (line,) = logged
        assert (line["status"], line["milliseconds"], line["caller"]) == (204, 250.0, None)
        assert not {"request_id", "trace_id"} & set(structlog.contextvars.get_contextvars())
        lines = metrics.render().decode()
        assert 'http_requests_total{method="GET",route="unmatched",service="edges",status="204"} 1.0' in lines
        assert 'http_request_duration_seconds_sum{method="GET",route="unmatched",service="edges"} 0.25' in lines

    async def test_breaks_an_answer_off_after_its_head_where_an_error_is_raised(self):
        sent: list[Message] = []

        async def fail(_scope: Scope, _receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": 200})
            raise ZeroDivisionError

        async def send(message: Message) -> None:
            sent.append(message)

        context = RequestContext(fail, metrics=RequestMetrics("edges"), error_responses=ProblemDetails())
        scope: Scope = {"type": "http", "method": "GET", "path": "/a", "headers": []}
        with pytest.raises(ZeroDivisionError):
            await context(scope, lambda: asyncio.sleep(0, {}), send)
        assert [message["type"] for message in sent] == ["http.response.start"]


class _Row(BaseModel):
    id: UUID
    number: int


class _Rows:
    """Rows that are read without a database."""

    @asynccontextmanager
    async def read(self) -> AsyncIterator[list[_Row]]:
        yield [_Row(id=each, number=number) for number, each in enumerate(new_ids(7))]


async def test_a_stream_leaves_out_the_rows_that_are_not_sent_and_goes_on_after_them():
    rows: list[_Row] = []

    async def fetch(read: list[_Row], after: UUID | None, limit: int) -> list[_Row]:
        assert limit == 500
        rows[:] = rows or read
        return [row for row in rows if after is None or row.id > after][:2]

    answer = stream(
        _Rows(), fetch, key=lambda row: row.id, to_out=lambda row: row, is_sent=lambda row: row.number not in {2, 3, 6}
    )
    sent = "".join([str(part) async for part in answer.body_iterator])
    assert [_Row.model_validate_json(line).number for line in sent.splitlines()] == [0, 1, 4, 5]
