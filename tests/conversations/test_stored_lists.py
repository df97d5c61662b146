"""Every list of the store comes page by page, in its order, and without rows of another collection."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import insert

from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.store import ratings as ratings_store
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.corpora import store as corpora_store
from spotthebot.conversations.corpora.tables import CorpusRow, DialogueRow
from spotthebot.conversations.exports import store as exports_store
from spotthebot.conversations.progress import store as progress_store
from spotthebot.conversations.quality.store import flags as flags_store
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id, new_ids
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import (
    NOON,
    bot,
    store_chat_events,
    store_chats,
    store_collection,
    store_conversations,
    store_flags,
    store_imported_ratings,
    store_pairs,
)

BOT, OTHER_BOT = new_ids(2)
SIDES, OTHER_SIDES = (bot(BOT, "one"), bot(BOT, "two")), (bot(OTHER_BOT, "three"), bot(OTHER_BOT, "four"))
TURNS = ("Hi.", "Hello.")
COUNT = 5

Fill = Callable[[WriteSession, UUID], Awaitable[Sequence[Any]]]
"""Stores what a list is of, and returns the keys in their order."""
List = Callable[[ReadSession, UUID, Any, int], Awaitable[Sequence[Any]]]
"""Returns the keys of a page: those after one, up to a limit."""


async def _conversations(session: WriteSession, collection: UUID) -> Sequence[UUID]:
    return await store_conversations(session, collection, COUNT, turns=TURNS, state="complete")


async def _flags(session: WriteSession, collection: UUID) -> Sequence[UUID]:
    ids = await _conversations(session, collection)
    await store_flags(session, collection, ids)
    return ids


async def _chats(session: WriteSession, collection: UUID) -> Sequence[UUID]:
    return await store_chats(session, collection, COUNT)


async def _rated_chats(session: WriteSession, collection: UUID) -> Sequence[UUID]:
    await store_chats(session, collection, 2)
    return await store_chats(session, collection, COUNT, state="rated", rated_at=NOON)


async def _imported_chats(session: WriteSession, collection: UUID) -> Sequence[UUID]:
    return await store_imported_ratings(session, collection, await _conversations(session, collection))


async def _failures(session: WriteSession, collection: UUID) -> Sequence[str]:
    reasons = [f"reason {number}" for number in range(COUNT)]
    for number, reason in enumerate(reversed(reasons), 1):
        await store_conversations(session, collection, number, state="failed", failure=reason)
    return reasons


async def _dialogues(session: WriteSession, corpus: UUID) -> Sequence[UUID]:
    row = {"name": f"corpus {corpus}", "domain": "small-talk", "origin": "us", "licence": "CC0"}
    await session.execute(insert(CorpusRow).values(row | {"id": corpus}))
    ids = new_ids(2 * COUNT)
    rows = [
        {"id": each, "corpus_id": corpus, "key": str(each), "split": ("train", "test")[number % 2], "turns": [*TURNS]}
        for number, each in enumerate(ids)
    ]
    await session.execute(insert(DialogueRow), rows[::-1])
    return ids[::2]


async def _list_conversations(session: ReadSession, collection: UUID, after: Any, limit: int) -> Sequence[UUID]:
    found = await conversations_store.list_conversations(session, collection, after=after, limit=limit)
    assert all(each.turns == TURNS for each in found)
    return [each.id for each in found]


async def _list_of_bot(session: ReadSession, _collection: UUID, after: Any, limit: int) -> Sequence[UUID]:
    found = await conversations_store.list_conversations_of_bot(session, BOT, after=after, limit=limit)
    return [each.id for each in found]


async def _list_speakers(session: ReadSession, collection: UUID, after: Any, limit: int) -> Sequence[UUID]:
    found = await conversations_store.list_speakers(session, collection, after=after, limit=limit)
    assert all(each.participants == SIDES for each in found)
    return [each.id for each in found]


async def _list_rows(session: ReadSession, collection: UUID, after: Any, limit: int) -> Sequence[UUID]:
    source = await collections_store.get_source(session, collection)
    found = await exports_store.list_rows(session, source, after=after, limit=limit)
    assert all([turn.text for turn in each.conversation.turns] == [*TURNS] for each in found)
    return [each.id for each in found]


async def _list_unflagged(session: ReadSession, collection: UUID, after: Any, limit: int) -> Sequence[UUID]:
    found = await flags_store.list_unflagged(session, collection, after=after, limit=limit)
    assert all((each.bot_speaks, each.turns) == (True, TURNS) for each in found)
    return [each.conversation_id for each in found]


async def _list_signatures(session: ReadSession, collection: UUID, after: Any, limit: int) -> Sequence[UUID]:
    found = await flags_store.list_signatures(session, collection, after=after, limit=limit)
    return [each for each, signature in found if signature == b"signature"]


async def _list_exchange_hashes(session: ReadSession, collection: UUID, after: Any, limit: int) -> Sequence[UUID]:
    found = await flags_store.list_exchange_hashes(session, collection, after=after, limit=limit)
    return [each for each, hashes in found if hashes == b"hashes"]


async def _list_flags(session: ReadSession, collection: UUID, after: Any, limit: int) -> Sequence[UUID]:
    found = await flags_store.list_flags(session, collection, only=None, after=after, limit=limit)
    return [each.conversation_id for each in found]


async def _list_interactors(session: ReadSession, collection: UUID, after: Any, limit: int) -> Sequence[UUID]:
    found = await chats_store.list_interactors(session, collection, after=after, limit=limit)
    assert all(interactor is None for _, interactor in found)
    return [each for each, _ in found]


async def _list_chats(session: ReadSession, collection: UUID, after: Any, limit: int) -> Sequence[UUID]:
    found = await chats_store.list_chats(session, collection, rated=False, after=after, limit=limit)
    return [each.id for each in found]


async def _list_only_rated(session: ReadSession, collection: UUID, after: Any, limit: int) -> Sequence[UUID]:
    found = await chats_store.list_chats(session, collection, rated=True, after=after, limit=limit)
    return [each.id for each in found]


async def _list_imported_chats(session: ReadSession, collection: UUID, after: Any, limit: int) -> Sequence[UUID]:
    found = await ratings_store.list_rated_chats(session, collection, after=after, limit=limit)
    assert all(len(each.conversations) == 1 and each.conversations[0].scores == {"quality": 4} for each in found)
    return [each.id for each in found]


async def _list_pairs(session: ReadSession, collection: UUID, after: Any, limit: int) -> Sequence[int]:
    after = -1 if after is None else after
    found = await progress_store.list_pairs(session, collection, after=after, limit=limit)
    assert all(each.participants == ("one", "two") for each in found)
    return [each.number for each in found]


async def _list_failures(session: ReadSession, collection: UUID, after: Any, limit: int) -> Sequence[str]:
    offset = 0 if after is None else int(after.split()[-1]) + 1
    found = await progress_store.list_failures(session, collection, offset=offset, limit=limit)
    assert all(each.conversations == COUNT - int(each.reason.split()[-1]) for each in found)
    return [each.reason for each in found]


async def _list_dialogues(session: ReadSession, corpus: UUID, after: Any, limit: int) -> Sequence[UUID]:
    found = await corpora_store.list_dialogues(session, corpus, split="train", after=after, limit=limit)
    return [each.id for each in found]


async def _pages(session: ReadSession, of: UUID, lists: List) -> list[Any]:
    """Return what a list has, asked for two at a time."""
    found: list[Any] = []
    while page := await lists(session, of, found[-1] if found else None, 2):
        assert len(page) <= 2
        found += page
    return found


@pytest.mark.parametrize(
    ("lists", "fill", "values"),
    [
        (_list_conversations, _conversations, {}),
        (_list_of_bot, _conversations, {}),
        (_list_speakers, _conversations, {}),
        (_list_rows, _conversations, {}),
        (_list_unflagged, _conversations, {}),
        (_list_signatures, _flags, {}),
        (_list_exchange_hashes, _flags, {}),
        (_list_flags, _flags, {}),
        (_list_interactors, _conversations, {}),
        (_list_chats, _chats, {}),
        (_list_only_rated, _rated_chats, {}),
        (_list_imported_chats, _imported_chats, {"mode": "import", "plan": {"held_as": "human_bot"}}),
        (_list_failures, _failures, {}),
    ],
)
async def test_a_collections_list_has_all_of_it_in_order_and_nothing_of_another(
    stored: SavepointDatabase, lists: List, fill: Fill, values: dict[str, Any]
):
    async with stored.write() as session:
        others = await store_collection(session, OTHER_SIDES, **values)
        await fill(session, others)
        mine = await store_collection(session, SIDES, **values)
        expected = await fill(session, mine)
        await fill(session, others)
    async with stored.read() as session:
        assert await lists(session, mine, None, 100) == [*expected]
        assert await _pages(session, mine, lists) == [*expected]


async def test_pairs_are_listed_by_number_page_by_page(stored: SavepointDatabase):
    async with stored.write() as session:
        mine, others = [await store_collection(session, sides) for sides in (SIDES, OTHER_SIDES)]
        await store_pairs(session, mine, SIDES, numbers=range(COUNT - 1, 0, -1))
        await store_pairs(session, others, OTHER_SIDES, numbers=range(1, COUNT))
        await store_conversations(session, mine, 2)
        await store_conversations(session, mine, 1, pair=1, state="failed")
        await store_conversations(session, others, 3)
    async with stored.read() as session:
        assert await _pages(session, mine, _list_pairs) == [*range(COUNT)]
        found = await progress_store.list_pairs(session, mine, after=-1, limit=100)
    assert [each.conversations for each in found] == [{"running": 2}, {"failed": 1}, {}, {}, {}]


async def test_dialogues_are_listed_in_the_order_of_their_upload_page_by_page(stored: SavepointDatabase):
    mine, other = new_id(), new_id()
    async with stored.write() as session:
        await _dialogues(session, other)
        expected = await _dialogues(session, mine)
    async with stored.read() as reading:
        assert await _pages(reading, mine, _list_dialogues) == expected
        assert len(await corpora_store.list_dialogues(reading, mine, split=None)) == 2 * COUNT


async def test_corpora_are_listed_by_name_or_all_of_them_page_by_page(stored: SavepointDatabase):
    async with stored.write() as session:
        for each in (ids := new_ids(COUNT)):
            await _dialogues(session, each)

    async def lists(session: ReadSession, _: UUID, after: Any, limit: int) -> Sequence[UUID]:
        found = await corpora_store.list_corpora(session, name=None, after=after, limit=limit)
        return [each.id for each in found]

    async with stored.read() as reading:
        assert await _pages(reading, ids[0], lists) == ids
        named = await corpora_store.list_corpora(reading, name=f"corpus {ids[1]}", after=None, limit=100)
    assert [each.id for each in named] == [ids[1]]


async def test_collections_are_listed_by_name_or_all_of_them_page_by_page(stored: SavepointDatabase):
    async with stored.write() as session:
        ids = [await store_collection(session, SIDES, name=f"collection {number}") for number in range(COUNT)]

    async def lists(session: ReadSession, _: UUID, after: Any, limit: int) -> Sequence[UUID]:
        found = await collections_store.list_collections(session, name=None, after=after, limit=limit)
        return [each.id for each in found]

    async def newest(session: ReadSession, _: UUID, after: Any, limit: int) -> Sequence[UUID]:
        found = await collections_store.list_collections(
            session, name=None, newest_first=True, after=after, limit=limit
        )
        return [each.id for each in found]

    async with stored.read() as reading:
        assert await _pages(reading, ids[0], lists) == sorted(ids)  # of one millisecond in any order
        assert await _pages(reading, ids[0], newest) == sorted(ids, reverse=True)
        named = await collections_store.list_collections(reading, name="collection 1", after=None, limit=100)
    assert [each.id for each in named] == [ids[1]]


async def test_events_of_a_chat_are_listed_by_number_page_by_page(stored: SavepointDatabase):
    async with stored.write() as session:
        collection = await store_collection(session, SIDES)
        mine, other = await store_chats(session, collection, 2)
        await store_chat_events(session, other, COUNT + 1)
        await store_chat_events(session, mine, COUNT)

    async def lists(session: ReadSession, chat: UUID, after: Any, limit: int) -> Sequence[int]:
        return [each.number for each in await chats_store.list_events(session, chat, after=after or 0, limit=limit)]

    async with stored.read() as reading:
        assert await _pages(reading, mine, lists) == [*range(1, COUNT + 1)]
