"""Pages while no service answers, and forms that are far too large: the application alone, in this process.

A service that was stopped by a signal is one that takes connections and never answers: the kernel accepts them.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import httpx
import pytest
from cryptography.fernet import Fernet
from fastapi import FastAPI
from starlette.responses import Response

from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.kit.web.sessions.sealed_cookie import SealedCookie
from spotthebot.web.app import create_app
from spotthebot.web.chats.domain import ChatPerson
from spotthebot.web.sessions import VisitorResources
from spotthebot.web.settings import WebSettings
from spotthebot.web.visitors.domain import Annotator, SignedIn
from tests.factories.bot_servers import never_answers, raw_server

ANY = UUID(int=1)
PIECE = b"name=" + 65_531 * b"x"
PIECES = 30 * 1024 * 1024 // len(PIECE)
SERVICE_SECONDS = 0.3
PLACES = {"position": "0", "version": "1", "name": "first_steps", "rows": "values", "kind": "payments", "form": "csv"}
MULTIPART = b'--x\r\nContent-Disposition: form-data; name="file"; filename="t.json"\r\n\r\n'
OPEN = {"/sign-in", "/sign-out", "/language"}
GROUPS = {
    "/admin/campaigns": "admin",
    "/admin/campaigns/new": "admin",
    f"/admin/campaigns/{ANY}": "admin",
    f"/admin/campaigns/{ANY}/close": "admin",
    f"/admin/campaigns/{ANY}/annotators": "admin",
    f"/admin/campaigns/{ANY}/annotators/{ANY}": "admin",
    f"/admin/campaigns/{ANY}/payments": "admin",
    f"/admin/campaigns/{ANY}/payments/bonuses.csv": "admin",
    f"/admin/campaigns/{ANY}/export/values.csv": "admin",
    f"/admin/campaigns/{ANY}/audit": "admin",
    "/admin/trainings": "admin",
    f"/admin/collections/{ANY}": "admin",
    f"/admin/collections/{ANY}/payments": "admin",
    f"/admin/collections/{ANY}/payments/bonuses.csv": "admin",
    f"/chats/{ANY}/links": "admin",
    "/bots": "team",
    f"/bots/{ANY}": "team",
    f"/bots/{ANY}/conversations": "team",
    "/bots/standings": "team",
    "/campaigns": "analyst",
    f"/campaigns/{ANY}": "analyst",
    f"/conversations/{ANY}": "analyst",
    f"/conversations/{ANY}/{ANY}": "analyst",
    "/leaderboard": "",
    f"/annotate/{ANY}": "annotator",
    f"/chat/{ANY}": "person",
}


@pytest.fixture(scope="module")
async def app() -> AsyncIterator[FastAPI]:
    """The pages, before services that never answer."""
    async with raw_server(never_answers) as url:
        services = {f"{name}_url": url for name in ("bots", "conversations", "annotation", "analytics", "fed")}
        settings: dict[str, Any] = services | {"annotation_key": "stb_annotation_x", "service_seconds": SERVICE_SECONDS}
        app = create_app(WebSettings(**settings, sessions_key=Fernet.generate_key().decode()))
        async with app.router.lifespan_context(app):
            yield app


@pytest.fixture(scope="module")
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://pages", timeout=30) as client:
        client.headers["Accept"] = "text/html"
        yield client


def _cookies(app: FastAPI, who: str) -> dict[str, str]:
    """Return the cookies of somebody who came in."""
    visitors: VisitorResources = app.state.resources.visitors
    of: Mapping[str, tuple[SealedCookie, dict[str, str]]] = {
        "annotator": (visitors.annotator_sessions, Annotator(ANY, "ann", ANY).to_session()),
        "person": (
            visitors.chat_sessions,
            ChatPerson(ANY, "p-17", "link", datetime.now(UTC), chat_id=ANY).to_session(),
        ),
    }
    if not who:
        return {}
    cookie, content = of.get(who) or (visitors.sessions, SignedIn("key", who).to_session())
    response = Response()
    cookie.write(response, content)
    name, _, value = response.headers["set-cookie"].partition(";")[0].partition("=")
    return {name: value}


def _fill(places: Mapping[str, str], place: re.Match[str]) -> str:
    return places.get(place[1], str(ANY))


def _changes(app: FastAPI) -> list[tuple[str, str, str]]:
    """Return every request of the pages that changes something: who may send it, its method and its path."""
    found = []
    for route in app.routes:
        if not isinstance(route, PageRoute):
            continue
        path = re.sub(r"\{(\w+)(?::\w+)?\}", r"{\1}", route.path)
        action = "block" if "/annotators/" in path else "close" if "/campaigns/" in path else "cancel"
        places = PLACES | {"action": action}
        filled = re.sub(r"\{(\w+)\}", partial(_fill, places), path)
        starts = {"/annotate/": "annotator", "/chat/": "person"}
        who = next((each for start, each in starts.items() if path.startswith(start)), "admin")
        if not path.endswith("/probe"):  # which has no form, and waits for a bot as long as a probe may take
            found += [(who, method, filled) for method in (route.methods or set()) & {"POST", "PUT"}]
    assert len(found) > 30
    return found


FILES = ("/admin/trainings", "/admin/partner-sets", "/admin/collections/table")


async def _send_much(client: httpx.AsyncClient, method: str, path: str, cookies: dict[str, str]) -> tuple[int, int]:
    """Send 30 MB without saying so before; returns the status, and how many bytes were read."""
    has_file = path in FILES
    read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal read
        for number in range(PIECES):
            read += len(PIECE)
            yield MULTIPART + PIECE if has_file and not number else PIECE

    kind = "multipart/form-data; boundary=x" if has_file else "application/x-www-form-urlencoded"
    headers = {"Content-Type": kind}
    cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
    answer = await client.request(method, path, content=body(), headers=headers | {"Cookie": cookie})
    return answer.status_code, read


class TestLargeForms:
    async def test_are_refused_as_soon_as_they_are_larger_than_the_form_allows(
        self, app: FastAPI, client: httpx.AsyncClient
    ):
        largest = dict.fromkeys(FILES, 4 * 1024 * 1024 + 64 * 1024)
        wrong = {}
        for who, method, path in _changes(app):
            status, read = await _send_much(client, method, path, _cookies(app, who))
            limit = largest.get(path, app.state.core.settings.max_body_bytes) + 2 * len(PIECE)
            if not (status == 413 and read <= limit) and (status, read) not in {(303, 0), (503, 0)}:
                wrong[f"{method} {path}"] = status, read
        assert wrong == {}

    async def test_forms_of_strangers_are_not_read_at_all(self, app: FastAPI, client: httpx.AsyncClient):
        read = {path: await _send_much(client, method, path, {}) for _, method, path in _changes(app)}
        guarded = {path: found for path, found in read.items() if path not in OPEN}
        assert {status for status, _ in guarded.values()} == {401}
        assert {path: found for path, found in guarded.items() if found[1]} == {}
        assert {status for path, (status, _) in read.items() if path in OPEN} <= {303, 413}


class TestServicesThatHang:
    async def test_leave_every_group_of_pages_with_an_answer_in_time(self, app: FastAPI, client: httpx.AsyncClient):
        async def asked(path: str, who: str) -> tuple[int, str]:
            cookie = "; ".join(f"{name}={value}" for name, value in _cookies(app, who).items())
            async with asyncio.timeout(20):  # a second each where nothing else runs
                answer = await client.get(path, headers={"Cookie": cookie})
            heading = re.search(r"<h1>(.*?)</h1>", answer.text, re.DOTALL)
            return answer.status_code, heading[1] if heading else ""

        found = await asyncio.gather(*(asked(*each) for each in GROUPS.items()))
        assert dict(zip(GROUPS, found, strict=True)) == dict.fromkeys(GROUPS, (503, "Not there at the moment"))

    async def test_are_named_on_the_overview(self, app: FastAPI, client: httpx.AsyncClient):
        ((name, value),) = _cookies(app, "admin").items()
        overview = await client.get("/admin", headers={"Cookie": f"{name}={value}"})
        assert overview.status_code == 200
        assert overview.text.count(">not ready</span>") == 5
        assert "The service annotation does not answer." in overview.text
