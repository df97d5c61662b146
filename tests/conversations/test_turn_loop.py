"""Conversations come to their end, whatever becomes of the service that speaks for the bots meanwhile."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from spotthebot.bots.app import SERVICE as BOTS
from spotthebot.contracts.conversations import ConversationState, Participant, ParticipantKind
from spotthebot.conversations import store, use_cases
from spotthebot.conversations.app import SERVICE as CONVERSATIONS
from spotthebot.conversations.domain.conversations import Conversation, Reply
from spotthebot.kit.client import PeerUnavailable
from spotthebot.kit.database import Database
from spotthebot.suite.supervision.sockets import bind
from tests.factories.house import DatabaseUrls, House, Keys, bots_settings, open_house, served
from tests.factories.studies import (
    add_bot,
    add_corpus,
    conversation,
    created,
    import_conversations,
    plan,
    until,
)


class FlakyBots:
    """Stands in for a peer that fails in the middle: which no real one does on demand."""

    def __init__(self, fail_at: int) -> None:
        self.calls = 0
        self._fail_at = fail_at

    async def reply(self, _bot_id: UUID, conversations: list[Conversation]) -> list[Reply]:
        self.calls += 1
        if self.calls == self._fail_at:
            raise PeerUnavailable(peer="bots", reason="gone")
        return [Reply(f"turn {len(each.turns)}", None, 1.0) for each in conversations]


async def _running(house: House, database: Database) -> Conversation:
    """Store a conversation of three exchanges that no job was queued for."""
    bots = [UUID(await add_bot(house, model)) for model in ("eliza", "dull")]
    collection = await import_conversations(house, [conversation("c", "X", "Y")])
    first, second = (Participant(kind=ParticipantKind.BOT, name=str(each), bot_id=each) for each in bots)
    running = Conversation(
        id=UUID(int=5),
        collection_id=UUID(collection),
        external_id=None,
        state=ConversationState.RUNNING,
        failure=None,
        participants=(first, second),
        opening=(),
        opening_shown=False,
        turns=(),
        turns_wanted=6,
        seed=0,
        domain="everyday",
    )
    async with database.write() as session:
        await store.add_conversations(session, [running])
    return running


class TestHoldConversations:
    async def test_a_job_that_is_run_again_goes_on_at_the_last_turn(self, house: House):
        database = Database(house.database.app["conversations"], pool_size=2)
        running = await _running(house, database)
        flaky = FlakyBots(fail_at=4)
        with pytest.raises(PeerUnavailable):
            await use_cases.hold_conversations(database, flaky, [running.id])
        await use_cases.hold_conversations(database, flaky, [running.id])
        await use_cases.hold_conversations(database, flaky, [running.id])  # once more: there is nothing left to do
        await database.close()
        assert flaky.calls == 6 + 1  # six turns, one failure
        with psycopg.connect(house.database.owner["conversations"]) as connection:
            rows = connection.execute(
                "SELECT position, text FROM conversations.turns WHERE conversation_id = %s ORDER BY 1", [running.id]
            ).fetchall()
        assert rows == [(number, f"turn {number}") for number in range(6)]

    async def test_two_jobs_at_once_say_every_turn_once(self, house: House):
        database = Database(house.database.app["conversations"], pool_size=4)
        running = await _running(house, database)
        bots = FlakyBots(fail_at=0)
        await asyncio.gather(*(use_cases.hold_conversations(database, bots, [running.id]) for _ in range(2)))
        async with database.read() as session:
            held = await store.get_conversation(session, running.id)
        await database.close()
        assert held.state is ConversationState.COMPLETE
        assert held.turns == tuple(f"turn {number}" for number in range(6))

    async def test_what_cannot_be_mended_ends_with_its_reason(self, house: House):
        database = Database(house.database.app["conversations"], pool_size=2)
        running = await _running(house, database)
        await use_cases.fail_conversations(database, [running.id], "bots does not answer")
        async with database.read() as session:
            held = await store.get_conversation(session, running.id)
        await database.close()
        assert (held.state, held.failure, held.turns) == (ConversationState.FAILED, "bots does not answer", ())


class TestBots:
    async def test_that_are_busy_are_asked_again_when_they_say(self, database_urls: DatabaseUrls):
        limits = {"rate_limit_requests_per_minute": 120}
        async with open_house(database_urls, bots=limits) as house:
            bots = [await add_bot(house, model) for model in ("eliza", "dull")]
            admin = await house.client("conversations", "admin")
            wanted = plan(bots, conversations_per_pair=1, exchanges=62)  # 124 turns, one request each
            collection = await created(admin, "/v1/collections", wanted)
            done = await until(admin, f"/v1/collections/{collection['id']}", "complete")
            assert (done["complete"], done["failed"], done["turns"]) == (1, 0, 124)

    async def test_that_refuse_end_their_conversations_with_the_reason(self, house: House):
        corpus = await add_corpus(house)
        bots = [await add_bot(house, "retrieval", corpus_id=corpus), await add_bot(house, "dull")]
        admin = await house.client("conversations", "admin")
        late = {"dialogues": [{"key": "late", "split": "train", "turns": ["Hello.", "Too late."]}]}
        await created(admin, f"/v1/corpora/{corpus}/dialogues", late)  # so the bot is no longer what was registered
        collection = await created(admin, "/v1/collections", plan(bots))
        done = await until(admin, f"/v1/collections/{collection['id']}", "complete")
        assert (done["complete"], done["failed"]) == (0, 2)
        held = (await admin.get(f"/v1/collections/{collection['id']}/conversations")).json()["items"]
        assert all("have changed since it was registered" in each["failure"] for each in held)

    async def test_that_are_away_for_a_while_are_waited_for(self, database_urls: DatabaseUrls, keys: Keys):
        service_key = await keys.make("service")
        header = {"Authorization": f"Bearer {await keys.make('admin')}"}
        port = _free_port()
        own = {"service_key": service_key, "database_pool_size": 3}
        its_bots = BOTS.settings(database_url=database_urls.app["bots"], **bots_settings(), **own)
        settings = CONVERSATIONS.settings(
            database_url=database_urls.app["conversations"], bots_url=f"http://127.0.0.1:{port}", **own
        )
        async with (
            served(CONVERSATIONS.create_app(settings), bind("127.0.0.1", 0)) as url,
            httpx.AsyncClient(base_url=url, headers=header) as admin,
            _at_work(settings),
        ):
            async with served(BOTS.create_app(its_bots), bind("127.0.0.1", port)) as bots_url:
                bots = await _register(bots_url, header)
                wanted = plan(bots, conversations_per_pair=2, exchanges=60)
                first = await created(admin, "/v1/collections", wanted)
                path = f"/v1/collections/{first['id']}"
                async with asyncio.timeout(30):
                    while not (await admin.get(path)).json()["turns"]:
                        await asyncio.sleep(0.005)
            await asyncio.sleep(0.5)  # long enough to be noticed
            cut_off = (await admin.get(path)).json()
            assert cut_off["state"] == "collecting"
            assert 0 < cut_off["turns"] < 2 * 120
            async with served(BOTS.create_app(its_bots), bind("127.0.0.1", port)):
                done = await until(admin, path, "complete")
                assert (done["complete"], done["failed"], done["turns"]) == (2, 0, 2 * 120)
                undisturbed = await created(admin, "/v1/collections", wanted)
                await until(admin, f"/v1/collections/{undisturbed['id']}", "complete")
            texts = [await _texts(admin, collection["id"]) for collection in (first, undisturbed)]
        assert texts[0] == texts[1]  # word for word what would have been said


def _free_port() -> int:
    with contextlib.closing(bind("127.0.0.1", 0)) as sock:
        return int(sock.getsockname()[1])


@asynccontextmanager
async def _at_work(settings: Any) -> AsyncIterator[None]:
    worker = asyncio.ensure_future(CONVERSATIONS.work(settings))
    try:
        yield
    finally:
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)


async def _register(bots_url: str, header: dict[str, str]) -> list[str]:
    async with httpx.AsyncClient(base_url=bots_url, headers=header) as admin:
        bodies = [
            {"name": model, "domains": ["everyday"], "protocol": {"kind": "builtin", "model": model}}
            for model in ("eliza", "parrot")
        ]
        return [(await created(admin, "/v1/bots", body))["id"] for body in bodies]


async def _texts(admin: httpx.AsyncClient, collection: str) -> list[list[str]]:
    held = (await admin.get(f"/v1/collections/{collection}/conversations")).json()["items"]
    return [[turn["text"] for turn in each["turns"]] for each in held]
