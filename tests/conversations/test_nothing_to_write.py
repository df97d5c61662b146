"""Where there is nothing to write, no statement is sent."""

import pytest

from spotthebot.conversations.chats.store import ratings as ratings_store
from spotthebot.conversations.corpora import store as corpora_store
from spotthebot.conversations.turn_loop.store import concurrency_slots as concurrency_slots_store
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.ids import new_id

ONE = new_id()


async def test_the_database_is_not_asked_where_there_is_nothing_to_write():
    nowhere = WriteSession()  # it has no connection: any statement fails
    await concurrency_slots_store.release(nowhere, {})
    await ratings_store.add_ratings(nowhere, ONE, [])
    await corpora_store.hold_out(nowhere, [])
    assert await corpora_store.add_dialogues(nowhere, ONE, []) == []
    with pytest.raises(Exception, match="bind"):
        await concurrency_slots_store.release(nowhere, {ONE: 1})
    await nowhere.close()
