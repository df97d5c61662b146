import httpx
import pytest
from fastapi import FastAPI, Request
from httpx import ASGITransport

from spotthebot.kit.web.core.caching import revalidated

app = FastAPI()


@app.get("/{text}")
async def read(request: Request, text: str):
    return revalidated(request, text.encode(), "text/plain")


@pytest.fixture
async def client():
    async with httpx.AsyncClient(transport=ASGITransport(app), base_url="http://test") as client:
        yield client


class TestRevalidated:
    async def test_equal_bodies_have_equal_tags_and_others_others(self, client: httpx.AsyncClient):
        first, again, other = [await client.get(f"/{text}") for text in ("a", "a", "b")]
        assert (first.status_code, first.text) == (200, "a")
        assert first.headers["ETag"] == again.headers["ETag"] != other.headers["ETag"]

    @pytest.mark.parametrize("form", ["{}", "W/{}", '"else", {}', "*"])
    async def test_a_caller_with_the_same_body_gets_304_without_it(self, client: httpx.AsyncClient, form: str):
        tag = (await client.get("/a")).headers["ETag"]
        answer = await client.get("/a", headers={"If-None-Match": form.format(tag)})
        assert (answer.status_code, answer.content, answer.headers["ETag"]) == (304, b"", tag)

    async def test_a_caller_with_another_body_gets_the_present_one(self, client: httpx.AsyncClient):
        answer = await client.get("/a", headers={"If-None-Match": (await client.get("/b")).headers["ETag"]})
        assert (answer.status_code, answer.text) == (200, "a")
