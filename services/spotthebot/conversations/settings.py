"""What the service `conversations` can be told from its environment."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from spotthebot.kit.settings import ServiceSettings


class ConversationsSettings(ServiceSettings):
    """Read from `SPOTTHEBOT_CONVERSATIONS_<FIELD>`."""

    model_config = SettingsConfigDict(env_prefix="SPOTTHEBOT_CONVERSATIONS_", frozen=True, extra="ignore")

    bots_url: str = Field(default="http://127.0.0.1:8101", description="Where the service `bots` is.")
    worker_concurrency: int = Field(default=4, ge=1, le=100, description="Batches one worker holds at the same time.")
    conversations_per_batch: int = Field(
        default=32, ge=1, le=1000, description="Conversations that one job steps forward together."
    )
