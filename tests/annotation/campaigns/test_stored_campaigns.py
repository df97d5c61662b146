"""What the store counts in a campaign, and the secret that it keeps: rows on both sides of conditions."""

from typing import Any

from sqlalchemy import update

from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.contracts.annotation.campaigns import CampaignState
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_campaigns import store_campaign


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
            assert found.state == CampaignState.COMPLETE
            assert found.progress.submitted == 3
            assert found.progress.annotations == 9
            await campaigns_store.count_rejected(session, mine, annotations=3)
            found = await campaigns_store.get_campaign(session, mine)
            assert found.state == CampaignState.OPEN
            assert found.progress.submitted == 2
            assert found.progress.annotations == 6
            await session.execute(update(CampaignRow).where(CampaignRow.id == mine).values(state="closed"))
            await campaigns_store.count_rejected(session, mine, annotations=3)
            assert not await count(session, mine, annotations=3)
            assert (await campaigns_store.get_campaign(session, mine)).state is CampaignState.CLOSED
            untouched = await campaigns_store.get_campaign(session, other)
        assert (untouched.state, untouched.progress.submitted) == (CampaignState.OPEN, 0)

    async def test_with_packages_annotated_twice_are_complete_after_one_submission_more(
        self, stored: SavepointDatabase
    ):
        async with stored.write() as session:
            campaign = await store_campaign(session, packages=2, extra_assignments=1)
            count = campaigns_store.count_submitted
            assert [await count(session, campaign, annotations=1) for _ in range(3)] == [False, False, True]

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
