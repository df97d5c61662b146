from datetime import UTC, datetime, timedelta
from uuid import UUID

import httpx
import psycopg
import pytest

from spotthebot.kit.access.keys import parse_key
from spotthebot.kit.access.store import revoke_key
from spotthebot.kit.database import Database
from spotthebot.kit.web.rate_limits import RateLimiter
from tests.factories.house import DatabaseUrls, Keys
from tests.kit.conftest import Edge


async def _ask(edge: Edge, key: str | None) -> httpx.Response:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=edge.url, headers=headers, trust_env=False) as client:
        return await client.get("/things")


class TestApiKeys:
    async def test_without_a_key_nobody_is_let_in(self, edge: Edge):
        answer = await _ask(edge, None)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["status"] == 401

    @pytest.mark.parametrize("key", ["x", "stb_admin_", f"stb_admin_{UUID(int=7).hex}_{'a' * 43}", "stb_admin_\u00e9"])
    async def test_an_unknown_key_is_refused(self, edge: Edge, key: str):
        answer = await _ask(edge, key.encode().decode("latin-1") if key.isascii() else "stb_admin_?")
        assert answer.status_code == 401
        assert answer.json()["title"] == "Unknown API key"

    async def test_the_right_id_with_another_secret_is_refused(self, edge: Edge, keys: Keys):
        key = await keys.make("admin")
        changed = key[:-1] + ("a" if key[-1] != "a" else "b")
        assert (await _ask(edge, changed)).json()["title"] == "Unknown API key"

    async def test_an_expired_key_says_so(self, edge: Edge, keys: Keys):
        key = await keys.make("admin", expires_at=datetime.now(UTC) - timedelta(days=1))
        answer = await _ask(edge, key)
        assert (answer.status_code, answer.json()["title"]) == (401, "Expired API key")

    async def test_a_revoked_key_stops_working_at_once(self, edge: Edge, keys: Keys, database_urls: DatabaseUrls):
        key = await keys.make("admin")
        assert (await _ask(edge, key)).status_code == 200
        database = Database(database_urls.owner["access"], pool_size=1)
        parsed = parse_key(key)
        assert parsed is not None
        async with database.write() as session:
            await revoke_key(session, parsed[0])
        await database.close()
        answer = await _ask(edge, key)
        assert (answer.status_code, answer.json()["title"]) == (401, "Revoked API key")

    async def test_another_role_is_forbidden(self, edge: Edge, keys: Keys):
        answer = await _ask(edge, await keys.make("analyst"))
        assert answer.status_code == 403
        assert "analyst" in answer.json()["detail"]

    async def test_only_a_hash_is_stored(self, keys: Keys, database_urls: DatabaseUrls):
        key = await keys.make("admin")
        secret = key.rsplit("_", 1)[1] if key.count("_") == 3 else key[len("stb_admin_") + 33 :]
        with psycopg.connect(database_urls.owner["access"]) as connection:
            rows = connection.execute("SELECT api_keys::text FROM access.api_keys").fetchall()
        assert rows
        assert all(secret not in row for (row,) in rows)


class TestRateLimits:
    async def test_the_limit_is_told_and_kept(self, edge: Edge, admin: httpx.AsyncClient):
        edge.app.state.rate_limiter = RateLimiter(3)
        answers = [await admin.get("/things") for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert answers[0].headers["ratelimit-policy"] == '"default";q=3;w=60'
        assert answers[0].headers["ratelimit"].startswith('"default";r=2;t=')
        assert 1 <= int(answers[3].headers["retry-after"]) <= 20  # 3 a minute: one every 20 s

    def test_the_bucket_refills_with_time(self):
        now = 0.0
        limiter = RateLimiter(60, clock=lambda: now)
        assert [limiter.take("a").retry_after_seconds for _ in range(61)] == [0] * 60 + [1]
        now = 2.0  # 60 a minute: two more after two seconds
        assert [limiter.take("a").retry_after_seconds for _ in range(3)] == [0, 0, 1]

    def test_keys_have_buckets_of_their_own_and_old_ones_are_forgotten(self):
        limiter = RateLimiter(1, clock=lambda: 0.0)
        assert limiter.take("a").retry_after_seconds == 0
        assert limiter.take("b").retry_after_seconds == 0
        for number in range(10_000):
            limiter.take(str(number))
        assert len(limiter._buckets) == 10_000
