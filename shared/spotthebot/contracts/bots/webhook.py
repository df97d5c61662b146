"""Version 1 of our own webhook protocol: we send a request to a bot, and it answers `{"text": "..."}`."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.turns import MAX_TURNS
from spotthebot.contracts.wire import Wire


class WebhookTurn(Wire):
    """One turn of a conversation."""

    speaker: Literal["A", "B"]
    text: str


class WebhookQuestion(Wire):
    """The request to a bot: a conversation so far, in which it speaks next."""

    conversation_id: UUID = Field(description="The same for all turns of a conversation; keep no state by it.")
    turn: int = Field(ge=0, description="Number of the requested turn: how many turns came before it.")
    domain: str | None
    persona: str | None
    speaker: Literal["A", "B"] = Field(description="The bot's side in this conversation.")
    seed: int
    turns: tuple[WebhookTurn, ...] = Field(max_length=MAX_TURNS, description="Oldest first; empty if the bot begins.")
