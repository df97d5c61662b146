"""What the store selects and changes of collections: rows on both sides of each condition."""

from datetime import timedelta
from typing import Any, cast

from sqlalchemy import func, insert, select

from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.tables import TurnCountRow
from spotthebot.kit.ids import new_ids
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import bot, store_collection

ONE, TWO = new_ids(2)
SIDES = bot(ONE, "one"), bot(TWO, "two")


class TestCollections:
    async def test_counts_and_priority_are_of_one_alone(self, stored: SavepointDatabase):
        counts = {"conversations": 6, "complete": 1, "failed": 2, "cancelled": 3, "turns": 4, "turns_planned": 5}
        async with stored.write() as session:
            mine, others = [await store_collection(session, SIDES, **dict.fromkeys(counts, 10)) for _ in range(2)]
            await collections_store.count_in(session, mine, **counts)
            await collections_store.change_settings(session, mine, {"priority": 3})
            found = [await collections_store.get_collection(session, each) for each in (mine, others)]
        assert [{name: getattr(each, name) for name in counts} for each in found] == [
            {name: 10 + count for name, count in counts.items()},
            dict.fromkeys(counts, 10),
        ]
        assert [each.priority for each in found] == [3, 0]

    async def test_has_the_priority_0_unless_another_is_given(self, stored: SavepointDatabase):
        given: dict[str, Any] = {
            "domain": "everyday",
            "mode": "import",
            "plan": {},
            "state": CollectionState.COLLECTING,
        }
        async with stored.write() as session:
            plain = await collections_store.add_collection(session, name="plain", **given)
            second = await collections_store.add_collection(session, name="second", priority=2, **given)
            found = [await collections_store.get_collection(session, each) for each in (plain, second)]
        assert [each.priority for each in found] == [0, 2]

    async def test_has_a_rate_over_the_last_minute_while_it_collects(self, stored: SavepointDatabase):
        async with stored.write() as session:
            now = (await session.execute(select(func.now()))).scalar_one()
            rates = []
            for state, seconds in (("collecting", 59.5), ("collecting", 60.5), ("paused", 30)):
                mine = await store_collection(session, SIDES, state=state)
                row = {"collection_id": mine, "begins_at": now - timedelta(seconds=seconds), "turns": 600}
                await session.execute(insert(TurnCountRow).values(row))
                rates.append((await collections_store.get_collection(session, mine)).rate_turns_per_second)
        assert 0 < (rates[0] or 0) <= 600 / 59.5
        assert rates[1:] == [None, None]

    async def test_has_an_end_only_once_it_has_ended(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES)
            for state, has_ended in ((CollectionState.PAUSED, False), (CollectionState.COMPLETE, True)):
                assert await collections_store.change_state(session, [mine], state) == [mine]
                found = await collections_store.get_collection(session, mine)
                assert (found.finished_at is not None) is has_ended
            assert await collections_store.change_state(session, [mine], CollectionState.PAUSED) == []


def test_a_condition_of_one_state_is_an_equation():
    """So that PostgreSQL finds the partial index that is declared in the same words."""
    states = (
        collections_store.is_one_of("state", cast("Any", ["a"])),
        collections_store.is_one_of("state", cast("Any", ["b", "a"])),
    )
    assert states == ("state = 'a'", "state IN ('a', 'b')")
