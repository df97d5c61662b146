"""What the store compares of a campaign's annotators: rows on both sides of conditions."""

from spotthebot.annotation.reviews import store as reviews_store
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_campaigns import (
    items_of,
    store_annotations,
    store_annotators,
    store_campaign,
    store_packages,
)


class TestAgreement:
    async def test_labels_are_compared_with_those_of_others_to_the_same_item(self, stored: SavepointDatabase):
        async with stored.write() as session:
            campaign = await store_campaign(session)
            items = await items_of(session, await store_packages(session, campaign, 2))
            ann, bob = await store_annotators(session, campaign, ["ann", "bob"])
            await store_annotations(session, campaign, ann, items, answer={"A": "bot"})
            await store_annotations(session, campaign, bob, items[:1], answer={"A": "human"})
            assert await reviews_store.list_compared(session, ann) == [({"A": "bot"}, {"A": "human"})]
            assert await reviews_store.list_compared(session, bob) == [({"A": "human"}, {"A": "bot"})]
