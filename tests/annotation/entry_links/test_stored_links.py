"""What the store selects and counts of entry links: rows on both sides of each condition."""

from datetime import timedelta

from spotthebot.annotation.entry_links import store as entry_links_store
from spotthebot.annotation.entry_links.domain.entry_links import EntryLink
from spotthebot.kit.ids import new_id
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_campaigns import NOON, store_annotators, store_campaign

ENDS = NOON + timedelta(hours=1)


class TestAnnotators:
    async def test_enter_by_a_link_as_many_as_it_is_for_through_its_frontend(self, stored: SavepointDatabase):
        async with stored.write() as session:
            campaign = await store_campaign(session)
            links = [
                EntryLink(new_id(), campaign, frontend, None, ENDS, most)
                for frontend, most in (("ours", 2), (None, None))
            ]
            for link in links:
                await entry_links_store.add_link(session, link)
            limited, open_ = (link.id for link in links)
            counted = [await entry_links_store.count_annotator(session, limited) for _ in range(3)]
            assert counted == [True, True, False]
            assert all([await entry_links_store.count_annotator(session, open_) for _ in range(3)])
            assert await entry_links_store.find_link(session, limited, "ours") == links[0]
            assert await entry_links_store.find_link(session, limited, "theirs") is None
            assert await entry_links_store.find_link(session, open_, "theirs") == links[1]
            ann, bob = await store_annotators(session, campaign, ["ann", "bob"])
            await entry_links_store.add_entry(session, limited, ann, {}, NOON)
            entered = [
                await entry_links_store.has_entered(session, link, annotator)
                for link in (limited, open_)
                for annotator in (ann, bob)
            ]
            assert entered == [True, False, False, False]
