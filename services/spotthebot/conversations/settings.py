"""The settings of the service `conversations`."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from spotthebot.contracts.bots.replies import MAX_CONTEXTS
from spotthebot.kit.events.settings import EventSettings
from spotthebot.kit.web.core.new_people import NewPeopleSettings


class ConversationsSettings(EventSettings, NewPeopleSettings):
    """Read from `SPOTTHEBOT_CONVERSATIONS_<FIELD>`."""

    model_config = SettingsConfigDict(env_prefix="SPOTTHEBOT_CONVERSATIONS_", frozen=True, extra="ignore")

    bots_url: str = Field(default="http://127.0.0.1:8101", description="Where the service `bots` is.")
    worker_concurrency: int = Field(default=1, ge=1, le=100, description="Runners in one worker process.")
    conversations_per_batch: int = Field(
        default=256, ge=1, le=1000, description="Conversations that one runner runs at the same time."
    )
    contexts_per_request: int = Field(
        default=32, ge=1, le=MAX_CONTEXTS, description="Largest number of contexts in one request for replies."
    )
    stalled_after_seconds: float = Field(
        default=10.0, ge=1, le=600, description="Time without a heartbeat after which a worker counts as dead."
    )
    maintenance_seconds: float = Field(
        default=1.0,
        ge=0.1,
        le=60,
        description="Time between two checks for lost runners and unavailable bots.",
    )
    bot_patience_seconds: float = Field(
        default=3600.0,
        ge=0,
        le=604_800,
        description="Time that conversations wait for an unavailable bot, then fail.",
    )
    largest_upload_bytes: int = Field(
        default=4 * 1024**3,
        ge=1024,
        description="Largest file that can be uploaded to a corpus or a collection, in bytes.",
    )
    chats_at_once: int = Field(
        default=64, ge=1, le=1000, description="Replies in chats that one worker process requests at the same time."
    )
    quality_checks_at_once: int = Field(
        default=4,
        ge=0,
        le=100,
        description="Collections whose quality one worker process checks at the same time; 0 leaves them to others.",
    )
    chat_token_seconds: int = Field(
        default=86_400, ge=1, le=30 * 86_400, description="How long a person's token for a chat is valid."
    )
    chat_poll_seconds: float = Field(
        default=0.2, gt=0, le=10, description="Time between two polls of a process for events of watched chats."
    )
    chat_event_retention_days: int = Field(
        default=30, ge=1, le=3650, description="Days after a chat's last turn that its events are kept for."
    )
    turn_count_retention_days: int = Field(
        default=30, ge=1, le=3650, description="Days that the numbers of turns by ten seconds are kept for."
    )
