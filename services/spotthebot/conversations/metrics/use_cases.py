"""The metrics of `conversations` for operators."""

from collections.abc import Sequence

from prometheus_client.core import GaugeMetricFamily, Metric

from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.conversations.metrics import store
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.events.depths import read_event_queues
from spotthebot.kit.jobs.depths import read_job_queues
from spotthebot.kit.telemetry.queue_metrics import queue_families, state_family

_SCHEMA = "conversations"


async def read_metrics(database: Database, queues: Sequence[str]) -> list[Metric]:
    """Return metrics of the queues, the collections and their turns."""
    async with database.read() as session:
        jobs = await read_job_queues(session, _SCHEMA, queues)
        events = await read_event_queues(session, _SCHEMA)
        counts = await store.count(session)
    states = {state.value: counts.collections.get(state.value, 0) for state in CollectionState}
    return [
        *queue_families(_SCHEMA, jobs, [*events, counts.turns]),
        state_family("spotthebot_collections", "Collections by state.", "state", states),
        GaugeMetricFamily(
            "spotthebot_conversations_open",
            "Conversations of collecting collections that have not ended.",
            value=counts.conversations_open,
        ),
        GaugeMetricFamily(
            "spotthebot_turns_last_minute",
            "Turns that collections got in the last minute.",
            value=counts.turns_last_minute,
        ),
        GaugeMetricFamily("spotthebot_chats_open", "Chats of people that go on.", value=counts.chats_open),
        GaugeMetricFamily(
            "spotthebot_bots_unavailable",
            "Bots that conversations wait for, since they did not reply.",
            value=counts.bots_unavailable,
        ),
    ]
