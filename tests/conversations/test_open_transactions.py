"""While the service `bots` hangs, `conversations` keeps no transaction and no lock open."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from tests.factories.databases import Databases, DatabaseUrls
from tests.factories.frontends import QUESTIONS, answered, open_chats, say, start
from tests.factories.gates import Gate, long_transactions, standing_gate
from tests.factories.routes import IN_ANY_ORDER, InOrder, as_written
from tests.factories.running_suite import RunningSuite, run_suite
from tests.factories.studies import add_bot, created, plan


@contextlib.asynccontextmanager
async def gated_suite(
    database_urls: DatabaseUrls, in_order: InOrder = as_written
) -> AsyncIterator[tuple[RunningSuite, Gate]]:
    async with standing_gate() as gate:
        settings = {"bots_url": gate.url}
        async with run_suite(database_urls, only=("bots", "conversations"), conversations=settings) as suite:
            gate.lead_to(suite.urls["bots"])
            with in_order(suite.apps["conversations"]):
                yield suite, gate


@IN_ANY_ORDER
async def test_no_transaction_is_open_while_bots_hangs(
    databases: Databases, database_urls: DatabaseUrls, in_order: InOrder
):
    async with gated_suite(database_urls, in_order) as (suite, gate):
        bots = [await add_bot(suite, "eliza"), await add_bot(suite, "dull")]
        study = await open_chats(suite, bots)
        chat = await start(suite, study)
        admin = await suite.client("conversations", "admin")
        frontend = await suite.client("conversations", "annotation")
        chats = {"mode": "human_bot", "name": "s", "domain": "everyday", "bots": bots, "questions": QUESTIONS}
        requests = [
            (admin, "/v1/collections", plan(bots), 201),
            (admin, "/v1/collections", chats, 201),
            (admin, "/v1/collections/dry-run", plan(bots), 200),
            (admin, "/v1/partner-sets", {"name": "p", "bots": bots}, 201),
            (frontend, "/v1/chats", {"collection_id": study, "interactor": "p2"}, 201),
        ]
        with gate.closed():
            sent = [
                asyncio.create_task(client.post(path, json=body, headers={"Idempotency-Key": f"k{number}"}))
                for number, (client, path, body, _) in enumerate(requests)
            ]
            said = await say(suite, chat)
            await gate.stopped(len(requests) + 1)
            found = await long_transactions(databases.admin_url(database_urls))
            assert not any(each.done() for each in sent)
        answers = [await each for each in sent]
        replied = await answered(suite, chat)
    assert found == []
    assert said.status_code == 202
    assert [each.status_code for each in answers] == [status for *_, status in requests]
    assert len(replied["conversations"][0]["turns"]) == 2


async def test_a_repeated_start_gets_its_stored_answer_though_a_bot_was_retired_meanwhile(suite: RunningSuite):
    bots = [await add_bot(suite, "eliza"), await add_bot(suite, "dull")]
    admin = await suite.client("conversations", "admin")
    key = {"Idempotency-Key": "start-once"}
    first = await admin.post("/v1/collections", json=plan(bots), headers=key)
    owner = await suite.client("bots", "admin")
    assert (await owner.patch(f"/v1/bots/{bots[0]}", json={"status": "retired"})).is_success
    again = await admin.post("/v1/collections", json=plan(bots), headers=key)
    other = await admin.post("/v1/collections", json=plan(bots), headers={"Idempotency-Key": "start-again"})
    assert (first.status_code, again.status_code, other.status_code) == (201, 201, 422)
    assert again.json()["id"] == first.json()["id"]
    assert again.headers["idempotency-replayed"] == "true"
    assert "retired" in other.json()["detail"]


async def test_a_person_with_an_open_chat_gets_it_again_while_bots_hangs(database_urls: DatabaseUrls):
    async with gated_suite(database_urls) as (suite, gate):
        study = await open_chats(suite, [await add_bot(suite, "eliza"), await add_bot(suite, "dull")])
        chat = await start(suite, study)
        frontend = await suite.client("conversations", "annotation")
        with gate.closed():
            again = await created(frontend, "/v1/chats", {"collection_id": study, "interactor": "p1"})
    assert again["id"] == chat["id"]
