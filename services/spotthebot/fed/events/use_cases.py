"""The events of `fed`, published in the transaction in which a score job ends."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final
from uuid import UUID

from spotthebot.contracts.fed.events import FedEventType
from spotthebot.contracts.fed.score_jobs import ScoreJobState
from spotthebot.fed.events.store import EVENTS
from spotthebot.fed.score_sets import store as score_sets_store
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.events.domain import Event

_TYPES: Final[Mapping[ScoreJobState, FedEventType]] = MappingProxyType(
    {
        ScoreJobState.COMPLETE: FedEventType.SCORE_JOB_COMPLETED,
        ScoreJobState.FAILED: FedEventType.SCORE_JOB_FAILED,
        ScoreJobState.CANCELLED: FedEventType.SCORE_JOB_CANCELLED,
    }
)


async def publish_ended(session: WriteSession, job_id: UUID) -> None:
    """Publish the end of a score job, with its state and its counts."""
    job = await score_sets_store.get_job(session, job_id)
    progress = (await score_sets_store.get_progress_of(session, [job_id]))[job_id]
    data = {
        "score_job": {"id": str(job.id), "collection_id": str(job.request.collection_id)},
        "model": job.request.scorer.model,
        "contexts": progress.contexts,
        "rejected": progress.rejected,
    }
    if job.failure is not None:
        data["reason"] = job.failure
    await EVENTS.outbox.add_event(session, _TYPES[job.state], data)


async def find_no_team(_event: Event) -> None:
    """Return None for every event: all events belong to the operator, not to a team."""
