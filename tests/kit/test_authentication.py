from datetime import UTC, datetime, timedelta
from uuid import UUID

import httpx
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotthebot.kit.access.keys import make_key, parse_key
from spotthebot.kit.access.store import NoSuchKey, list_keys, revoke_key
from spotthebot.kit.database import Database
from spotthebot.kit.ids import new_id
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

    async def test_the_right_id_with_another_secret_is_refused(self, edge: Edge, keys: Keys):
        key = await keys.make("admin")
        changed = key[:-1] + ("a" if key[-1] != "a" else "b")
        assert (await _ask_with(edge, changed)).json()["title"] == "Unknown API key"

    @pytest.mark.parametrize("fate", ["expired", "revoked"])
    async def test_who_lacks_the_secret_learns_nothing_of_a_key(
        self, edge: Edge, keys: Keys, database_urls: DatabaseUrls, fate: str
    ):
        past = datetime.now(UTC) - timedelta(days=1)
        key = await keys.make("admin", expires_at=past if fate == "expired" else None)
        if fate == "revoked":
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

    async def test_revoking_again_changes_nothing(self, keys: Keys, database_urls: DatabaseUrls):
        key = await keys.make("admin")
        first, second = [await _revoke(database_urls, key) for _ in range(2)]
        assert first is not None
        assert first == second

    async def test_an_unknown_key_cannot_be_revoked(self, database_urls: DatabaseUrls):
        text, _ = make_key("admin", new_id())
        with pytest.raises(NoSuchKey):
            await _revoke(database_urls, text)

    async def test_only_a_hash_is_stored(self, keys: Keys, database_urls: DatabaseUrls):
        parsed = parse_key(await keys.make("admin"))
        assert parsed is not None
        with psycopg.connect(database_urls.owner["access"]) as connection:
            rows = connection.execute("SELECT api_keys::text FROM access.api_keys").fetchall()
        assert rows
        assert all(parsed[1] not in row for (row,) in rows)

    async def test_keys_are_listed_oldest_first(self, keys: Keys, database_urls: DatabaseUrls):
        made = [parse_key(await keys.make("team", team=team)) for team in ("red", "blue")]
        database = Database(database_urls.owner["access"], pool_size=1)
        async with database.read() as session:
            listed = await list_keys(session)
        await database.close()
        assert [key.id for key in listed] == [parsed[0] for parsed in made if parsed]
        assert [key.team for key in listed] == ["red", "blue"]


class TestRoles:
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
