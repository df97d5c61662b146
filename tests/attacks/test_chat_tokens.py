"""What a person's token for a chat opens, and what it does not: other chats, other requests, other sites, logs."""

import asyncio
import hashlib
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import httpx
import psycopg
import pytest

from spotthebot.conversations.chats.use_cases.watch import MAX_LISTENERS
from tests.factories.clock import MovableClock, set_clock
from tests.factories.frontends import answered, open_chats, ratings, start, two_bots
from tests.factories.running_suite import RunningSuite

COOKIE = "spotthebot_chat"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    """The services that chats need."""
    return "bots", "conversations"


async def _chats(suite: RunningSuite, number: int = 1) -> list[dict[str, Any]]:
    study = await open_chats(suite, await two_bots(suite), bots_per_chat=1, minimum_turns=2, maximum_turns=4)
    return [await start(suite, study, f"p{each}") for each in range(number)]


async def _token(suite: RunningSuite, chat: dict[str, Any]) -> str:
    frontend = await suite.client("conversations", "annotation")
    answer = await frontend.put(f"/v1/chats/{chat['id']}/token")
    assert answer.status_code == 200, answer.text
    return answer.json()["token"]


def _person(suite: RunningSuite, token: str | None = None, **more: Any) -> httpx.AsyncClient:
    """A browser of somebody who has no key."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=suite.urls["conversations"], headers=headers, timeout=30, **more)


async def _events(client: httpx.AsyncClient, chat: dict[str, Any], **query: Any) -> tuple[int, str]:
    """Return the status and the text of a stream of events that ends."""
    async with asyncio.timeout(20):
        answer = await client.get(f"/v1/chats/{chat['id']}/events", **query)
    return answer.status_code, answer.text


async def _talk(suite: RunningSuite, chat: dict[str, Any], client: httpx.AsyncClient) -> None:
    for _ in range(2):
        said = await client.post(f"/v1/chats/{chat['id']}/turns", json={"number": 1, "text": "Hello there!"})
        assert said.status_code == 202, said.text
        await answered(suite, chat)


class TestToken:
    async def test_is_enough_for_a_whole_chat(self, suite: RunningSuite):
        (chat,) = await _chats(suite)
        path = f"/v1/chats/{chat['id']}"
        async with _person(suite, await _token(suite, chat)) as person:
            await _talk(suite, chat, person)
            assert (await person.get(path)).json()["state"] == "rating"
            assert (await person.post(f"{path}/advance")).status_code == 409  # nobody is left
            assert (await person.put(f"{path}/ratings", json=ratings(1))).json()["state"] == "rated"
            status, text = await _events(person, chat)
        assert (status, text.count("event: turn"), text.count("event: done")) == (200, 4, 1)

    async def test_opens_no_other_chat_and_nothing_else(self, suite: RunningSuite):
        mine, other = await _chats(suite, 2)
        token = await _token(suite, mine)
        await _token(suite, other)
        words = {"number": 1, "text": "Hello there!"}
        study = (await (await suite.client("conversations", "admin")).get("/v1/collections")).json()["items"][0]["id"]
        requests: list[tuple[str, str, Any]] = [
            ("GET", f"/v1/chats/{other['id']}", None),
            ("GET", f"/v1/chats/{other['id']}/events", None),
            ("GET", f"/v1/chats/{other['id']}/events?token={token}", None),
            ("POST", f"/v1/chats/{other['id']}/turns", words),
            ("POST", f"/v1/chats/{other['id']}/advance", None),
            ("PUT", f"/v1/chats/{other['id']}/ratings", ratings(1)),
            ("GET", "/v1/chats/not-an-id", None),
            ("PUT", f"/v1/chats/{mine['id']}/token", None),
            ("POST", "/v1/chats", {"collection_id": study, "interactor": "p9"}),
            ("GET", "/v1/collections", None),
            ("GET", f"/v1/collections/{study}/chats", None),
            ("GET", f"/v1/collections/{study}/ratings", None),
            ("GET", f"/v1/collections/{study}/export", None),
            ("GET", "/v1/corpora", None),
            ("GET", "/v1/subscriptions", None),
            ("GET", "/metrics", None),
        ]
        async with _person(suite, token) as person:
            for method, path, body in requests:
                refused = await person.request(method, path, json=body)
                assert refused.status_code == 401, (method, path, refused.text)
                assert token not in refused.text

    async def test_in_a_url_or_a_cookie_opens_events_and_changes_nothing(self, suite: RunningSuite):
        """What a browser sends by itself, another site can make it send."""
        (chat,) = await _chats(suite)
        token = await _token(suite, chat)
        path = f"/v1/chats/{chat['id']}"
        changes: list[tuple[str, str, Any]] = [
            ("GET", path, None),
            ("POST", f"{path}/turns", {"number": 1, "text": "Hello there!"}),
            ("POST", f"{path}/advance", None),
            ("PUT", f"{path}/ratings", ratings(1)),
        ]
        async with _person(suite, cookies={COOKIE: token}) as person:
            for method, each, body in changes:
                refused = await person.request(method, each, json=body, params={"token": token})
                assert refused.status_code == 401, (method, each)
        async with _person(suite, token) as person:
            await _talk(suite, chat, person)
        async with _person(suite) as person:
            assert (await _events(person, chat))[0] == 401
            assert (await _events(person, chat, params={"token": token}))[0] == 200
        async with _person(suite, cookies={COOKIE: token}) as person:
            assert (await _events(person, chat))[0] == 200

    async def test_made_anew_ends_the_one_before(self, suite: RunningSuite):
        (chat,) = await _chats(suite)
        first, second = [await _token(suite, chat) for _ in range(2)]
        for token, status in ((first, 401), (second, 200)):
            async with _person(suite, token) as person:
                assert (await person.get(f"/v1/chats/{chat['id']}")).status_code == status

    @pytest.mark.parametrize("token", ["", "x", "stb_chat_", "\u00e9", "stb_chat_{id}_" + "A" * 43, "{key}"])
    async def test_invented_by_somebody_opens_nothing(self, suite: RunningSuite, token: str):
        (chat,) = await _chats(suite)
        token = token.replace("{id}", chat["id"].replace("-", "")).replace("{key}", await suite.keys.make("annotation"))
        async with _person(suite) as person:
            status, text = await _events(person, chat, params={"token": token})
            assert (status, "not known" in text or "API key" in text) == (401, True)

    async def test_expires_and_ends_its_stream(self, suite: RunningSuite):
        clock = MovableClock()
        set_clock(suite.apps["conversations"], clock)
        (chat,) = await _chats(suite)
        token = await _token(suite, chat)
        clock.advance(hours=24, seconds=-0.5)
        async with _person(suite) as person:
            assert (await _events(person, chat, params={"token": token})) == (200, "")  # ends after half a second
            clock.advance(seconds=1)
            status, text = await _events(person, chat, params={"token": token})
        assert (status, json.loads(text)["type"]) == (401, "urn:spotthebot:problem:chat-token-expired")

    async def test_is_stored_as_a_hash(self, suite: RunningSuite):
        (chat,) = await _chats(suite)
        secret = (await _token(suite, chat)).split("_", 3)[3]  # which may hold more of them
        with psycopg.connect(suite.database.owner["conversations"]) as connection:
            (stored,) = connection.execute("SELECT token_sha256 FROM conversations.chats").fetchall()
            assert stored[0] == hashlib.sha256(secret.encode()).digest()
            tables = [name for (name,) in connection.execute(_TABLES)]
            assert "idempotency_keys" in tables
            for table in tables:
                rows = connection.execute(f"SELECT t::text FROM conversations.{table} AS t").fetchall()  # noqa: S608 - names of tables
                assert not any(secret in row or secret.encode().hex() in row for (row,) in rows), table


_TABLES = """
    SELECT table_name FROM information_schema.tables
    WHERE table_schema = 'conversations' AND table_type = 'BASE TABLE'
"""


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """All that is logged while a test runs, debug messages included."""
    written, root = io.StringIO(), logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers[:] = [logging.StreamHandler(written)]
    root.setLevel(logging.DEBUG)
    yield written
    root.handlers[:] = handlers
    root.setLevel(level)


class TestLogs:
    async def test_hold_no_token_wherever_it_stood(self, suite: RunningSuite, log: io.StringIO):
        (chat,) = await _chats(suite)
        token = await _token(suite, chat)
        wrong = f"{token[:-1]}{'A' if token[-1] != 'A' else 'B'}"
        async with _person(suite, token) as person:
            await _talk(suite, chat, person)
        async with _person(suite, cookies={COOKIE: token}) as person:
            assert (await _events(person, chat))[0] == 200
            assert (await person.get(f"/v1/chats/{token}")).status_code == 401  # in the path, by mistake
        async with _person(suite) as person:
            assert (await _events(person, chat, params={"token": token}))[0] == 200
            assert (await _events(person, chat, params={"token": wrong}))[0] == 401
            assert (await _events(person, chat, params={"token": token}, headers={"Last-Event-ID": "x"}))[0] == 422
        lines = log.getvalue()
        assert f'"path": "/v1/chats/{chat["id"]}/events"' in lines
        assert f'"caller": "{chat["id"]}"' in lines
        assert [line for line in lines.split("\n") if token[-42:-1] in line] == []


class TestListeners:
    async def test_beyond_twenty_of_one_chat_are_refused(self, suite: RunningSuite):
        """Each is a connection that stays open: one person's token must not use them all up."""
        mine, other = await _chats(suite, 2)
        tokens = {each["id"]: await _token(suite, each) for each in (mine, other)}
        limits = httpx.Limits(max_connections=MAX_LISTENERS + 2)
        async with _person(suite, limits=limits) as person:
            path = f"/v1/chats/{mine['id']}/events?token={tokens[mine['id']]}"
            open_ones = [person.stream("GET", path) for _ in range(MAX_LISTENERS)]
            for each in open_ones:
                assert (await each.__aenter__()).status_code == 200
            refused = await person.get(path)
            assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
            async with person.stream("GET", f"/v1/chats/{other['id']}/events?token={tokens[other['id']]}") as heard:
                assert heard.status_code == 200
            for each in open_ones:
                await each.__aexit__(None, None, None)
            async with asyncio.timeout(60):
                while True:
                    async with person.stream("GET", path) as again:
                        if again.status_code == 200:
                            break
                    await asyncio.sleep(0.05)


class TestEnd:
    async def test_answers_204_to_who_has_all_events(self, suite: RunningSuite):
        """A browser connects again whenever a stream ends, and stops at 204 alone."""
        (chat,) = await _chats(suite)
        async with _person(suite, await _token(suite, chat)) as person:
            await _talk(suite, chat, person)
            status, text = await _events(person, chat)
            last = int(text.rpartition("id: ")[2].split("\n")[0])
            assert (status, last) == (200, 7)
            assert await _events(person, chat, headers={"Last-Event-ID": str(last)}) == (204, "")
            assert (await _events(person, chat, headers={"Last-Event-ID": str(last - 1)}))[1].count("event: ") == 1
        key = await suite.client("conversations", "annotation")
        assert await _events(key, chat, headers={"Last-Event-ID": str(last)}) == (204, "")
