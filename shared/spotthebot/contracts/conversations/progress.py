"""How far a collection is: by pair, what failed, and what several collections have together."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Literal

from pydantic import Field

from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.contracts.wire import Wire


class PairOut(Wire):
    """How far the conversations of two are."""

    number: int
    participants: tuple[str, str] = Field(description="Who begins, and who answers.")
    conversations: dict[str, int] = Field(max_length=100, description="Number of conversations by state.")


def met_bots(pairs: Iterable[PairOut]) -> Mapping[tuple[str, str], int]:
    """Count the conversations, those that failed left out, of every two different bots, in both orders."""
    met = Counter[tuple[str, str]]()
    for pair in pairs:
        first, second = sorted(pair.participants)
        if first != second and HUMAN_NAME not in {first, second}:
            met[first, second] += sum(n for state, n in pair.conversations.items() if state != "failed")
    return {names: n for names, n in met.items() if n}


class FailureOut(Wire):
    """Why conversations of a collection failed, or wait."""

    state: Literal["failed", "waiting"]
    reason: str
    bot: str | None = Field(description="Whose turn it was.")
    conversations: int
    until: datetime | None = Field(description="When those that wait fail unless the bot recovers; null: none wait.")


class MixOut(Wire):
    """How many conversations a campaign would take from one or several collections, and how many it would leave out."""

    long_enough: int = Field(description="Conversations that would be shown.")
    too_short: int
    repeated: int = Field(description="Conversations that another of the collections has as well: taken once.")
    not_drawn: int = Field(description="Human-human conversations beyond `human_share`.")
