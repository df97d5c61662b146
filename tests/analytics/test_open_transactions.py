"""While a service that `analytics` asks hangs, `analytics` keeps no transaction and no lock open."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from spotthebot.analytics.analyses import use_cases as analyses
from spotthebot.analytics.analyses.tables import STEP_JOBS
from spotthebot.analytics.clients.campaign_data import CampaignData
from spotthebot.clients import AsyncAnnotation, AsyncConversations
from spotthebot.contracts.analytics.analyses import StabilityIn
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.step_jobs.lifecycle import StepJob
from spotthebot.kit.step_jobs.runner import PreparedWork
from spotthebot.kit.step_jobs.store import StepJobStore
from tests.factories.campaigns import import_campaign, imported_annotation
from tests.factories.databases import Databases, DatabaseUrls
from tests.factories.gates import Gate, long_transactions, standing_gate
from tests.factories.routes import IN_ANY_ORDER, InOrder
from tests.factories.running_suite import RunningSuite, run_suite
from tests.factories.studies import conversation, import_conversations

PEERS = ("annotation", "conversations")


async def _annotated_campaign(suite: RunningSuite) -> str:
    keys = [f"c{number}" for number in range(4)]
    collection = await import_conversations(suite, [conversation(key, "X", "Y") for key in keys])
    rows = [imported_annotation(key, conversation=key) for key in keys]
    path = await import_campaign(suite, collection, {"p": [(key, 1) for key in keys]}, rows)
    return path.rpartition("/")[2]


@asynccontextmanager
async def gated_suite(database_urls: DatabaseUrls) -> AsyncIterator[tuple[RunningSuite, dict[str, Gate]]]:
    async with standing_gate() as annotation, standing_gate() as conversations:
        gates = {"annotation": annotation, "conversations": conversations}
        settings = {f"{name}_url": gate.url for name, gate in gates.items()}
        async with run_suite(database_urls, only=(*PEERS, "analytics"), analytics=settings) as suite:
            for name, gate in gates.items():
                gate.lead_to(suite.urls[name])
            yield suite, gates


@IN_ANY_ORDER
@pytest.mark.parametrize("peer", PEERS)
async def test_no_transaction_is_open_while_a_peer_hangs(
    databases: Databases, database_urls: DatabaseUrls, peer: str, in_order: InOrder
):
    async with AsyncExitStack() as stack:
        suite, gates = await stack.enter_async_context(gated_suite(database_urls))
        stack.enter_context(in_order(suite.apps["analytics"]))
        campaign = await _annotated_campaign(suite)
        analyst = await suite.client("analytics", "analyst")
        body = {
            "kind": "stability",
            "campaign_id": campaign,
            "subsets": 5,
            "resamples": 5,
            "seed": 1,
            "leave_one_out": False,
        }
        database, jobs = Database(database_urls.app["analytics"], pool_size=2), StepJobStore(STEP_JOBS)
        stack.push_async_callback(database.close)
        request = StabilityIn.model_validate(body)
        async with database.write() as session:  # without a task, so that no worker takes it
            job_id = await jobs.add_job(
                session,
                request.kind,
                request.model_dump(mode="json"),
                subject_id=request.campaign_id,
                version="0",
            )
        key = await suite.keys.make("service")
        studies = CampaignData(
            await stack.enter_async_context(AsyncAnnotation(gates["annotation"].url, key)),
            await stack.enter_async_context(AsyncConversations(gates["conversations"].url, key)),
        )

        async def prepare(job: StepJob) -> PreparedWork:
            return await analyses.prepare_analysis(studies, job)

        with gates[peer].closed():
            sent = [
                asyncio.create_task(analyst.post("/v1/analyses", json=body, headers={"Idempotency-Key": "k"})),
                asyncio.create_task(analyst.get(f"/v1/campaigns/{campaign}/win-rates")),
            ]
            running = asyncio.create_task(analyses.STEP_JOBS.run(database, job_id, prepare))
            await gates[peer].stopped(3)
            found = await long_transactions(databases.admin_url(database_urls))
            assert not any(each.done() for each in [*sent, running])
        answers = [await each for each in sent]
        await running
        ran = (await analyst.get(f"/v1/analyses/{job_id}")).json()
    assert found == []
    assert [each.status_code for each in answers] == [202, 200]
    assert ran["state"] == "complete"


async def test_no_transaction_is_open_while_a_campaign_is_read(databases: Databases, database_urls: DatabaseUrls):
    async with gated_suite(database_urls) as (suite, gates):
        campaign = await _annotated_campaign(suite)
        analyst = await suite.client("analytics", "analyst")
        with gates["annotation"].closed(passing=2):  # the campaign and its revision
            computing = asyncio.create_task(analyst.get(f"/v1/campaigns/{campaign}/win-rates"))
            await gates["annotation"].stopped(1)
            found = await long_transactions(databases.admin_url(database_urls))
            assert not computing.done()
        answer = await computing
    assert found == []
    assert answer.status_code == 200
