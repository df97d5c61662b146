"""What the store keeps from bots: rows on both sides of each condition."""

from spotthebot.conversations.corpora import store as corpora_store
from spotthebot.conversations.corpora.domain.held_out import (
    ALWAYS,
    HeldOutExchange,
    PeoplesConversation,
    exchange_numbers,
)
from spotthebot.kit.ids import new_ids
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import bot, store_collection

ONE, TWO = new_ids(2)
SIDES = bot(ONE, "one"), bot(TWO, "two")


class TestHeldOut:
    async def test_the_earliest_and_the_strictest_hold(self, stored: SavepointDatabase):
        early, late = new_ids(2)
        (number,) = exchange_numbers(["Hi.", "Hello."])
        short, long = ["Hi.", "Hello."], ["Hi.", "Hello.", "Bye."]
        async with stored.write() as session:
            for turns, since, suffices, expected in (
                (long, late, False, late),
                (long, early, False, early),
                (short, late, True, early),
                (long, late, True, early),
            ):
                await corpora_store.hold_out(session, [PeoplesConversation(turns, since)])
                found = await corpora_store.find_held_out(session, [number])
                assert found == {number: [HeldOutExchange(number, expected, suffices=suffices)]}
            await corpora_store.hold_out(session, [PeoplesConversation(long, ALWAYS)])
            both = await corpora_store.find_held_out(session, [number])
        assert {(each.since, each.suffices) for each in both[number]} == {(early, True), (ALWAYS, False)}

    async def test_people_are_counted_in_imports_and_plans_with_people(self, stored: SavepointDatabase):
        async with stored.write() as session:
            assert await corpora_store.count_people(session) == 0
            await store_collection(session, SIDES, mode="import", conversations=1)
            await store_collection(session, SIDES, plan={"humans": {}}, conversations=10)
            await store_collection(session, SIDES, plan={"humans": None}, conversations=100)
            await store_collection(session, SIDES, conversations=1000)
            assert await corpora_store.count_people(session) == 11
