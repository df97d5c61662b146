"""How far the ranking hangs on choices that could have been made otherwise."""

from typing import Literal

from pydantic import Field

from spotthebot.contracts.analytics.bounds import MAX_BOTS
from spotthebot.contracts.wire import Wire


class Alternative(Wire):
    """The ranking under one other choice."""

    choice: Literal["unsure", "filter", "unit"]
    value: str = Field(description="What is chosen instead.")
    order: tuple[str, ...] = Field(max_length=MAX_BOTS, description="Bots with decided games, best first.")
    kendall_tau: float | None = Field(description="Of mean win rates, against those of the ranking.")
    moved: tuple[str, ...] = Field(max_length=MAX_BOTS, description="Bots whose set of ranks is another.")
    reason: str | None = Field(description="Why there are no ranks.")


class Sensitivity(Wire):
    """The ranking beside those under other choices, one changed at a time."""

    order: tuple[str, ...] = Field(
        max_length=MAX_BOTS, description="Bots with decided games, best first, as they were ranked."
    )
    alternatives: tuple[Alternative, ...] = Field(max_length=1000)
