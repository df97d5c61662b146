"""What the store pays in a campaign: rows on both sides of conditions."""

from decimal import Decimal

from sqlalchemy import insert

from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.payments import store as payments_store
from spotthebot.annotation.payments.tables import BonusRow
from spotthebot.kit.ids import new_id
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_campaigns import NOON, store_annotators, store_assignments, store_campaign, store_packages


class TestCampaigns:
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
