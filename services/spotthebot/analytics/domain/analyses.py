"""An analysis that takes its time, as it is kept: what was asked, how far it is, what came out."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.contracts.analytics import (
    AnalysisIn,
    AnalysisState,
    Counts,
    Plan,
    Stability,
)

ACTIVE = (AnalysisState.QUEUED, AnalysisState.RUNNING)


@dataclass(frozen=True)
class LongAnalysis:
    """`done` of `steps` are stored; the result, `stability` or `plan`, is there once it is complete."""

    id: UUID
    request: AnalysisIn
    campaign_id: UUID | None
    state: AnalysisState
    failure: str | None
    done: int
    steps: int
    counts: Counts | None
    data_sha256: str | None
    version: str
    created_at: datetime
    finished_at: datetime | None
    stability: Stability | None
    plan: Plan | None
