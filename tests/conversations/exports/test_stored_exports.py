"""What the store selects of a collection for its export."""

from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.exports import store as exports_store
from spotthebot.conversations.imports import store as imports_store
from spotthebot.kit.ids import new_ids
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import bot, store_collection, store_conversations

ONE, TWO = new_ids(2)
SIDES = bot(ONE, "one"), bot(TWO, "two")


async def test_a_source_is_the_collection_as_it_stands(stored: SavepointDatabase):
    async with stored.write() as session:
        plain = await store_collection(session, SIDES)
        held = await store_collection(session, SIDES, mode="import", plan={"held_as": "human_bot"}, state="cancelled")
        await store_conversations(session, held, 2)
        found = [await collections_store.get_source(session, each) for each in (plain, held)]
        counts = [await exports_store.count_conversations(session, each) for each in (plain, held)]
        modes = [await imports_store.claim_mode(session, each, "self_play") for each in (plain, held)]
    assert [(each.exported_mode, each.is_cancelled) for each in found] == [("self_play", False), ("human_bot", True)]
    assert counts == [0, 2]
    assert modes == ["self_play", "human_bot"]


class TestExports:
    async def test_begin_with_the_opening_that_ends_with_the_second_side(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES, name="study")
            first, second = [
                (await store_conversations(session, mine, 1, turns=("c",), opening=opening, external_id=name))[0]
                for name, opening in (("one", ["a", "b", "x"]), (None, []))
            ]
            source = await collections_store.get_source(session, mine)
            rows = await exports_store.list_rows(session, source, after=None, limit=9)
            named = await exports_store.list_rows(session, source, after=None, limit=9, ids=["one", "two"])
        assert [row.id for row in rows] == [first, second]
        assert [row.conversation.id for row in rows] == ["one", str(second)]
        opening = [(turn.speaker, turn.text) for turn in rows[0].conversation.opening]
        assert opening == [("B", "a"), ("A", "b"), ("B", "x")]
        (turn,) = rows[1].conversation.turns
        assert (turn.speaker, turn.text, turn.said_at) == ("A", "c", None)
        assert [row.id for row in named] == [first]
