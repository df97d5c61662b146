"""The settings of the service `annotation`."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from spotthebot.kit.events.settings import EventSettings
from spotthebot.kit.web.core.new_people import NewPeopleSettings


class AnnotationSettings(EventSettings, NewPeopleSettings):
    """Read from `SPOTTHEBOT_ANNOTATION_<FIELD>`."""

    model_config = SettingsConfigDict(env_prefix="SPOTTHEBOT_ANNOTATION_", frozen=True, extra="ignore")

    conversations_url: str = Field(
        default="http://127.0.0.1:8102",
        description="Where the service `conversations` is: the texts that annotators see.",
    )
    fed_url: str = Field(
        default="http://127.0.0.1:8105", description="Where the service `fed` is: the score sets that studies name."
    )
    lease_check_seconds: float = Field(
        default=10.0, gt=0, description="How often leases whose time is up are ended, so that others may claim."
    )
