"""A model that the suite hosts itself."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.contracts.bots.hosted_models import Backend
from spotthebot.inference.model_files import ModelFile


@dataclass(frozen=True)
class HostedModel:
    """A hosted model and its files. Its files were uploaded if it has no `directory`."""

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
