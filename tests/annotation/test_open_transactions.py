"""While the service `conversations` hangs, `annotation` keeps no transaction and no lock open."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID

import pytest

from spotthebot.annotation.campaign_setup.use_cases.packages import build_campaign
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.clients import AsyncConversations, PeerUnavailable, Retries
from spotthebot.contracts.annotation.campaigns import CampaignIn
from spotthebot.kit.database.sessions import Database
from tests.factories.databases import Databases, DatabaseUrls
from tests.factories.gates import long_transactions, standing_gate
from tests.factories.routes import IN_ANY_ORDER, InOrder
from tests.factories.running_suite import RunningSuite, run_suite
from tests.factories.studies import conversation, created, import_conversations, until

MIX = {"name": "mix", "domain": "everyday", "segments": [1, 2], "human_share": 0.25, "open": True}
REQUESTS_OF_A_BUILD = 4
"""The texts of two collections, strata, interactors."""


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("conversations", "annotation")


@IN_ANY_ORDER
async def test_no_transaction_is_open_while_conversations_hangs(
    databases: Databases, database_urls: DatabaseUrls, in_order: InOrder
):
    async with (
        AsyncExitStack() as stack,
        standing_gate() as gate,
        run_suite(
            database_urls, only=("conversations", "annotation"), annotation={"conversations_url": gate.url}
        ) as suite,
    ):
        stack.enter_context(in_order(suite.apps["annotation"]))
        gate.lead_to(suite.urls["conversations"])
        collection = await import_conversations(suite, [conversation("c0", "X", "Y")])
        admin = await suite.client("annotation", "admin")
        campaign = {"mode": "import", "name": "i", "domain": "everyday", "collection_id": collection, "segments": [1]}
        path = f"/v1/campaigns/{(await created(admin, '/v1/campaigns', campaign))['id']}"
        await until(admin, path, "open")
        conversations = await suite.client("conversations", "admin")
        later = {"conversations": [conversation("c1", "X", "Y")]}
        await created(conversations, f"/v1/collections/{collection}/conversations", later)
        packages = {"packages": [{"external_id": "p", "segments": [{"conversation": "c1", "exchanges": 1}]}]}
        mix = MIX | {"collections": await _collections(suite)}
        imported = {"mode": "import", "name": "talks", "domain": "everyday", "held_as": "human_bot"}
        talks = (await created(conversations, "/v1/collections", imported))["id"]
        database = Database(database_urls.app["annotation"], pool_size=2)
        building = await _building(database, campaign | {"name": "built"})
        async with AsyncConversations(gate.url, await suite.keys.make("service")) as behind_gate:
            with gate.closed():
                sent = [
                    asyncio.create_task(admin.post(target, json=body, headers={"Idempotency-Key": f"k{number}"}))
                    for number, (target, body) in enumerate(
                        [
                            ("/v1/campaigns", campaign | {"name": "second"}),
                            (f"{path}/packages", packages),
                            ("/v1/campaigns", mix),
                            ("/v1/studies", {"name": "s", "campaigns": [path.rpartition("/")[2]], "chats": [talks]}),
                        ]
                    )
                ]
                job = asyncio.create_task(build_campaign(database, Conversations(behind_gate), building))
                await gate.stopped(5)
                found = await long_transactions(databases.admin_url(database_urls))
                assert not any(each.done() for each in [*sent, job])
            answers = [await each for each in sent]
            await job
        await database.close()
        built = await admin.get(f"/v1/campaigns/{building}")
    assert found == []
    assert [each.status_code for each in answers] == [201, 201, 201, 201]
    assert answers[1].json() == {"stored": 1, "already_there": 0}
    assert built.json()["state"] == "open"


async def test_a_mix_is_built_again_whichever_answer_conversations_did_not_give(
    databases: Databases, fresh_suite: RunningSuite
):
    """As where the service is stopped, or its machine is lost: connections stay, and nothing comes.

    Services that run for longer would soon queue jobs for what is being built without one.
    """
    suite = fresh_suite
    key = await suite.keys.make("service")
    database = Database(suite.database.app["annotation"], pool_size=REQUESTS_OF_A_BUILD)
    body = MIX | {"collections": await _collections(suite)}
    ids = [await _building(database, body) for _ in range(REQUESTS_OF_A_BUILD)]
    jobs = []
    async with AsyncExitStack() as stack:
        for passing, campaign_id in enumerate(ids):
            gate = await stack.enter_async_context(standing_gate())
            gate.lead_to(suite.urls["conversations"])
            stack.enter_context(gate.closed(passing=passing))
            client = AsyncConversations(gate.url, key, timeout_seconds=3, retries=Retries(attempts=1))
            conversations = Conversations(await stack.enter_async_context(client))
            jobs.append(asyncio.create_task(build_campaign(database, conversations, campaign_id)))
            await gate.stopped(1)
        found = await long_transactions(databases.admin_url(suite.database))
        outcomes = await asyncio.gather(*jobs, return_exceptions=True)
    assert found == []
    assert [type(each) for each in outcomes] == [PeerUnavailable] * REQUESTS_OF_A_BUILD
    # On a slow machine the service's own worker may have built one by now, from `conversations` itself.
    assert {(await _campaign(suite, each))["state"] for each in ids} <= {"building", "open"}
    async with AsyncConversations(suite.urls["conversations"], key) as client:
        for campaign_id in ids:
            await build_campaign(database, Conversations(client), campaign_id)
    await database.close()
    built = [await _campaign(suite, each) for each in ids]
    assert [(each["state"], each["items"], each["not_selected"]) for each in built] == [("open", 8, 2)] * len(built)


async def _collections(suite: RunningSuite) -> list[str]:
    """Make two collections with three conversations of bots, and with three of people of which a mix takes one."""
    parts = [("b0", "p0", "p1"), ("b1", "b2", "p2")]
    return [
        await import_conversations(
            suite, [conversation(name, *(("HU", "HU") if name[0] == "p" else ("X", "Y"))) for name in part]
        )
        for part in parts
    ]


async def _building(database: Database, body: dict[str, Any]) -> UUID:
    """Store a campaign that is to be built, without a job, so that no worker takes it."""
    protocol = built_in_protocols()["spot_the_bot", 1]
    async with database.write() as session:
        return (await campaigns_store.add_campaign(session, CampaignIn(**body), protocol)).id


async def _campaign(suite: RunningSuite, campaign_id: UUID) -> dict[str, Any]:
    admin = await suite.client("annotation", "admin")
    found: dict[str, Any] = (await admin.get(f"/v1/campaigns/{campaign_id}")).json()
    return found
