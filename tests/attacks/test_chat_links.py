"""What one person can do with a public chat link: made-up people, streams without end, ids in exports."""

import asyncio
import hashlib
import hmac
import json
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import httpx
import pytest

from spotthebot.kit.web.core.new_people import NewPeople
from spotthebot.web.streams import OpenStreams
from tests.factories.frontends import open_chats, rate, ratings, start, talk, two_bots
from tests.factories.pages import entry_of
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "web")


@pytest.fixture(autouse=True)
def _new_limits(suite: RunningSuite) -> None:
    """Forget who came in earlier tests, and let no time pass, however slow the machine is."""
    state = suite.apps["conversations"].state
    new_people = NewPeople(state.core.settings, clock=lambda: 0.0)
    state.resources = replace(state.resources, new_people=new_people)


@asynccontextmanager
async def browser(suite: RunningSuite) -> AsyncIterator[httpx.AsyncClient]:
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=suite.urls["web"], trust_env=False, timeout=30, limits=limits) as client:
        client.headers["Accept"] = "text/html"
        yield client


async def begin(suite: RunningSuite, study: str, path: str) -> int:
    """Come by a link in a new browser and begin a chat; return the last status."""
    async with browser(suite) as client:
        entry = await client.get(path)
        if entry.status_code != 303:
            return entry.status_code
        answer = await client.post(f"/chat/{study}/begin")
        assert "Retry-After" in answer.headers or answer.status_code != 429
        return answer.status_code


class TestMadeUpPeople:
    async def test_from_one_address_are_few_a_minute(self, suite: RunningSuite):
        study = await open_chats(suite, await two_bots(suite))
        link = entry_of(suite, study, parameter="person", most=100)
        for _ in range(2):
            statuses = [await begin(suite, study, f"{link}&person=p{number}") for number in range(7)]
            assert statuses == [303] * 5 + [429] * 2
        alone = entry_of(suite, study, interactor="by name")
        assert await begin(suite, study, alone) == 303, "a link for one person lets nobody make up others"

    async def test_are_no_more_than_the_link_is_for_and_are_counted(self, suite: RunningSuite):
        study = await open_chats(suite, await two_bots(suite))
        link = entry_of(suite, study, parameter="person", most=2)
        statuses = [await begin(suite, study, f"{link}&person=p{number}") for number in (0, 1, 2, 0)]
        assert statuses == [303, 303, 409, 303]
        admin = await suite.client("conversations", "admin")
        (listed,) = (await admin.get(f"/v1/collections/{study}/chat-links")).json()["links"]
        assert (listed["people"], listed["chats"], listed["revoked_at"]) == (2, 2, None)
        await created(admin, f"/v1/collections/{study}/revoked-links", {"link": listed["link"]})
        await created(admin, f"/v1/collections/{study}/revoked-links", {"link": "unused"})
        links = (await admin.get(f"/v1/collections/{study}/chat-links")).json()["links"]
        assert [(each["people"], each["revoked_at"] is None) for each in links] == [(2, False), (0, False)]
        analyst = await suite.client("conversations", "analyst")
        assert (await analyst.get(f"/v1/collections/{study}/chat-links")).status_code == 403

    async def test_are_refused_by_a_link_whose_panel_signs_ids(self, suite: RunningSuite):
        study = await open_chats(suite, await two_bots(suite))
        link = entry_of(suite, study, parameter="person", most=100, key="k" * 64)
        signature = hmac.new(b"k" * 64, b"p0", hashlib.sha256).hexdigest()
        assert await begin(suite, study, f"{link}&person=p0&id_signature={signature}") == 303
        for query in ("person=p1", f"person=p1&id_signature={signature}", "person=p0&id_signature=%C3%BC"):
            assert await begin(suite, study, f"{link}&{query}") == 403


class TestStreams:
    async def test_are_limited_by_person_by_link_and_in_all_and_leave_nothing_behind(self, suite: RunningSuite):
        web, chat_watch = suite.apps["web"].state, suite.apps["conversations"].state.resources.chat_watch
        small = {"chat_streams_per_person": 2, "chat_streams_per_link": 3, "chat_streams": 4}
        open_streams = OpenStreams(web.core.settings.model_copy(update=small))
        web.resources = replace(web.resources, streams=open_streams)
        study = await open_chats(suite, await two_bots(suite))
        links = [entry_of(suite, study, parameter="person", most=100, code=code) for code in "ab"]
        async with AsyncExitStack() as stack:
            clients = []
            for number, link in enumerate((links[0], links[0], links[1], links[1])):
                client = await stack.enter_async_context(browser(suite))
                assert (await client.get(f"{link}&person=p{number}")).status_code == 303
                assert (await client.post(f"/chat/{study}/begin")).status_code == 303
                clients.append(client)
            streams = AsyncExitStack()

            async def listen(client: httpx.AsyncClient) -> int:
                stream = client.stream("GET", f"/chat/{study}/events", headers={"Accept": "text/event-stream"})
                answer = await streams.enter_async_context(stream)
                if answer.status_code == 429:
                    assert int(answer.headers["Retry-After"]) > 0
                return answer.status_code

            async with streams:
                mine, other, third, fourth = clients
                assert [await listen(mine) for _ in range(4)] == [200, 200, 429, 429]
                assert [await listen(other) for _ in range(2)] == [200, 429]
                assert [await listen(third), await listen(fourth)] == [200, 429]
                assert len(open_streams) == 4
                assert (await mine.get(f"/chat/{study}/state")).status_code == 200
                assert (await fourth.get(f"/chat/{study}")).status_code == 200

            async with asyncio.timeout(30):
                while len(open_streams) or len(chat_watch):
                    await asyncio.sleep(0.05)
            async with streams:
                assert await listen(mine) == 200


class TestExports:
    async def test_call_people_by_pseudonyms_as_answers_do(self, suite: RunningSuite):
        person = "5f8d0a1b2c3d4e5f6a7b8c9d"
        study = await open_chats(suite, await two_bots(suite))
        chat = await start(suite, study, person)
        await talk(suite, chat)
        assert (await rate(suite, chat, ratings(1, 2, preferred=2))).status_code == 200
        admin, analyst = [await suite.client("conversations", role) for role in ("admin", "analyst")]
        paths = [f"/v1/collections/{study}/{name}" for name in ("export", "ratings", "chats")]
        shown = [(await analyst.get(path)).text for path in (*paths, f"{paths[0]}?format=csv")]
        assert not any(person in text for text in shown)
        (pseudonym,) = {name for text in shown for name in re.findall(r"p-[0-9a-v]{26}", text)}
        rated = [json.loads(line)["rating"]["interactor"] for line in shown[0].splitlines()]
        assert rated == [pseudonym] * 2
        assert (await analyst.get(f"{paths[0]}?people=ids")).status_code == 403
        assert person in (await admin.get(f"{paths[0]}?people=ids")).text
        assert person not in (await admin.get(paths[0])).text
        (own,) = (await admin.get(paths[2])).json()["items"]
        assert (own["interactor"], own["person"]) == (pseudonym, person)
        (other,) = (await analyst.get(paths[2])).json()["items"]
        assert (other["interactor"], other["person"]) == (pseudonym, None)
