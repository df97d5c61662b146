"""A model that the suite hosts itself."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.contracts.bots.hosted_models import Backend, HostedModelState
from spotthebot.inference.model_files import ModelFile
from spotthebot.inference.statistics import BatchStatistics


@dataclass(frozen=True)
class HostedModel:
    """A hosted model and its files; without a `directory` the files were uploaded."""

    id: UUID
    name: str
    backend: Backend
    directory: str | None
    files: tuple[ModelFile, ...]
    files_sha256: str | None
    max_batch_size: int
    max_queue_delay_ms: float
    device: str
    dtype: str
    created_at: datetime


@dataclass(frozen=True)
class HostedModelCondition:
    """A hosted model now: its state, found by a real inference, and the counts of its server."""

    model: HostedModel
    state: HostedModelState
    statistics: BatchStatistics | None
