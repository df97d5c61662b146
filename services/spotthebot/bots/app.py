"""The composition root of `bots`: the only module that imports all other modules."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from uuid import UUID

from fastapi import FastAPI

from spotthebot.bots.bots.store import bots as bots_store
from spotthebot.bots.client_pool import BotClientPool
from spotthebot.bots.clients import Corpora, Participation
from spotthebot.bots.context import BotsContext
from spotthebot.bots.hosting import api as hosting_api
from spotthebot.bots.metadata import IDEMPOTENCY
from spotthebot.bots.metrics.use_cases import read_metrics
from spotthebot.bots.outbound import BotHttp
from spotthebot.bots.probes import api as probes_api
from spotthebot.bots.probes.use_cases import keep_statuses_true
from spotthebot.bots.protocols.builtin import BuiltinBots
from spotthebot.bots.protocols.factory import SpeakerFactory
from spotthebot.bots.registry import api as registry_api
from spotthebot.bots.replies.api import openai as openai_api
from spotthebot.bots.replies.api import replies as replies_api
from spotthebot.bots.settings import BotsSettings
from spotthebot.bots.tables import LINEAGE
from spotthebot.clients import AsyncConversations
from spotthebot.inference.model_files import ModelFolder
from spotthebot.inference.models.dialogue import kind as dialogue_kind
from spotthebot.inference.triton.control import TritonControl
from spotthebot.inference.workers.pool import ModelWorkers
from spotthebot.inference.workers.worker import WorkerTimes
from spotthebot.kit.database.retention import Retention, old_idempotency_keys
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.database.statement_pool import BatchedLookup
from spotthebot.kit.outbound.addresses import EVERYWHERE, networks
from spotthebot.kit.outbound.resolver import CheckingResolver
from spotthebot.kit.service.process import Service
from spotthebot.kit.web.api import build_service
from spotthebot.kit.web.core.resources import core_of
from spotthebot.kit.web.database.resources import database_of


def create_app(settings: BotsSettings) -> FastAPI:
    """Return the application that serves `/v1/bots`, `/v1/hosted-models` and `/openai/v1`."""

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            database = database_of(app).pool
            context = app.state.resources = await _context(stack, settings, database)
            core_of(app).metrics.sources.use(partial(read_metrics, database, context.reply_metrics))
            retention = Retention(database, "bots", [old_idempotency_keys(settings)])
            purges = asyncio.create_task(retention.run())
            stopping = asyncio.Event()
            heartbeats = asyncio.create_task(keep_statuses_true(context, stopping))
            try:
                yield
            finally:
                stopping.set()
                purges.cancel()
                await asyncio.gather(purges, return_exceptions=True)
                await heartbeats

    return build_service(
        "bots",
        summary="Registry and hosting of bots, and their replies.",
        settings=settings,
        routers=[
            replies_api.router,
            registry_api.router,
            probes_api.router,
            hosting_api.router,
            openai_api.router,
        ],
        lineages=[LINEAGE],
        idempotency_table=IDEMPOTENCY,
        lifespan=live,
    )


async def _context(stack: AsyncExitStack, settings: BotsSettings, database: Database) -> BotsContext:
    key = settings.service_key.get_secret_value()
    conversations = await stack.enter_async_context(AsyncConversations(settings.conversations_url, key))
    workers = ModelWorkers(WorkerTimes(idle_seconds=settings.model_idle_seconds))
    stack.push_async_callback(workers.close)
    everybody = networks(settings.allowed_networks)
    operator = networks([*settings.allowed_networks, *settings.operator_networks])
    speakers = SpeakerFactory(
        http=await stack.enter_async_context(BotHttp(CheckingResolver(everybody))),
        operator_http=await stack.enter_async_context(BotHttp(CheckingResolver(operator))),
        own_http=await stack.enter_async_context(BotHttp(CheckingResolver(EVERYWHERE), names_causes=True)),
        builtin_bots=BuiltinBots(Corpora(conversations)),
        vault=settings.open_vault(),
        workers=workers,
        triton=await stack.enter_async_context(TritonControl(settings.triton_grpc, probe=dialogue_kind.PROBE))
        if settings.triton_grpc
        else None,
        triton_http=settings.triton_http,
    )

    async def circuit_opened(bot_id: UUID, reason: str) -> None:
        async with database.write() as session:
            await bots_store.open_circuit(session, bot_id, reason, timedelta(seconds=settings.recovery_seconds))

    async def paused(bot_id: UUID, seconds: float) -> None:
        async with database.write() as session:
            await bots_store.pause_bot(session, bot_id, timedelta(seconds=seconds))

    clients = BotClientPool(speakers, circuit_opened, paused)
    stack.push_async_callback(clients.close)
    folder = ModelFolder(settings.models_folder, largest_file_bytes=settings.largest_model_bytes)
    lookups = BatchedLookup(partial(bots_store.find_bots, database.statements))
    return BotsContext(settings, database, speakers, clients, folder, lookups, Participation(conversations))


SERVICE = Service(name="bots", settings=BotsSettings, create_app=create_app, lineage=LINEAGE)
