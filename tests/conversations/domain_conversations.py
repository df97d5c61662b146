"""Conversations as the service `conversations` has them in memory, stored nowhere."""

from typing import Any
from uuid import UUID, uuid4

from spotthebot.contracts.conversations.conversations import ConversationState, Participant, ParticipantKind
from spotthebot.contracts.conversations.ids import CollectionId, ConversationId
from spotthebot.conversations.conversations.domain import Conversation


def running(*turns: str, bot: UUID | None = None, **more: Any) -> Conversation:
    """Return a conversation of two bots, or of one bot with itself, in which these turns were said."""
    first, second = (
        Participant(kind=ParticipantKind.BOT, name=name, bot_id=bot or uuid4(), version=1) for name in ("a", "b")
    )
    plain: dict[str, Any] = {
        "id": ConversationId(uuid4()),
        "collection_id": CollectionId(uuid4()),
        "external_id": None,
        "state": ConversationState.RUNNING,
        "failure": None,
        "participants": (first, second),
        "opening": (),
        "opening_shown": False,
        "turns": turns,
        "turns_planned": 100,
        "seed": 1,
        "domain": "everyday",
    }
    return Conversation(**plain | more)
