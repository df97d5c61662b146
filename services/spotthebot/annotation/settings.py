"""The settings of the service `annotation`."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from spotthebot.kit.settings import ServiceSettings


class AnnotationSettings(ServiceSettings):
    """Read from `SPOTTHEBOT_ANNOTATION_<FIELD>`."""

    model_config = SettingsConfigDict(env_prefix="SPOTTHEBOT_ANNOTATION_", frozen=True, extra="ignore")

    conversations_url: str = Field(
        default="http://127.0.0.1:8102",
        description="Where the service `conversations` is: the texts that annotators see.",
    )
    claim_ttl_seconds: int = Field(
        default=3600, ge=1, description="How long an annotator may keep a package before others may claim it."
    )
