"""States of collections change as their table says, in Python and in SQL."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import update

from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.domain import (
    CANCELLED,
    COLLECTING,
    COMPLETE,
    PAUSED,
    TRANSITIONS,
    require_transition,
)
from spotthebot.conversations.collections.errors import HasEnded
from spotthebot.conversations.collections.tables import CollectionRow
from spotthebot.kit.database.sessions import Database
from tests.factories.databases import DatabaseUrls


@pytest.fixture
async def database(database_urls: DatabaseUrls) -> AsyncIterator[Database]:
    opened = Database(database_urls.app["conversations"], pool_size=2)
    yield opened
    await opened.close()


async def _collection(database: Database, state: CollectionState, *, mode: str = "self_play", **counts: int) -> Any:
    async with database.write() as session:
        made = await collections_store.add_collection(
            session, name="any", domain="everyday", mode=mode, plan={}, state=state
        )
        if counts:
            await session.execute(update(CollectionRow).where(CollectionRow.id == made).values(**counts))
    return made


class TestCollectionTransitions:
    @pytest.mark.parametrize("after", CollectionState)
    @pytest.mark.parametrize("before", CollectionState)
    async def test_sql_allows_exactly_the_transitions_of_the_table(
        self, database: Database, before: CollectionState, after: CollectionState
    ):
        collection = await _collection(database, before)
        async with database.write() as session:
            changed = await collections_store.change_state(session, [collection], after)
            found = await collections_store.get_collection(session, collection)
        is_allowed = after in TRANSITIONS[before]
        assert changed == ([collection] if is_allowed else [])
        assert found.state is (after if is_allowed else before)
        assert (found.finished_at is not None) is (is_allowed and after in {CANCELLED, COMPLETE})

    @pytest.mark.parametrize("before", [CANCELLED, COMPLETE])
    def test_a_collection_that_has_ended_can_not_be_paused(self, before: CollectionState):
        with pytest.raises(HasEnded, match=f"is {before}: there is nothing to pause"):
            require_transition("any", before, PAUSED, verb="pause")

    @pytest.mark.parametrize("state", CollectionState)
    def test_a_collection_may_stay_in_its_state(self, state: CollectionState):
        assert not require_transition("any", state, state, verb="do")


class TestCompletion:
    @pytest.mark.parametrize("state", [COLLECTING, PAUSED])
    async def test_completes_an_open_collection_whose_last_conversation_has_ended(
        self, database: Database, state: CollectionState
    ):
        ended = await _collection(database, state, conversations=6, complete=3, failed=2, cancelled=1)
        running = await _collection(database, state, conversations=6, complete=3, failed=2)
        async with database.write() as session:
            assert await collections_store.complete_ended(session) == [ended]
            assert (await collections_store.get_collection(session, running)).state is state

    async def test_leaves_a_collection_of_chats_open_for_more_people(self, database: Database):
        await _collection(database, COLLECTING, mode="human_bot", conversations=2, complete=2)
        async with database.write() as session:
            assert await collections_store.complete_ended(session) == []
