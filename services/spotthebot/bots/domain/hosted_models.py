"""A model that the suite hosts itself."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.contracts.bots import Backend, BatchStatistics, HostedModelState, UploadedFileOut


@dataclass(frozen=True)
class HostedModel:
    """A hosted model and its files; without a `directory` the files were uploaded."""

    id: UUID
    name: str
    backend: Backend
    directory: str | None
    files: tuple[UploadedFileOut, ...]
    files_sha256: str | None
    max_batch_size: int
    max_queue_delay_ms: float
    device: str
    dtype: str
    created_at: datetime


@dataclass(frozen=True)
class HostedModelCondition:
    """A hosted model as it is now: its state, found by a real inference, and what its server counted."""

    model: HostedModel
    state: HostedModelState
    statistics: BatchStatistics | None


def files_sha256_of(files: Sequence[UploadedFileOut]) -> str:
    """Return the SHA-256 over all files, as `sha256sum` would list them by name."""
    lines = sorted((file.name, file.sha256) for file in files)
    return hashlib.sha256("".join(f"{digest}  {name}\n" for name, digest in lines).encode()).hexdigest()
