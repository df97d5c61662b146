"""Models that the suite hosts itself, on Triton or in worker processes of the service `bots`."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from spotthebot.contracts.wire import Text, Wire

HostedModelName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]


class Backend(StrEnum):
    """The program that runs a hosted model."""

    TRITON = "triton"
    WORKER = "worker"


class HostedModelState(StrEnum):
    """The state of a hosted model."""

    UNLOADED = "unloaded"
    READY = "ready"
    """A real inference succeeded."""
    BROKEN = "broken"
    """Loaded, but a real inference failed."""


class HostedModelIn(Wire):
    """A model to host: a directory in the administrator's models folder, or files that are uploaded next."""

    name: HostedModelName
    directory: Annotated[Text, StringConstraints(min_length=1, max_length=500)] | None = Field(
        default=None, description="Path below the models folder; left out: upload the files, then load."
    )
    backend: Backend = Backend.TRITON
    max_batch_size: int = Field(default=32, ge=1, le=1024, description="Contexts that are answered together.")
    max_queue_delay_ms: float = Field(default=2.0, ge=0, le=1000, description="How long a batch waits to fill.")
    device: Annotated[str, StringConstraints(pattern=r"^(cpu|cuda(:\d{1,2})?|auto)$")] = "auto"
    dtype: Annotated[str, StringConstraints(pattern=r"^(auto|float32|bfloat16|float16)$")] = "auto"


class UploadedFileOut(Wire):
    """A file of a hosted model."""

    name: str
    bytes: int
    sha256: str


class BatchStatisticsOut(Wire):
    """The numbers of requests and batches since the model was loaded."""

    replies: int = Field(description="Contexts answered.")
    batches: int = Field(description="Executions of the model.")
    failures: int
    mean_batch_size: float | None = Field(description="Null before the first batch.")
    mean_queue_ms: float | None
    mean_compute_ms: float | None = Field(description="Per batch.")
    waiting: int | None = Field(description="Contexts in the queue now; null if the server does not say.")


class HostedModelOut(Wire):
    """A hosted model."""

    id: UUID
    name: str
    backend: Backend
    directory: str | None
    files: tuple[UploadedFileOut, ...] = Field(max_length=10_000)
    files_sha256: str | None = Field(description="Hash over all names and hashes of files; null before any file.")
    max_batch_size: int
    max_queue_delay_ms: float
    device: str
    dtype: str
    state: HostedModelState
    statistics: BatchStatisticsOut | None = Field(description="Null while the model is not loaded.")
    created_at: datetime


class TritonOut(Wire):
    """The suite's own Triton server."""

    answers: bool
    models: dict[str, str] = Field(
        max_length=10_000, description="State of each model in its repository: READY, UNLOADED, or why not."
    )
