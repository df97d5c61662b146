"""What the store counts and pays in a campaign, and compares of its annotators: rows on both sides of conditions."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import insert, select, update

from spotthebot.annotation.assignments.domain.work_checks import ResponseTimes
from spotthebot.annotation.assignments.store import response_times as response_times_store
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.packages.tables import ItemRow
from spotthebot.annotation.payments import store as payments_store
from spotthebot.annotation.payments.tables import BonusRow
from spotthebot.annotation.reviews import store as reviews_store
from spotthebot.contracts.annotation import CampaignState
from spotthebot.kit.database import ReadSession
from spotthebot.kit.ids import new_id
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_campaigns import (
    NOON,
    store_annotations,
    store_annotators,
    store_assignments,
    store_campaign,
    store_packages,
)


async def _items(session: ReadSession, packages: Sequence[UUID]) -> list[UUID]:
    rows = await session.execute(select(ItemRow.package_id, ItemRow.id).where(ItemRow.package_id.in_(packages)))
    found = {package: item for package, item in rows}  # noqa: C416 - typed rows
    return [found[each] for each in packages]


class TestTimes:
    async def test_are_of_all_others_in_the_campaign(self, stored: SavepointDatabase):
        async with stored.write() as session:
            campaign, other = [await store_campaign(session) for _ in range(2)]
            items = await _items(session, await store_packages(session, campaign, 4))
            elsewhere = await _items(session, await store_packages(session, other, 1))
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

    async def test_labels_are_compared_with_those_of_others_to_the_same_item(self, stored: SavepointDatabase):
        async with stored.write() as session:
            campaign = await store_campaign(session)
            items = await _items(session, await store_packages(session, campaign, 2))
            ann, bob = await store_annotators(session, campaign, ["ann", "bob"])
            await store_annotations(session, campaign, ann, items, answer={"A": "bot"})
            await store_annotations(session, campaign, bob, items[:1], answer={"A": "human"})
            assert await reviews_store.list_compared(session, ann) == [({"A": "bot"}, {"A": "human"})]
            assert await reviews_store.list_compared(session, bob) == [({"A": "human"}, {"A": "bot"})]


class TestCampaigns:
    async def test_are_complete_with_the_last_submission_and_open_again_with_a_rejection(
        self, stored: SavepointDatabase
    ):
        async with stored.write() as session:
            values: dict[str, Any] = {"packages": 1, "annotations_per_segment": 2}
            mine, other = [await store_campaign(session, **values) for _ in range(2)]
            count = campaigns_store.count_submitted
            assert [await count(session, mine, annotations=3) for _ in range(3)] == [False, True, False]
            found = await campaigns_store.get_campaign(session, mine)
            assert (found.state, found.progress.submitted, found.progress.annotations) == (CampaignState.COMPLETE, 3, 9)
            await campaigns_store.count_rejected(session, mine, annotations=3)
            found = await campaigns_store.get_campaign(session, mine)
            assert (found.state, found.progress.submitted, found.progress.annotations) == (CampaignState.OPEN, 2, 6)
            await session.execute(update(CampaignRow).where(CampaignRow.id == mine).values(state="closed"))
            await campaigns_store.count_rejected(session, mine, annotations=3)
            assert not await count(session, mine, annotations=3)
            assert (await campaigns_store.get_campaign(session, mine)).state is CampaignState.CLOSED
            untouched = await campaigns_store.get_campaign(session, other)
        assert (untouched.state, untouched.progress.submitted) == (CampaignState.OPEN, 0)

    async def test_keep_the_secret_that_was_given_or_drawn_first(self, stored: SavepointDatabase):
        async with stored.write() as session:
            given, drawn = await store_campaign(session, secret=b"given"), await store_campaign(session)
            assert await campaigns_store.find_secret(session, drawn) is None
            assert await campaigns_store.read_secret(session, drawn) == b""
            assert await campaigns_store.get_secret(session, given) == b"given"
            first = await campaigns_store.get_secret(session, drawn)
            assert len(first) == 32
            assert await campaigns_store.get_secret(session, drawn) == first
            assert await campaigns_store.find_secret(session, drawn) == first

    async def test_pay_packages_and_bonuses_of_each_annotator(self, stored: SavepointDatabase):
        pay = Decimal("1.50")
        async with stored.write() as session:
            campaign = await store_campaign(session)
            packages = await store_packages(session, campaign, 3)
            ann, bob = await store_annotators(session, campaign, ["ann", "bob"])
            await store_assignments(session, campaign, ann, packages[:2], state="submitted", submitted_at=NOON)
            await store_assignments(session, campaign, ann, packages[2:], state="rejected")
            await store_assignments(session, campaign, bob, packages[:1], state="submitted", submitted_at=NOON)
            row = {"campaign_id": campaign, "reason": "good", "key_id": new_id(), "granted_at": NOON}
            amounts = [row | {"id": new_id(), "annotator_id": ann, "amount": amount} for amount in ("0.25", "2.00")]
            await session.execute(insert(BonusRow), amounts)
            whole = await campaigns_store.get_campaign(session, campaign)
            found = await payments_store.list_payments(session, whole, pay, after=None, limit=9)
        assert [(each.annotator, each.packages, each.bonuses, each.total) for each in found] == [
            ("ann", 2, Decimal("2.25"), Decimal("5.25")),
            ("bob", 1, Decimal("0.00"), Decimal("1.50")),
        ]
