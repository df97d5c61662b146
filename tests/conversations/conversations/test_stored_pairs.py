"""What the store numbers in a collection: rows on both sides of each condition."""

from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.exports import store as exports_store
from spotthebot.kit.ids import new_ids
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import bot, store_collection, store_pairs

ONE, TWO, THREE = new_ids(3)
SIDES = bot(ONE, "one"), bot(TWO, "two")


class TestCollections:
    async def test_pairs_are_numbered_on_from_those_that_are_known(self, stored: SavepointDatabase):
        other = (bot(TWO, "two"), bot(THREE, "three"))
        async with stored.write() as session:
            others, mine = [await store_collection(session, SIDES) for _ in range(2)]
            await store_pairs(session, others, other, numbers=[1])
            numbers = await conversations_store.number_pairs(session, mine, [other, SIDES, other])
            assert numbers == {SIDES: 0, other: 1}
            assert await conversations_store.number_pairs(session, mine, [other]) == numbers
            assert await exports_store.list_participants(session, mine) == [*SIDES, other[1]]
