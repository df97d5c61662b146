"""The progress of a collection: of each pair, its failures, and the mix of conversations of several collections."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.contracts.wire import Wire


class PairOut(Wire):
    """The progress of the conversations between two participants."""

    number: int
    participants: tuple[str, str] = Field(description="Who begins, and who answers.")
    conversations: dict[str, int] = Field(max_length=100, description="Number of conversations by state.")


def met_bots(pairs: Iterable[PairOut]) -> Mapping[tuple[str, str], int]:
    """Count the conversations of every two different bots, by their names in order; empty if not all bots met.

    Failed conversations don't count.
    """
    met = Counter[tuple[str, str]]()
    for pair in pairs:
        first, second = sorted(pair.participants)
        if first != second and HUMAN_NAME not in {first, second}:
            met[first, second] += sum(n for state, n in pair.conversations.items() if state != "failed")
    found = {names: n for names, n in met.items() if n}
    bots = len({bot for names in found for bot in names})
    return found if len(found) == bots * (bots - 1) // 2 else {}


class FailureOut(Wire):
    """A reason why conversations of a collection failed or are waiting."""

    state: Literal["failed", "waiting", "paused"] = Field(
        description="`waiting`: the bot is unavailable; `paused`: its server limits requests."
    )
    reason: str
    bot: str | None = Field(description="Whose turn it was.")
    conversations: int
    until: datetime | None = Field(
        description="When those that wait fail unless the bot recovers, or when a paused bot is asked again."
    )


class MixOut(Wire):
    """How many conversations of one or several collections a campaign would take, and how many it would leave out."""

    long_enough: int = Field(description="Conversations that would be shown.")
    too_short: int
    repeated: int = Field(description="Conversations that another of the collections has as well: taken once.")
    not_drawn: int = Field(description="Human-human conversations beyond `human_share`.")


class ChatBotOut(Wire):
    """A bot of a collection of chats, with its conversations so far."""

    bot_id: UUID
    name: str
    conversations: dict[str, int] = Field(max_length=100, description="Number of conversations by state.")
    rated: int = Field(description="How many of them people rated.")


class ChatBotsOut(Wire):
    """The bots of a collection of chats, in its order. For operators: people never learn whom they talk to."""

    bots: tuple[ChatBotOut, ...] = Field(max_length=100)
