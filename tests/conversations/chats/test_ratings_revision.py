"""The revision of a collection's ratings changes with every rating, and only with ratings and their people."""

import asyncio
from uuid import UUID

import psycopg
from sqlalchemy import update

from spotthebot.clients import AsyncConversations
from spotthebot.contracts.conversations.chats import ChatRatingsIn, HumanBotIn
from spotthebot.contracts.conversations.ratings import RatingsRevisionOut
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.store import ratings as ratings_store
from spotthebot.conversations.chats.tables import ChatRow
from tests.conversations.transfers import lines_of, upload
from tests.factories.chat_studies import import_chats
from tests.factories.frontends import SCORES, exchange, open_chats, rate, ratings, start, talk, two_bots
from tests.factories.rated_chats import exported_chats
from tests.factories.running_suite import RunningSuite
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import NOON, bot, store_chats, store_collection

NOBODY = UUID(int=1)
PERSONS_OWN = {"conversations": [{"number": 1, "scores": SCORES}], "preferred": None}


async def revision(suite: RunningSuite, collection_id: str) -> tuple[int, str]:
    analyst = await suite.client("conversations", "analyst")
    answer = await analyst.get(f"/v1/collections/{collection_id}/ratings/revision")
    assert answer.status_code == 200, answer.text
    found = RatingsRevisionOut.model_validate(answer.json())
    return found.ratings, found.revision


async def erase_first(suite: RunningSuite, collection_id: str, submitted_texts: str) -> None:
    admin = await suite.client("conversations", "admin")
    path = f"/v1/collections/{collection_id}/chat-people"
    person = (await admin.get(path)).json()["items"][0]
    query = {"submitted_texts": submitted_texts}
    assert (await admin.post(f"{path}/{person['id']}/erase", params=query)).status_code == 200


class TestRevision:
    async def test_changes_with_the_first_rating_and_with_its_replacement_alone(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite))
        seen = [await revision(suite, collection_id)]
        chat = await start(suite, collection_id)
        await talk(suite, chat)
        assert await revision(suite, collection_id) == seen[0], "nothing is rated so far"
        for preferred in (1, 2):
            assert (await rate(suite, chat, ratings(1, 2, preferred=preferred))).status_code == 200
            seen.append(await revision(suite, collection_id))
        await exchange(suite, await start(suite, collection_id, "p2"))
        assert await revision(suite, collection_id) == seen[-1], "a chat goes on, and nobody rated it"
        assert [count for count, _ in seen] == [0, 1, 1]
        assert len({text for _, text in seen}) == 3

    async def test_changes_with_an_import_of_other_ratings_alone(self, suite: RunningSuite):
        chats = exported_chats(2)
        collection_id = await import_chats(suite, chats[:2])
        before = await revision(suite, collection_id)
        await upload(suite, collection_id, lines_of(*chats[:2]))
        assert await revision(suite, collection_id) == before, "they are known already"
        await upload(suite, collection_id, lines_of(*chats[2:]))
        after = await revision(suite, collection_id)
        assert (before[0], after[0]) == (1, 2)
        assert before[1] != after[1]

    async def test_changes_with_an_erasure_and_again_with_that_of_the_words(self, suite: RunningSuite):
        held = await open_chats(suite, await two_bots(suite))
        chat = await start(suite, held)
        await talk(suite, chat)
        await rate(suite, chat, ratings(1, 2))
        for collection_id in (held, await import_chats(suite, exported_chats(1))):
            seen = [await revision(suite, collection_id)]
            for submitted_texts in ("keep", "erase"):
                await erase_first(suite, collection_id, submitted_texts)
                seen.append(await revision(suite, collection_id))
            await erase_first(suite, collection_id, "erase")
            assert await revision(suite, collection_id) == seen[-1], "a repeat changes nothing"
            assert {count for count, _ in seen} == {1}
            assert len({text for _, text in seen}) == 3

    async def test_is_for_those_who_may_know_the_bots_of_chats_that_exist(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite))
        path = f"/v1/collections/{collection_id}/ratings/revision"
        frontend = await suite.client("conversations", "annotation")
        team = await suite.client("conversations", "team", team="one")
        assert [(await each.get(path)).status_code for each in (frontend, team)] == [403, 403]
        admin = await suite.client("conversations", "admin")
        body = {"mode": "import", "name": "bots", "domain": "everyday", "held_as": "all_play_all"}
        other = (await admin.post("/v1/collections", json=body)).json()["id"]
        refused = await admin.get(f"/v1/collections/{other}/ratings/revision")
        assert (refused.status_code, refused.json()["type"].rpartition(":")[2]) == (409, "not-for-chats")
        unknown = await admin.get(f"/v1/collections/{NOBODY}/ratings/revision")
        assert unknown.status_code == 404

    async def test_is_what_the_typed_client_returns(self, suite: RunningSuite):
        collection_id = await import_chats(suite, exported_chats(2))
        async with AsyncConversations(suite.urls["conversations"], await suite.keys.make("analyst")) as client:
            found = await client.chat_ratings_revision(UUID(collection_id))
        assert (found.ratings, found.revision) == await revision(suite, collection_id)


class TestTwoWriters:
    async def test_lose_no_revision(self, suite: RunningSuite):
        """Three people rate at once. The revision is that of their ratings one by one, in any order."""
        bots = await two_bots(suite)
        collection_id = await open_chats(suite, bots)
        chats = [await start(suite, collection_id, f"p{number}") for number in range(3)]
        await asyncio.gather(*(talk(suite, each) for each in chats))
        before = await revision(suite, collection_id)
        await asyncio.gather(*(rate(suite, each, ratings(1, 2)) for each in chats))
        after = await revision(suite, collection_id)
        assert (before[0], after[0]) == (0, 3)
        with psycopg.connect(suite.database.owner["conversations"]) as connection:
            hashed = connection.execute(
                "SELECT hash_record_extended(row(id, interactor, bots, conversations, ratings, rated_at), 0)"
                " FROM conversations.chats"
            ).fetchall()
        assert after[1] == f"3-{sum(each for (each,) in hashed) % 2**64:016x}"

    async def test_are_seen_one_after_the_other_as_they_commit(self, stored: SavepointDatabase):
        """A chat that others only read or go on with keeps the revision; each committed rating makes another."""
        partner = bot(NOBODY, "one")
        request = HumanBotIn(mode="human_bot", name="people", domain="small-talk", bots=(NOBODY,), bots_per_chat=1)
        async with stored.write() as session:
            plan = chats_store.plan_of(request, [partner])
            mine = await store_collection(session, [partner] * 2, mode="human_bot", plan=plan)
            held = {"state": "rated", "ratings": PERSONS_OWN, "rated_at": NOON}
            one, other = await store_chats(session, mine, 2, **held)
            found = [await ratings_store.get_ratings_revision(session, mine)]
            for changed in ({"events": 7}, {"token_sha256": b"x"}, {"link": "mail"}):
                await session.execute(update(ChatRow).where(ChatRow.id == one).values(**changed))
                assert await ratings_store.get_ratings_revision(session, mine) == found[0]
            for chat in (one, other):
                await chats_store.rate(session, chat, ChatRatingsIn.model_validate(PERSONS_OWN | {"preferred": 1}))
                found.append(await ratings_store.get_ratings_revision(session, mine))
        assert len({each.revision for each in found}) == 3
