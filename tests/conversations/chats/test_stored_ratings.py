"""What the store returns of people's ratings, of chats held here and of imports, and who chatted in which of them."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import insert

from spotthebot.contracts.conversations.chats import HumanBotIn
from spotthebot.contracts.conversations.conversations import Participant, ParticipantKind
from spotthebot.contracts.conversations.exports import ExportedScore
from spotthebot.conversations.chats.errors import NotForChats
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.store import ratings as ratings_store
from spotthebot.conversations.chats.tables import ImportedRatingRow
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.errors import NoSuchCollection
from spotthebot.kit.crypto.pseudonyms import is_pseudonym
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.ids import new_id, new_ids
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import (
    NOON,
    bot,
    store_chats,
    store_collection,
    store_conversations,
    store_imported_ratings,
)

ONE, TWO = new_ids(2)
SIDES = bot(ONE, "one"), bot(TWO, "two")
IMPORTED: dict[str, Any] = {"mode": "import", "plan": {"held_as": "human_bot"}}
PLAN = HumanBotIn(mode="human_bot", name="people", domain="small-talk", bots=(ONE, TWO))
RATINGS = {
    "conversations": [{"number": 2, "scores": {"quality": 4, "care": 1}}, {"number": 1, "scores": {"quality": 2}}],
    "preferred": 2,
}


def _person(system: str) -> Participant:
    return Participant(kind=ParticipantKind.HUMAN, name="HU", system=system)


async def _collection_of_chats(session: WriteSession) -> UUID:
    return await store_collection(session, SIDES, mode="human_bot", plan=chats_store.plan_of(PLAN, SIDES))


class TestRatedChats:
    async def test_have_the_scores_of_their_conversations_in_the_order_in_which_they_were_held(
        self, stored: SavepointDatabase
    ):
        async with stored.write() as session:
            mine = await _collection_of_chats(session)
            first, second = await store_conversations(session, mine, 2)
            held = {"bots": [TWO, ONE], "conversations": [first, second], "state": "rated", "rated_at": NOON}
            (rated,) = await store_chats(session, mine, 1, ratings=RATINGS, **held)
            (silent,) = await store_chats(session, mine, 1, **held | {"conversations": [first]})
            found = await ratings_store.list_rated_chats(session, mine, after=None, limit=9)
        assert [(each.id, each.preferred, each.rated_at) for each in found] == [
            (rated, 2, NOON),
            (silent, None, NOON),
        ]
        assert [(each.id, each.number, each.participant, each.scores) for each in found[0].conversations] == [
            (first, 1, SIDES[1], {"quality": 2}),
            (second, 2, SIDES[0], {"quality": 4, "care": 1}),
        ]
        assert [(each.id, each.scores) for each in found[1].conversations] == [(first, {})]

    async def test_those_of_an_import_are_about_the_bot_or_between_people_the_second_of_them(
        self, stored: SavepointDatabase
    ):
        people = _person("first"), _person("second")
        for sides, expected in (
            (people, people[1]),
            ((people[0], SIDES[0]), SIDES[0]),
            ((SIDES[0], people[0]), SIDES[0]),
        ):
            async with stored.write() as session:
                mine = await store_collection(session, sides, **IMPORTED)
                await store_imported_ratings(session, mine, await store_conversations(session, mine, 1))
                (found,) = await ratings_store.list_rated_chats(session, mine, after=None, limit=9)
            assert [each.participant for each in found.conversations] == [expected]

    async def test_those_of_an_import_hold_their_conversations_by_number(self, stored: SavepointDatabase):
        chat, row = new_id(), {"interactor": "ann", "scores": {"quality": 4}, "rated_at": NOON, "preferred": 2}
        async with stored.write() as session:
            mine = await store_collection(session, SIDES, **IMPORTED)
            ids = await store_conversations(session, mine, 2)
            rows = [
                row | {"chat_id": chat, "collection_id": mine, "conversation_id": each, "number": number}
                for each, number in zip(ids, (2, 1), strict=True)
            ]
            await session.execute(insert(ImportedRatingRow), rows)
            (found,) = await ratings_store.list_rated_chats(session, mine, after=None, limit=1)
        assert (found.id, found.preferred, found.rated_at) == (chat, 2, NOON)
        assert is_pseudonym(found.interactor)
        assert [(each.id, each.number) for each in found.conversations] == [(ids[1], 1), (ids[0], 2)]

    async def test_are_of_collections_that_people_chat_in(self, stored: SavepointDatabase):
        async with stored.write() as session:
            for values in ({}, {"mode": "import"}, {"plan": {"held_as": "human_bot"}}):
                mine = await store_collection(session, SIDES, **values)
                with pytest.raises(NotForChats):
                    await ratings_store.list_rated_chats(session, mine, after=None, limit=9)
            for find in (chats_store.get_chat_collection, collections_store.get_source):
                with pytest.raises(NoSuchCollection):
                    await find(session, new_id())
            with pytest.raises(NoSuchCollection):
                await ratings_store.list_rated_chats(session, new_id(), after=None, limit=9)
            with pytest.raises(NotForChats):
                await chats_store.get_chat_collection(session, await store_collection(session, SIDES))
            collection = await chats_store.get_chat_collection(session, await _collection_of_chats(session))
        assert (collection.plan, collection.partners) == (PLAN, {ONE: SIDES[0], TWO: SIDES[1]})


class TestExportedRatings:
    async def test_are_of_the_conversations_of_rated_chats(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await _collection_of_chats(session)
            first, second, third, fourth = await store_conversations(session, mine, 4)
            values = {"bots": [ONE, TWO], "ratings": RATINGS, "rated_at": NOON, "state": "rated"}
            (chat,) = await store_chats(session, mine, 1, conversations=[first, second], **values)
            await store_chats(session, mine, 1, conversations=[third], bots=[ONE])
            await store_chats(session, mine, 1, conversations=[fourth], **values | {"ratings": None})
            source = await collections_store.get_source(session, mine)
            found = await ratings_store.find_ratings(session, source, [second, third, fourth])
            assert await ratings_store.find_ratings(session, source, [third]) == {}
        assert set(found) == {first, second, fourth}
        assert (found[second].chat_id, found[second].number) == (chat, 2)
        assert is_pseudonym(found[second].interactor)
        assert found[second].scores == (
            ExportedScore(question="care", score=1),
            ExportedScore(question="quality", score=4),
        )
        assert [(each.preferred, each.rated_at) for each in (found[second], found[fourth])] == [(2, NOON), (None, NOON)]
        assert found[fourth].scores == ()

    async def test_those_of_an_import_are_of_the_conversations_asked_for(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES, **IMPORTED)
            ids = await store_conversations(session, mine, 2)
            chats = await store_imported_ratings(session, mine, ids)
            source = await collections_store.get_source(session, mine)
            found = await ratings_store.find_ratings(session, source, ids[:1])
        assert [(key, each.chat_id, each.number) for key, each in found.items()] == [(ids[0], chats[0], 1)]
        assert found[ids[0]].scores == (ExportedScore(question="quality", score=4),)


async def test_interactors_are_known_of_chats_held_here_and_of_imports(stored: SavepointDatabase):
    async with stored.write() as session:
        mine, others = [await store_collection(session, SIDES, mode="human_bot") for _ in range(2)]
        ids = await store_conversations(session, mine, 4)
        await store_chats(session, mine, 1, interactor="bob", conversations=ids[:2])
        await store_chats(session, others, 1, interactor="eve", conversations=[ids[3]])
        await store_imported_ratings(session, mine, [ids[2]])
        found = await chats_store.list_interactors(session, mine, after=None, limit=9)
        rest = await chats_store.list_interactors(session, mine, after=ids[1], limit=1)
    assert found == list(zip(ids, ("bob", "bob", "ann", None), strict=True))
    assert rest == found[2:3]
