"""While the service `conversations` hangs, `annotation` keeps no transaction and no lock open."""

import asyncio

from spotthebot.annotation import store
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.domain.protocols import built_in_protocols
from spotthebot.annotation.use_cases.campaigns import build_campaign
from spotthebot.clients import AsyncConversations
from spotthebot.contracts.annotation import CampaignIn
from spotthebot.kit.database import Database
from tests.factories.databases import Databases, DatabaseUrls
from tests.factories.gates import long_transactions, standing_gate
from tests.factories.running_suite import run_suite
from tests.factories.studies import conversation, created, import_conversations, until


async def test_no_transaction_is_open_while_conversations_hangs(databases: Databases, database_urls: DatabaseUrls):
    async with (
        standing_gate() as gate,
        run_suite(
            database_urls, only=("conversations", "annotation"), annotation={"conversations_url": gate.url}
        ) as suite,
    ):
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
        database = Database(database_urls.app["annotation"], pool_size=2)
        async with database.write() as session:  # without a task, so that no worker takes it
            building = await store.campaigns.add_campaign(
                session, CampaignIn(**(campaign | {"name": "built"})), built_in_protocols()["spot_the_bot", 1]
            )
        async with AsyncConversations(gate.url, await suite.keys.make("service")) as behind_gate:
            with gate.closed():
                sent = [
                    asyncio.create_task(admin.post(target, json=body, headers={"Idempotency-Key": f"k{number}"}))
                    for number, (target, body) in enumerate(
                        [("/v1/campaigns", campaign | {"name": "second"}), (f"{path}/packages", packages)]
                    )
                ]
                job = asyncio.create_task(build_campaign(database, Conversations(behind_gate), building.id))
                await gate.stopped(3)
                found = await long_transactions(databases.admin_url(database_urls))
                assert not any(each.done() for each in [*sent, job])
            answers = [await each for each in sent]
            await job
        await database.close()
        built = await admin.get(f"/v1/campaigns/{building.id}")
    assert found == []
    assert [each.status_code for each in answers] == [201, 201]
    assert answers[1].json() == {"stored": 1, "already_there": 0}
    assert built.json()["state"] == "open"
