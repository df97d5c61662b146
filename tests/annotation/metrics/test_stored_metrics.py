"""What is counted for metrics: rows on both sides of each condition."""

from datetime import timedelta

from sqlalchemy import select, text

from spotthebot.annotation.metrics import store as metrics_store
from spotthebot.annotation.packages.tables import ItemRow
from spotthebot.kit.ids import first_id_at
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_campaigns import (
    store_annotations,
    store_annotators,
    store_assignments,
    store_campaign,
    store_packages,
)


class TestMetrics:
    async def test_open_packages_are_those_that_annotators_still_have_to_submit(self, stored: SavepointDatabase):
        packed = {"packages": 5, "annotations_per_segment": 3, "submitted": 4}
        async with stored.write() as session:
            first = await store_campaign(session, **packed)
            newest = await store_campaign(session, **packed | {"submitted": 16})
            drawn = await store_campaign(session, packages=5, extra_assignments=2, submitted=4)
            await store_campaign(session, state="paused", **packed)
            await store_campaign(session, mode="import", **packed)
            all_three = await metrics_store.count(session, max_campaigns=3)
            one = await metrics_store.count(session, max_campaigns=1)
        open_packages = {drawn: 5 + 2 - 4, newest: 0, first: 5 * 3 - 4}
        assert (all_three.packages_open, all_three.packages_open_elsewhere) == (open_packages, 0)
        assert (one.packages_open, one.packages_open_elsewhere) == ({drawn: 3}, 11)
        assert all_three.campaigns == {"open": 4, "paused": 1}

    async def test_labels_are_counted_for_a_minute(self, stored: SavepointDatabase):
        async with stored.write() as session:
            campaign = await store_campaign(session)
            (package,) = await store_packages(session, campaign, 1, items=3)
            (annotator,) = await store_annotators(session, campaign, ["A1"])
            items = [*await session.scalars(select(ItemRow.id).where(ItemRow.package_id == package))]
            now = await session.scalar(text("SELECT now()"))
            for item, seconds in zip(items, (61, 59, 0), strict=True):
                made = first_id_at(now - timedelta(seconds=seconds))
                await store_annotations(session, campaign, annotator, [item], id=made)
            await store_assignments(session, campaign, annotator, [package])
            counted = await metrics_store.count(session, max_campaigns=1)
        assert (counted.labels_last_minute, counted.assignments_leased) == (2, 1)
