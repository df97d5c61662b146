"""Conversations as dialogues to score: their texts, and the turns of their bots."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spotthebot.contracts.conversations.conversations import ConversationOut, ConversationState, ParticipantKind
from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.fed.dialogues.domain.dialogues import Level


@dataclass(frozen=True)
class BotTurn:
    """A bot's turn to score. Its context is all turns of the conversation up to and including this turn."""

    end: int
    bot: str


def texts_of(conversation: ConversationOut | ExportedConversation) -> tuple[str, ...]:
    """Return the texts of a conversation. They begin with the opening, since the bots replied to it."""
    return tuple(turn.text for turn in (*conversation.opening, *conversation.turns))


def turns_to_score(
    conversation: ConversationOut | ExportedConversation, level: Level, bots: Sequence[str] | None
) -> list[BotTurn]:
    """Return the turns of a conversation to score: every reply of a bot, or only the last reply of each bot.

    The opening has no turns to score, since people wrote it. An incomplete conversation has no turns to score either.
    """
    if conversation.state is not ConversationState.COMPLETE:
        return []
    names = {
        side: participant.name
        for side, participant in zip("AB", conversation.participants, strict=True)
        if participant.kind is ParticipantKind.BOT and (bots is None or participant.name in bots)
    }
    said = len(conversation.opening)
    spoken = [
        BotTurn(number, names[turn.speaker])
        for number, turn in enumerate(conversation.turns, start=said + 1)
        if number > 1 and turn.speaker in names
    ]
    if level is Level.TURN:
        return spoken
    return sorted({each.bot: each for each in spoken}.values(), key=lambda each: each.end)


def conversation_line(conversation: ConversationOut) -> dict[str, Any]:
    """Return all fields of a conversation that scores depend on. A hash of these fields identifies the scored data."""
    return {
        "id": str(conversation.id),
        "state": conversation.state,
        "bots": [each.name for each in conversation.participants],
        "turns": texts_of(conversation),
    }
