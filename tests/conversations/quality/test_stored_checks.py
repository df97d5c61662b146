"""What the store selects and changes of quality checks: rows on both sides of each condition."""

from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy import func, insert

from spotthebot.contracts.conversations.quality import QualityCheckState
from spotthebot.conversations.quality.errors import NoQualityCheck
from spotthebot.conversations.quality.store import checks as checks_store
from spotthebot.conversations.quality.tables import QualityCheckRow
from spotthebot.kit.ids import new_ids
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import bot, store_collection

ONE, TWO = new_ids(2)
SIDES = bot(ONE, "one"), bot(TWO, "two")


class TestQualityChecks:
    async def test_a_later_request_waits_whatever_the_one_before_comes_to(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine, others = [await store_collection(session, SIDES) for _ in range(2)]
            with pytest.raises(NoQualityCheck):
                await checks_store.start_check(session, mine)
            for each in (mine, others):
                await checks_store.request_check(session, each)
            first = await checks_store.start_check(session, mine)
            await checks_store.request_check(session, mine)
            await checks_store.move_check(session, first, QualityCheckState.COMPARING)
            await checks_store.fail_check(session, mine, "broken")
            found = await checks_store.get_check(session, mine)
            assert (found.state, found.failure) == (QualityCheckState.WAITING, None)
            second = await checks_store.start_check(session, mine)
            await checks_store.move_check(session, second, QualityCheckState.COMPARING)
            assert not await checks_store.is_done(session, mine)
            await checks_store.move_check(session, second, QualityCheckState.DONE)
            assert await checks_store.is_done(session, mine)
            elsewhere = await checks_store.get_check(session, others)
        assert elsewhere.state is QualityCheckState.WAITING

    async def test_a_failure_is_kept_as_far_as_there_is_room(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES)
            await checks_store.request_check(session, mine)
            await checks_store.start_check(session, mine)
            await checks_store.fail_check(session, mine, 1001 * "x")
            found = await checks_store.get_check(session, mine)
        assert (found.state, found.failure) == (QualityCheckState.FAILED, 1000 * "x")

    async def test_those_not_ended_count_as_lost_a_minute_after_their_request(self, stored: SavepointDatabase):
        async with stored.write() as session:
            requests = {}
            for seconds in (30, 90, 150):
                for state in QualityCheckState:
                    requests[seconds, state] = await store_collection(session, SIDES)
                    requested_at = func.clock_timestamp() - timedelta(seconds=seconds)
                    row = {"collection_id": requests[seconds, state], "state": state, "requested_at": requested_at}
                    await session.execute(insert(QualityCheckRow).values(row))
            lost = await checks_store.list_unfinished(session)
        unfinished = {QualityCheckState.WAITING, QualityCheckState.FLAGGING, QualityCheckState.COMPARING}
        assert set(lost) == {requests[seconds, state] for seconds in (90, 150) for state in unfinished}
        assert set(lost[:3]) == {requests[150, state] for state in unfinished}


async def test_what_nobody_requested_has_no_quality_check(stored: SavepointDatabase):
    async with stored.read() as reading:
        with pytest.raises(NoQualityCheck):
            await checks_store.get_check(reading, uuid4())
