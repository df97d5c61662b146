"""The settings of the service `analytics`."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from spotthebot.kit.settings import JobSettings


class AnalyticsSettings(JobSettings):
    """The settings of `analytics`, read from the environment variables `SPOTTHEBOT_ANALYTICS_<FIELD>`."""

    model_config = SettingsConfigDict(env_prefix="SPOTTHEBOT_ANALYTICS_", frozen=True, extra="ignore")

    bots_url: str = Field(
        default="http://127.0.0.1:8101", description="Where the service `bots` is, for the bots of a team."
    )
    conversations_url: str = Field(
        default="http://127.0.0.1:8102", description="Where the service `conversations` is, for the speakers."
    )
    annotation_url: str = Field(
        default="http://127.0.0.1:8103", description="Where the service `annotation` is, for the annotations."
    )
    fed_url: str = Field(
        default="http://127.0.0.1:8105", description="Where the service `fed` is, for the scores that studies name."
    )
    leaderboard_seconds: float = Field(
        default=10,
        ge=0,
        le=3600,
        description="Time for which public results, and places of annotators, are answered without asking again.",
    )
    recent_seconds: float = Field(
        default=30,
        ge=0,
        le=3600,
        description="Age up to which results of a running campaign are answered to those who ask for recent ones; more "
        "where computing them takes long; 0: they are always of now.",
    )
    verdict_seconds: float = Field(
        default=15,
        ge=0.1,
        le=3600,
        description="Time between two looks of the worker for new annotations of open campaigns; each gives verdicts "
        "on pairs of bots.",
    )
    worker_concurrency: int = Field(
        default=2, ge=1, le=100, description="Analyses that one worker runs at the same time; each takes a core."
    )
