"""The metrics of `annotation` for operators."""

from collections.abc import Sequence
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric

from spotthebot.annotation.metrics import store
from spotthebot.contracts.annotation.campaigns import CampaignState
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.events.depths import read_event_queues
from spotthebot.kit.jobs.depths import read_job_queues
from spotthebot.kit.telemetry.queue_metrics import queue_families, state_family

_SCHEMA: Final = "annotation"
_MAX_CAMPAIGNS: Final = 50
_OTHERS: Final = "others"


async def read_metrics(database: Database, queues: Sequence[str]) -> list[Metric]:
    """Return metrics of the queues, the campaigns, the remaining work and the speed of annotation."""
    async with database.read() as session:
        jobs = await read_job_queues(session, _SCHEMA, queues)
        events = await read_event_queues(session, _SCHEMA)
        counts = await store.count(session, max_campaigns=_MAX_CAMPAIGNS)
    states = {state.value: counts.campaigns.get(state.value, 0) for state in CampaignState}
    packages = GaugeMetricFamily(
        "spotthebot_campaign_packages_open",
        f"Packages that annotators have not submitted yet, by open campaign; those beyond the {_MAX_CAMPAIGNS} newest"
        f" as {_OTHERS}.",
        labels=["campaign"],
    )
    for campaign_id, number in counts.packages_open.items():
        packages.add_metric([str(campaign_id)], number)
    packages.add_metric([_OTHERS], counts.packages_open_elsewhere)
    return [
        *queue_families(_SCHEMA, jobs, events),
        state_family("spotthebot_campaigns", "Campaigns by state.", "state", states),
        packages,
        GaugeMetricFamily(
            "spotthebot_assignments_leased", "Packages that annotators hold.", value=counts.assignments_leased
        ),
        GaugeMetricFamily(
            "spotthebot_labels_last_minute",
            "Annotations that were submitted or imported in the last minute.",
            value=counts.labels_last_minute,
        ),
    ]
