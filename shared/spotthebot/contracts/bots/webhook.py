"""The form of our own webhook, version 1: what a bot gets and what it answers."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from spotthebot.contracts.wire import Wire


class WebhookTurn(Wire):
    """Something that was said."""

    speaker: Literal["A", "B"]
    text: str


class WebhookQuestion(Wire):
    """What is POSTed to a bot: a conversation so far, in which it speaks next."""

    conversation_id: UUID = Field(description="Equal for all turns of a conversation; nothing else may be kept by it.")
    turn: int = Field(ge=0, description="Number of the turn asked for: how many turns came before it.")
    domain: str | None
    persona: str | None
    speaker: Literal["A", "B"] = Field(description="Who the bot is in this conversation.")
    seed: int
    turns: tuple[WebhookTurn, ...] = Field(description="Oldest first; empty where the bot begins.")


class WebhookAnswer(BaseModel):
    """What a bot answers; other fields are left alone."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    text: Annotated[str, Field(description="What the bot says.")]
