"""The JSON of requests under way: limited by caller and in all, and given back with the answer."""

import asyncio
import json

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from pydantic import BaseModel

from spotthebot.kit.settings import EdgeSettings
from spotthebot.kit.web.core.application import build_application
from spotthebot.kit.web.core.bytes_under_way import BytesUnderWay, NoRoomForBodies, TooManyBytesUnderWay
from spotthebot.kit.web.core.routes import CheckedRoute

pytestmark = pytest.mark.usefixtures("no_services")


class TestBytesUnderWay:
    def test_refuses_a_caller_that_holds_too_much_and_no_other(self):
        under_way = BytesUnderWay(in_all=100, by_caller=10)
        with under_way.held("a", 6, is_ours=False):
            with pytest.raises(TooManyBytesUnderWay), under_way.held("a", 5, is_ours=False):
                pass
            with under_way.held("a", 4, is_ours=False), under_way.held("b", 10, is_ours=False):
                pass

    def test_takes_a_large_body_that_comes_alone(self):
        under_way = BytesUnderWay(in_all=10, by_caller=5)
        with under_way.held("a", 50, is_ours=False) as held:
            held.add_values(b"[1, 2]")
            with pytest.raises(NoRoomForBodies), under_way.held("b", 1, is_ours=False):
                pass

    def test_counts_services_of_our_own_and_refuses_them_nothing(self):
        under_way = BytesUnderWay(in_all=10, by_caller=5)
        with (
            under_way.held("ours", 20, is_ours=True),
            under_way.held("ours", 20, is_ours=True),
            pytest.raises(NoRoomForBodies),
            under_way.held("a", 1, is_ours=False),
        ):
            pass

    def test_gives_everything_back(self):
        under_way = BytesUnderWay(in_all=10, by_caller=10)
        for _ in range(3):
            with (
                under_way.held("a", 9, is_ours=False),
                pytest.raises(TooManyBytesUnderWay),
                under_way.held("a", 9, is_ours=False),
            ):
                pass

    def test_counts_values_besides_bytes(self):
        """An empty list is two bytes of JSON and 56 of memory, and eight more where it stands in another."""
        under_way = BytesUnderWay(in_all=1000, by_caller=1000)
        with (
            under_way.held("a", 10, is_ours=False),
            under_way.held("a", 10, is_ours=False) as held,
            pytest.raises(TooManyBytesUnderWay),
        ):
            held.add_values(b"[" + b"[]," * 100 + b"[]]")


class _Texts(BaseModel):
    texts: list[str]


def _app(waiting: asyncio.Event) -> FastAPI:
    router = APIRouter(route_class=CheckedRoute)

    @router.post("/texts")
    async def take(request: _Texts) -> int:
        await waiting.wait()
        return len(request.texts)

    settings = EdgeSettings(max_json_bytes_under_way_per_caller=10_000, max_body_bytes=20_000)
    return build_application("tests", summary="", settings=settings, routers=[router])


class TestRequests:
    @pytest.mark.parametrize("chunked", [False, True])
    async def test_beyond_the_limit_are_refused_until_an_answer_is_given(self, *, chunked: bool):
        answer_now = asyncio.Event()
        body = json.dumps({"texts": ["a" * 8000]}).encode()

        async def chunks():
            yield body

        transport = httpx.ASGITransport(_app(answer_now))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:

            async def send() -> httpx.Response:
                headers = {"Content-Type": "application/json"}
                return await client.post("/texts", content=chunks() if chunked else body, headers=headers)

            first = asyncio.create_task(send())
            await asyncio.sleep(0.05)
            refused = await send()
            answer_now.set()
            assert (await first).status_code == 200
            assert (await send()).status_code == 200
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert refused.json()["type"] == "urn:spotthebot:problem:too-many-bytes-under-way"
