"""`/v1/bots/{id}/probes`: probe a bot now, and list its probes."""

from uuid import UUID

from fastapi import APIRouter

from spotthebot.bots.bots.store import bots as bots_store
from spotthebot.bots.deps import Changer, Context, Reader
from spotthebot.bots.probes import store, use_cases
from spotthebot.contracts.bots.probes import ProbeOut
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading

router = APIRouter(prefix="/v1/bots", tags=["bots"], route_class=IdempotentRoute)


@router.post("/{bot_id}/probes", operation_id="probe_bot")
async def probe_bot(caller: Changer, context: Context, bot_id: UUID) -> ProbeOut:
    """Probe the bot now and answer with the report. The report decides the bot's status."""
    return ProbeOut.of(await use_cases.probe_bot(context, caller, bot_id))


@router.get("/{bot_id}/probes", operation_id="list_bot_probes")
async def list_probes(session: Reading, caller: Reader, paging: Paging, bot_id: UUID) -> Page[ProbeOut]:
    """List the latest hundred probes of a bot, heartbeats among them, oldest first."""
    bot = await bots_store.get_bot(session, bot_id, caller)
    rows = await store.list_probes(session, bot.id, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda probe: probe.id, to_out=ProbeOut.of)
