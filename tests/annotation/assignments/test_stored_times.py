"""What the store knows of how long others took: rows on both sides of conditions."""

from datetime import timedelta

from spotthebot.annotation.assignments.domain.work_checks import ResponseTimes
from spotthebot.annotation.assignments.store import response_times as response_times_store
from spotthebot.annotation.reviews import store as reviews_store
from spotthebot.kit.ids import new_id
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_campaigns import (
    items_of,
    store_annotations,
    store_annotators,
    store_campaign,
    store_packages,
)


class TestTimes:
    async def test_are_of_all_others_in_the_campaign(self, stored: SavepointDatabase):
        async with stored.write() as session:
            campaign, other = [await store_campaign(session) for _ in range(2)]
            items = await items_of(session, await store_packages(session, campaign, 4))
            elsewhere = await items_of(session, await store_packages(session, other, 1))
            ann, bob, cid = await store_annotators(session, campaign, ["ann", "bob", "cid"])
            await store_annotations(session, campaign, ann, items[:1], elapsed_ms=9000)
            await store_annotations(session, campaign, bob, items[:2], elapsed_ms=1000)
            await store_annotations(session, campaign, cid, items[:1], elapsed_ms=3000)
            await store_annotations(session, campaign, cid, items[1:2], elapsed_ms=None)
            await store_annotations(session, other, bob, elsewhere, elapsed_ms=9000)
            find = response_times_store.find_response_times
            assert await find(session, campaign, ann) == ResponseTimes(3, 2, timedelta(seconds=1))
            assert await find(session, campaign, bob) == ResponseTimes(2, 2, timedelta(seconds=6))
            assert await find(session, other, bob) is None
            assert await reviews_store.get_times(session, cid) == (2, timedelta(seconds=3))
            assert await reviews_store.get_times(session, new_id()) == (0, None)
