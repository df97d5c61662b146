"""Chats that do not go as they should: rules that are broken, bots that fail, jobs that run twice, people who leave."""

import asyncio
import json
from collections import Counter
from typing import Any
from uuid import UUID

from sqlalchemy import text

from spotthebot.clients import AsyncBots
from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.use_cases.reply import ChatReply
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.collections import store as collections_store
from spotthebot.kit.database.sessions import Database
from tests.factories.bot_servers import bot, well_behaved
from tests.factories.frontends import (
    advance,
    all_events,
    answered,
    chats_of,
    conversations_of,
    exchange,
    get,
    open_chats,
    rate,
    ratings,
    say,
    start,
    two_bots,
    webhook_bot,
)
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, created, plan


def begins_with(question: dict[str, Any], words: str) -> bool:
    """Whether this is a question from a chat, and none of a probe."""
    return bool(question["turns"]) and question["turns"][0]["text"] == words


class TestRules:
    async def test_turns_alternate_and_a_repeated_request_adds_no_turn(self, suite: RunningSuite):
        release = asyncio.Event()

        async def think(question: dict[str, Any]) -> Any:
            if begins_with(question, "Wait."):
                await release.wait()
            return well_behaved(question)

        async with bot(think) as (_, url):
            bots = [await webhook_bot(suite, url), await webhook_bot(suite, url, name="other")]
            chat = await start(suite, await open_chats(suite, bots, minimum_turns=4))
            first, again = [await say(suite, chat, "Wait.", key="turn-0") for _ in range(2)]
            assert (first.status_code, again.status_code, again.json()) == (202, 202, first.json())
            early = await say(suite, chat, "Hello?")
            assert (early.status_code, "partner speaks next" in early.json()["detail"]) == (409, True)
            assert (await advance(suite, chat)).status_code == 409
            release.set()
            found = await answered(suite, chat)
            assert len(found["conversations"][0]["turns"]) == 2
            refused = await advance(suite, chat)
            assert (refused.status_code, "has 2 turns and needs 4" in refused.json()["detail"]) == (409, True)
            assert not found["may_advance"]
            assert (await exchange(suite, chat, "Go on."))["may_advance"]

    async def test_a_turn_is_said_to_the_partner_it_was_meant_for_or_to_nobody(self, suite: RunningSuite):
        """The first partner leaves while the person still types, and both greetings carry the same key and words."""
        chat = await start(suite, await open_chats(suite, await two_bots(suite)))
        await say(suite, chat, "Good morning!", number=1, key="first-words")
        await answered(suite, chat)
        await advance(suite, chat)
        late = await say(suite, chat, "And another thing!", number=1)
        assert (late.status_code, "speak in conversation 2" in late.json()["detail"]) == (409, True)
        early = await say(suite, chat, "Who comes next?", number=3)
        assert (early.status_code, "has not begun" in early.json()["detail"]) == (409, True)
        reused = await say(suite, chat, "Good morning!", number=2, key="first-words")
        assert (reused.status_code, reused.json()["title"]) == (422, "Idempotency-Key reused")
        assert (await get(suite, chat))["conversations"][1]["turns"] == []
        found = await exchange(suite, chat, "Good morning!")
        assert [turn["text"] for turn in found["conversations"][1]["turns"]][:1] == ["Good morning!"]

    async def test_refuses_empty_turns_other_roles_and_unknown_collections(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite))
        chat = await start(suite, collection_id)
        for words in ("", "   ", "a" * 2001, "a\u0000b"):
            said = await say(suite, chat, words)
            assert said.status_code == 422, (words[:9], said.text)
            assert said.json()["errors"][0]["pointer"] == "/text"
        request = {"collection_id": collection_id, "interactor": "p"}
        for role in ("analyst", "service", "team"):
            client = await suite.client("conversations", role)
            assert (await client.post("/v1/chats", json=request)).status_code == 403
        admin = await suite.client("conversations", "admin")
        other = (await created(admin, "/v1/collections", {"mode": "import", "name": "i", "domain": "everyday"}))["id"]
        refused = await admin.post("/v1/chats", json=request | {"collection_id": other})
        assert (refused.status_code, "human_bot" in refused.json()["detail"]) == (409, True)
        assert (await admin.get(f"/v1/collections/{other}/ratings")).status_code == 409
        assert (await admin.get(f"/v1/chats/{other}")).status_code == 404
        unheard = await admin.get(f"/v1/chats/{chat['id']}/events", headers={"Last-Event-ID": "x"})
        assert unheard.status_code == 422

    async def test_special_tokens_of_a_reply_are_removed_but_stored_raw(self, suite: RunningSuite, outbox: Database):
        async with bot(lambda _: {"text": "Fine, thanks. <|endoftext|>"}) as (_, url):
            bots = [await webhook_bot(suite, url), await webhook_bot(suite, url, name="other")]
            found = await exchange(suite, await start(suite, await open_chats(suite, bots)))
        assert found["conversations"][0]["turns"][1]["text"] == "Fine, thanks."
        async with outbox.read() as session:
            raw = await session.scalars(text("SELECT raw FROM conversations.turns ORDER BY position"))
            assert raw.all() == [None, "Fine, thanks. <|endoftext|>"]

    async def test_an_idle_chat_is_abandoned(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite), abandoned_after_seconds=1)
        chat = await start(suite, collection_id)
        events = await all_events(suite, chat)
        assert [(kind, data) for _, kind, data in events] == [("done", {"state": "abandoned"})]
        assert (await say(suite, chat)).status_code == 409
        assert [each["state"] for each in await chats_of(suite, collection_id)] == ["abandoned"]
        analyst = await suite.client("conversations", "analyst")
        collection = (await analyst.get(f"/v1/collections/{collection_id}")).json()
        assert (collection["conversations"], collection["cancelled"]) == (1, 1)
        assert (await start(suite, collection_id))["id"] != chat["id"]


class TestFinishedCollections:
    async def test_no_chat_begins_in_a_collection_that_is_finished_meanwhile(
        self, suite: RunningSuite, outbox: Database
    ):
        """The request to begin waits for the lock that finishing holds, and looks at the collection afterwards."""
        collection_id = await open_chats(suite, await two_bots(suite))
        frontend = await suite.client("conversations", "annotation")
        async with outbox.write() as session:
            await chats_store.lock_draws(session, UUID(collection_id))
            beginning = asyncio.create_task(
                frontend.post("/v1/chats", json={"collection_id": collection_id, "interactor": "late"})
            )
            await _somebody_waits_for_a_lock(outbox)
            await collections_store.change_state(session, [UUID(collection_id)], CollectionState.COMPLETE)
        refused = await beginning
        assert (refused.status_code, "complete" in refused.json()["detail"]) == (409, True)
        assert await chats_of(suite, collection_id) == []

    async def test_no_chat_begins_in_a_collection_that_is_cancelled_meanwhile(
        self, suite: RunningSuite, outbox: Database
    ):
        collection_id = await open_chats(suite, await two_bots(suite))
        frontend = await suite.client("conversations", "annotation")
        async with outbox.write() as session:
            await collections_store.lock_collection(session, UUID(collection_id))
            beginning = asyncio.create_task(
                frontend.post("/v1/chats", json={"collection_id": collection_id, "interactor": "late"})
            )
            await _somebody_waits_for_a_lock(outbox)
            await collections_store.change_state(session, [UUID(collection_id)], CollectionState.CANCELLED)
        refused = await beginning
        assert (refused.status_code, "cancelled" in refused.json()["detail"]) == (409, True)
        assert await chats_of(suite, collection_id) == []


async def _somebody_waits_for_a_lock(database: Database) -> None:
    waiting = text(
        "SELECT count(*) FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)"
        " WHERE NOT l.granted AND a.datname = current_database()"
    )
    async with asyncio.timeout(60), database.read() as session:
        while not await session.scalar(waiting):
            await asyncio.sleep(0.02)


class TestBots:
    async def test_a_failed_request_is_retried_under_the_same_key(self, suite: RunningSuite):
        stumbles = iter([True])

        def stumble(question: dict[str, Any]) -> Any:
            is_ours = begins_with(question, "Stumble.")
            return (500, {}) if is_ours and next(stumbles, False) else well_behaved(question)

        async with bot(stumble) as (clumsy, url):
            bots = [await webhook_bot(suite, url), await webhook_bot(suite, url, name="other")]
            chat = await start(suite, await open_chats(suite, bots))
            await exchange(suite, chat, "Stumble.")
            await advance(suite, chat)
            await exchange(suite, chat, "Well done.")
            await advance(suite, chat)
            events = await all_events(suite, chat)
        asked = [
            headers["idempotency-key"]
            for headers, question in zip(clumsy.headers, clumsy.asked, strict=True)
            if begins_with(question, "Stumble.")
        ]
        assert (len(asked), len(set(asked))) == (2, 1)
        assert [kind for _, kind, _ in events[:5]] == ["turn", "typing", "failed", "turn", "next"]
        assert events[2][2] == {"number": 1, "again": True, "message": "Your partner needs a little longer."}

    async def test_a_bot_that_never_replies_is_followed_by_the_next_bot(self, suite: RunningSuite):
        def refuse(question: dict[str, Any]) -> Any:
            is_ours = begins_with(question, "Anybody?")
            return (500, {"error": "secret-model-name ran out of memory"}) if is_ours else well_behaved(question)

        async with bot(refuse) as (_, url):
            bots = [await webhook_bot(suite, url), await webhook_bot(suite, url, name="other")]
            collection_id = await open_chats(suite, bots)
            chat = await start(suite, collection_id)
            await say(suite, chat, "Anybody?")
            async with asyncio.timeout(30):
                while len((found := await get(suite, chat))["conversations"]) < 2:
                    await asyncio.sleep(0.05)
            assert found["conversations"][0]["broken_off"]
            await exchange(suite, chat, "Good morning.")
            await advance(suite, chat)
            events = await all_events(suite, chat)
        assert [data["again"] for _, kind, data in events if kind == "failed"] == [True, True, True, False]
        assert "secret-model" not in json.dumps(events)
        assert (await rate(suite, chat, ratings(2))).status_code == 200
        held = await conversations_of(suite, collection_id)
        assert [each["state"] for each in held] == ["failed", "complete"]
        assert "500" in held[0]["failure"]

    async def test_a_bot_busy_with_a_collection_replies_to_people_first(self, suite: RunningSuite):
        """It bears one question at a time, which holds, and its runners do not keep its only place for themselves."""

        async def slowly(question: dict[str, Any]) -> Any:
            await asyncio.sleep(0.05)
            return well_behaved(question)

        async with bot(slowly) as (busy, url):
            ours = await webhook_bot(suite, url, limits={"concurrency": 1})
            admin = await suite.client("conversations", "admin")
            busy.max_at_once = 0
            request = plan([ours, await add_bot(suite, "dull")], exchanges=10, conversations_per_pair=40)
            collection = (await created(admin, "/v1/collections", request))["id"]
            chat = await start(suite, await open_chats(suite, [ours], bots_per_chat=1))
            for _ in range(2):
                await exchange(suite, chat)
            assert (await admin.get(f"/v1/collections/{collection}")).json()["state"] == "collecting"
            assert (await admin.post(f"/v1/collections/{collection}/cancel")).status_code == 200
        assert busy.max_at_once == 1


class TestJobs:
    async def test_a_job_that_runs_several_times_at_once_adds_one_turn_under_one_key(
        self, suite: RunningSuite, outbox: Database
    ):
        release = asyncio.Event()

        async def think(question: dict[str, Any]) -> Any:
            if begins_with(question, "Wait."):
                await release.wait()
            return well_behaved(question)

        async with bot(think) as (thinking, url):
            bots = [await webhook_bot(suite, url), await webhook_bot(suite, url, name="other")]
            collection_id = await open_chats(suite, bots)
            chat = await start(suite, collection_id)
            await say(suite, chat, "Wait.")
            (held,) = await conversations_of(suite, collection_id)
            key = await suite.keys.make("service")
            jobs = suite.apps["conversations"].state.resources.jobs
            async with AsyncBots(suite.urls["bots"], key) as client:
                again = [
                    asyncio.create_task(
                        ChatReply(outbox, jobs, Bots(client), job_id).run(UUID(chat["id"]), UUID(held["id"]), 1)
                    )
                    for job_id in (1001, 1002, 1003)
                ]
                async with asyncio.timeout(60):
                    while sum(begins_with(each, "Wait.") for each in thinking.asked) < 4:
                        await asyncio.sleep(0.02)
                release.set()
                await asyncio.gather(*again)
            found = await answered(suite, chat)
            keys = Counter(
                headers["idempotency-key"]
                for headers, question in zip(thinking.headers, thinking.asked, strict=True)
                if begins_with(question, "Wait.")
            )
        assert len(found["conversations"][0]["turns"]) == 2
        assert (found["last_event"], list(keys.values())) == (3, [4])
        async with outbox.read() as session:
            assert await session.scalar(text("SELECT count(*) FROM conversations.concurrency_slots")) == 0
