from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from spotthebot.kit.access.keys import hash_secret, make_key, parse_key, same_secret
from spotthebot.kit.access.store import ExpiredKey, revoke_key
from spotthebot.kit.database.pool_shares import pool_user
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.errors import Unauthenticated
from spotthebot.kit.web.bearer.authentication import Allow
from spotthebot.kit.web.bearer.failed_keys import FailedKeys
from spotthebot.kit.web.bearer.resources import bearer_of
from spotthebot.kit.web.core.rate_limits import RateLimiter
from tests.factories.clock import MovableClock
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import Keys
from tests.kit.conftest import Edge

IN_FORM = f"stb_admin_{UUID(int=7).hex}_{'a' * 43}"


async def _ask(edge: Edge, authorization: str | None) -> httpx.Response:
    headers = {} if authorization is None else {b"Authorization": authorization.encode()}
    async with httpx.AsyncClient(base_url=edge.url, trust_env=False) as client:
        return await client.get("/things", headers=headers)


async def _ask_with(edge: Edge, key: str) -> httpx.Response:
    return await _ask(edge, f"Bearer {key}")


class TestStrangers:
    @pytest.mark.parametrize("authorization", [None, "", "Bearer", "Basic YTpi", IN_FORM])
    async def test_without_a_bearer_token_one_is_asked_for(self, edge: Edge, authorization: str | None):
        answer = await _ask(edge, authorization)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["title"] == "Not authenticated"

    @pytest.mark.parametrize("key", ["x", "stb_admin_", IN_FORM, IN_FORM[:-1], IN_FORM + "a", "stb_admin_\u00e9", "'"])
    async def test_an_unknown_or_malformed_key_is_refused(self, edge: Edge, key: str):
        answer = await _ask_with(edge, key)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["title"] == "Unknown API key"
        assert ("has the form stb_ROLE_ID_SECRET" in answer.json()["detail"]) == (key != IN_FORM)

    async def test_the_right_id_with_another_secret_is_refused(self, edge: Edge, keys: Keys):
        key = await keys.make("admin")
        changed = key[:-1] + ("a" if key[-1] != "a" else "b")
        assert (await _ask_with(edge, changed)).json()["title"] == "Unknown API key"

    @pytest.mark.parametrize("state", ["expired", "revoked"])
    async def test_a_caller_without_the_secret_learns_nothing_of_a_key(
        self, edge: Edge, keys: Keys, database_urls: DatabaseUrls, state: str
    ):
        past = datetime.now(UTC) - timedelta(days=1)
        key = await keys.make("admin", expires_at=past if state == "expired" else None)
        if state == "revoked":
            await _revoke(database_urls, key)
        assert (await _ask_with(edge, key[:-2] + "xx")).json()["title"] == "Unknown API key"


class TestKeys:
    async def test_an_expired_key_says_so(self, edge: Edge, keys: Keys):
        past = datetime.now(UTC) - timedelta(days=1)
        answer = await _ask_with(edge, await keys.make("admin", expires_at=past))
        assert (answer.status_code, answer.json()["title"]) == (401, "Expired API key")
        assert str(past.date()) in answer.json()["detail"]

    async def test_a_key_works_until_it_expires(self, edge: Edge, keys: Keys):
        soon = datetime.now(UTC) + timedelta(minutes=1)
        assert (await _ask_with(edge, await keys.make("admin", expires_at=soon))).status_code == 200

    async def test_a_key_stops_working_when_it_expires(self, edge: Edge, keys: Keys, clock: MovableClock):
        key = await keys.make("admin", expires_at=datetime.now(UTC) + timedelta(hours=1))
        clock.advance(minutes=59)
        assert (await _ask_with(edge, key)).status_code == 200
        clock.advance(minutes=2)
        assert (await _ask_with(edge, key)).json()["title"] == "Expired API key"

    async def test_a_revoked_key_stops_working_at_once(self, edge: Edge, keys: Keys, database_urls: DatabaseUrls):
        key = await keys.make("admin")
        assert (await _ask_with(edge, key)).status_code == 200
        await _revoke(database_urls, key)
        answer = await _ask_with(edge, key)
        assert (answer.status_code, answer.json()["title"]) == (401, "Revoked API key")


async def test_a_key_expires_at_its_very_moment(edge: Edge, keys: Keys):
    moment = datetime(2036, 1, 1, tzinfo=UTC)
    key = await keys.make("team", team="red", expires_at=moment)
    authenticator = bearer_of(edge.app).authenticator
    found = await authenticator.authenticate(key, moment - timedelta(microseconds=1))
    assert (found.role, found.team) == ("team", "red")
    with pytest.raises(ExpiredKey, match="2036-01-01"):
        await authenticator.authenticate(key, moment)


class TestRoles:
    async def test_services_and_frontends_have_limits_of_their_own(self, edge: Edge):
        edge.app.state.bearer = replace(
            bearer_of(edge.app),
            limiter=RateLimiter(1, clock=lambda: 0.0),
            frontend_limiter=RateLimiter(2, clock=lambda: 0.0),
            service_limiter=RateLimiter(3, clock=lambda: 0.0),
        )
        limits = (("admin", [200, 429]), ("annotation", [403, 403, 429]), ("service", [403, 403, 403, 429]))
        for role, statuses in limits:
            async with await edge.client(role) as client:
                assert [(await client.get("/things")).status_code for _ in statuses] == statuses

    async def test_only_callers_that_are_no_service_share_connections(self, edge: Edge):
        users: list[str | None] = []
        for role in ("admin", "service"):
            key = await edge.keys.make(role)
            scope = {"type": "http", "headers": [(b"authorization", f"Bearer {key}".encode())], "app": edge.app}
            pool_user.set(None)
            principal = await Allow("admin", "service")(Request(scope))
            user = pool_user.get()
            users.append(None if user is None else user.name.replace(str(principal.key_id), role))
        pool_user.set(None)
        assert users == ["admin", None]

    async def test_failures_are_counted_by_address(self, edge: Edge):
        edge.app.state.bearer = replace(bearer_of(edge.app), failed_keys=FailedKeys(2))
        statuses = [(await _ask(edge, "Bearer x")).status_code for _ in range(3)]
        assert statuses == [401, 401, 429]
        for client in (("192.0.2.1", 1), None, None):
            scope = {"type": "http", "headers": [], "app": edge.app, "client": client}
            with pytest.raises(Unauthenticated):
                await Allow("admin")(Request(scope))

    async def test_another_role_is_forbidden(self, edge: Edge, keys: Keys):
        answer = await _ask_with(edge, await keys.make("analyst"))
        assert answer.status_code == 403
        assert "analyst" in answer.json()["detail"]

    async def test_writing_another_role_into_a_key_gives_no_rights(self, edge: Edge, keys: Keys):
        key = await keys.make("analyst")
        assert (await _ask_with(edge, key.replace("stb_analyst_", "stb_admin_"))).status_code in {401, 403}


@given(st.sampled_from(["admin", "team", "service"]), st.uuids())
def test_a_key_can_be_parsed_into_its_id_and_secret(role: str, key_id: UUID):
    text, _ = make_key(role, key_id)
    parsed = parse_key(text)
    assert parsed is not None
    assert parsed[0] == key_id
    assert text.endswith(parsed[1])


@given(before=st.text(max_size=3), after=st.text(max_size=3))
def test_a_key_with_anything_before_or_after_it_is_none(before: str, after: str):
    text, _ = make_key("admin", UUID(int=7))
    assert (parse_key(before + text + after) is None) == bool(before + after)


@given(position=st.integers(0, 31), change=st.integers(1, 255))
def test_every_byte_of_the_stored_hash_counts(position: int, change: int):
    stored = bytearray(hash_secret("secret"))
    assert same_secret("secret", bytes(stored))
    stored[position] ^= change
    assert not same_secret("secret", bytes(stored))


@given(st.text())
def test_no_text_breaks_the_parser(text: str):
    assert parse_key(text) is None


async def _revoke(urls: DatabaseUrls, key: str) -> datetime | None:
    parsed = parse_key(key)
    assert parsed is not None
    database = Database(urls.owner["access"], pool_size=1)
    try:
        async with database.write() as session:
            return (await revoke_key(session, parsed[0], datetime.now(UTC))).revoked_at
    finally:
        await database.close()
