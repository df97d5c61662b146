"""A bot's performance in conversations: how they ended, why they failed, and how fast it replied."""

from pydantic import Field

from spotthebot.contracts.conversations.conversations import ConversationOut
from spotthebot.contracts.wire import Wire


class BotConversationOut(ConversationOut):
    """A conversation of a bot, with the name of its collection."""

    collection: str


class FailureReasonOut(Wire):
    """A reason why conversations failed at the bot's turn, and its count."""

    reason: str
    conversations: int


class LatencyOut(Wire):
    """How long the bot took to reply, including retries."""

    median_ms: float
    p95_ms: float = Field(description="95 of 100 replies were faster.")
    longest_ms: float


class BotPerformanceOut(Wire):
    """A bot's performance in its conversations."""

    collections: int
    conversations: dict[str, int] = Field(max_length=10, description="Number of conversations by state.")
    failed: int = Field(description="Conversations that failed when it was the bot's turn.")
    failures: tuple[FailureReasonOut, ...] = Field(
        max_length=20, description="Why these failed, the most frequent reasons first."
    )
    replies: int = Field(description="Replies whose time was taken: imported ones have none.")
    latency: LatencyOut | None = Field(description="Null where no time was taken.")
