"""The settings of the service `fed`."""

import tempfile
from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from spotthebot.inference.devices import require_device
from spotthebot.kit.events.settings import EventSettings


class FedSettings(EventSettings):
    """The settings of `fed`, read from the environment variables `SPOTTHEBOT_FED_<FIELD>`."""

    model_config = SettingsConfigDict(env_prefix="SPOTTHEBOT_FED_", frozen=True, extra="ignore")

    conversations_url: str = Field(
        default="http://127.0.0.1:8102", description="Where the service `conversations` is, for what was said."
    )
    annotation_url: str = Field(
        default="http://127.0.0.1:8103", description="Where the service `annotation` is, for what people say of it."
    )
    models_folder: Path = Field(
        default=Path(tempfile.gettempdir()) / "spotthebot-models",
        description="Folder of models: scorers name directories below it.",
    )
    model_idle_seconds: float = Field(
        default=900.0, gt=0, description="Time without a request after which a worker process unloads its model."
    )
    model_loading_seconds: float = Field(
        default=1800.0,
        gt=0,
        description="Longest time that a model takes to load, its download included; on Triton, to answer a probe.",
    )
    model_batch_seconds: float = Field(
        default=900.0,
        gt=0,
        description="Longest time that a model takes for one batch: a worker process that takes longer is killed, "
        "and a score job tries again with another.",
    )
    device: str = Field(default="auto", description="Where models run: auto, cpu, cuda, cuda:1 ...")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        default="auto", description="auto, float32, bfloat16 or float16."
    )
    triton_servers: tuple[str, ...] = Field(
        default=(),
        description="`host:port` (gRPC) of Triton servers that serve models named `triton:NAME`, as a JSON list; they "
        "take turns.",
    )
    scores_seconds: float = Field(
        default=60.0, gt=0, description="Longest time for scores at once, the loading of the model included."
    )
    worker_concurrency: int = Field(
        default=1, ge=1, le=100, description="Score jobs that one worker runs at the same time."
    )
    conversations_per_step: int = Field(
        default=16, ge=1, le=1000, description="Conversations that are scored between two savings of a job."
    )
    likelihood_retention_days: int = Field(
        default=90,
        ge=1,
        le=3650,
        description="Days after their last use that a model's likelihoods are kept for; scores stay.",
    )

    def check(self) -> None:
        """Check the settings of a service with events, and also that the configured GPU exists."""
        super().check()
        with self.blamed("device"):
            require_device(self.device)
