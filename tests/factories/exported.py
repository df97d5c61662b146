"""Exported conversations for tests, as a seeded rule makes them: with everything that an export may hold."""

import random
from datetime import UTC, datetime, timedelta
from uuid import UUID

from spotthebot.contracts.conversations.conversations import ConversationState, Participant, ParticipantKind
from spotthebot.contracts.conversations.exports import ExportedConversation, ExportedTurn
from spotthebot.contracts.turns import Turn

NASTY = ("", 'She said "no".', "tab\there", "line\nbreak\u2028\u2029", "\\", "ä😀\ufeff", "{}", " " * 3)


def exported(number: int, *, exchanges: int = 2, **changes: object) -> ExportedConversation:
    chance = random.Random(number)
    sides = tuple(_side(name) for name in (("ann", "bob"), ("bob", "ann"))[number % 2])
    turns = tuple(
        ExportedTurn(
            speaker="AB"[position % 2],
            text=f"turn {position} of {number} {chance.choice(NASTY)}",
            raw=chance.choice((None, f"turn {position} <|endoftext|>")),
            latency_ms=chance.choice((None, chance.random() * 1000)),
            said_at=datetime(2026, 1, 2, tzinfo=UTC) + timedelta(microseconds=chance.randrange(10**12)),
        )
        for position in range(2 * exchanges)
    )
    whole = ExportedConversation(
        id=f"c{number}",
        collection="made-up",
        domain="everyday",
        mode="all_play_all",
        bots=tuple(side.name for side in sides),
        participants=sides,
        opening=(Turn(speaker="A", text=f"Hello {number}."), Turn(speaker="B", text="Hello.")),
        opening_shown=number % 3 == 0,
        seed=number,
        state=ConversationState.COMPLETE,
        ended_by=None,
        failure=None,
        turns=turns,
        collection_cancelled=False,
        rating=None,
        quality_flags=None,
    )
    return whole.model_copy(update=changes)


def _side(name: str) -> Participant:
    number = sum(name.encode())
    return Participant(
        kind=ParticipantKind.BOT,
        name=name,
        bot_id=UUID(int=number),
        version=number,
        configuration_sha256=f"{number:064x}",
    )
