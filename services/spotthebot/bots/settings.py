"""What the service `bots` can be told from its environment."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from spotthebot.kit.settings import ServiceSettings


class BotsSettings(ServiceSettings):
    """Read from `SPOTTHEBOT_BOTS_<FIELD>`."""

    model_config = SettingsConfigDict(env_prefix="SPOTTHEBOT_BOTS_", frozen=True, extra="ignore")

    conversations_url: str = Field(
        default="http://127.0.0.1:8102", description="Where the service `conversations` is: corpora to learn from."
    )
