from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from spotthebot.kit.access.keys import parse_key
from spotthebot.kit.access.store import NoSuchKey, create_key, list_keys, revoke_key
from spotthebot.kit.ids import new_id
from tests.factories.savepoints import SavepointDatabase

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


class TestKeys:
    async def test_only_a_hash_of_the_secret_is_stored(self, access: SavepointDatabase):
        async with access.write() as session:
            _, shown = await create_key(session, role="admin", team=None)
        parsed = parse_key(shown)
        assert parsed is not None
        async with access.read() as session:
            rows = list(await session.scalars(text("SELECT api_keys::text FROM access.api_keys")))
        assert rows
        assert all(parsed[1] not in row for row in rows)

    async def test_are_listed_oldest_first(self, access: SavepointDatabase):
        async with access.write() as session:
            made = [(await create_key(session, role="team", team=team))[0].id for team in ("red", "blue")]
        async with access.read() as session:
            assert [(key.id, key.team) for key in await list_keys(session)] == list(
                zip(made, ("red", "blue"), strict=True)
            )

    async def test_are_revoked_once_however_often_they_are(self, access: SavepointDatabase):
        async with access.write() as session:
            key, _ = await create_key(session, role="admin", team=None)
        for hours in range(2):
            async with access.write() as session:
                revoked = await revoke_key(session, key.id, NOW + timedelta(hours=hours))
            assert revoked.revoked_at == NOW

    async def test_cannot_be_revoked_where_they_are_unknown(self, access: SavepointDatabase):
        with pytest.raises(NoSuchKey):
            async with access.write() as session:
                await revoke_key(session, new_id(), NOW)


class TestSavepoints:
    """Each test begins on an empty table, whatever the tests before it committed."""

    @pytest.mark.parametrize("_time", ["first", "second"])
    async def test_leave_nothing_behind(self, access: SavepointDatabase, _time: str):
        async with access.read() as session:
            assert await list_keys(session) == []
        async with access.write() as session:
            await create_key(session, role="admin", team=None)
        async with access.read() as session:
            assert len(await list_keys(session)) == 1

    async def test_roll_a_block_back_that_raises(self, access: SavepointDatabase):
        with pytest.raises(ZeroDivisionError):
            async with access.write() as session:
                await create_key(session, role="admin", team=None)
                _ = 1 / 0
        async with access.read() as session:
            assert await list_keys(session) == []
