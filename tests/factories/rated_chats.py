"""Chats that people rated: as `conversations` lists them, and as exports that it imports. A seeded rule made them."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np

from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.conversations.chats import ChatRatingOut, RatedConversationOut
from spotthebot.contracts.conversations.conversations import ConversationState, Participant, ParticipantKind
from spotthebot.contracts.conversations.exports import ExportedConversation, ExportedRating, ExportedScore, ExportedTurn

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BOTS = ("ada", "bob", "cid")
QUALITY = {"ada": 3.6, "bob": 2.8, "cid": 2.4}
"""How good the bots are, in points."""


def side(name: str) -> Participant:
    kind = ParticipantKind.HUMAN if name == "HU" else ParticipantKind.BOT
    return Participant(kind=kind, name=name, bot_id=None, version=None, configuration_sha256=None)


def rated_chat(
    number: int,
    interactor: str,
    rated: Mapping[int, tuple[str, Mapping[str, int]]],
    *,
    preferred: int | None = None,
    preferences: Mapping[str, int | None] | None = None,
    kind: AnnotatorKind = AnnotatorKind.PERSON,
) -> ChatRatingOut:
    """Return a person's ratings: the bot and the scores of each conversation, by its number, and the better one."""
    return ChatRatingOut(
        chat_id=UUID(int=5000 + number),
        interactor=interactor,
        interactor_kind=kind,
        conversations=tuple(
            RatedConversationOut(conversation_id=UUID(int=key), participant=side(bot), scores=dict(scores))
            for key, (bot, scores) in rated.items()
        ),
        preferred=None if preferred is None else UUID(int=preferred),
        preferences={name: each and UUID(int=each) for name, each in (preferences or {}).items()},
        rated_at=NOON,
    )


def points(chance: np.random.Generator, bot: str) -> int:
    return int(np.clip(np.rint(QUALITY[bot] + chance.normal()), 1, 5))


def exported_chats(people: int, *, exchanges: int = 3, seed: int = 0) -> list[ExportedConversation]:
    """Return two chats of each person, with two of the bots. The person rated both, and preferred the better one."""
    chance = np.random.default_rng(seed)
    found = []
    for person in range(people):
        met = [BOTS[person % 3], BOTS[(person + 1) % 3]]
        scores = [{"quality": points(chance, bot), "engaging": points(chance, bot)} for bot in met]
        lead = scores[0]["quality"] - scores[1]["quality"]
        for number, (bot, own) in enumerate(zip(met, scores, strict=True), start=1):
            rating = ExportedRating(
                chat_id=UUID(int=6000 + person),
                interactor=f"person-{person:02}",
                interactor_kind=AnnotatorKind.PERSON,
                number=number,
                scores=tuple(ExportedScore(question=name, score=score) for name, score in own.items()),
                preferred=(1 if lead > 0 else 2) if lead else None,
                rated_at=NOON + timedelta(minutes=person),
            )
            found.append(_exported(f"p{person:02}-{number}", bot, exchanges, rating))
    return found


def _exported(key: str, bot: str, exchanges: int, rating: ExportedRating) -> ExportedConversation:
    names: dict[str, Any] = {"bots": ("HU", bot), "participants": (side("HU"), side(bot))}
    return ExportedConversation(
        id=key,
        collection="talks",
        domain="everyday",
        mode="human_bot",
        **names,
        opening=(),
        opening_shown=False,
        seed=0,
        state=ConversationState.COMPLETE,
        ended_by=None,
        failure=None,
        turns=tuple(
            ExportedTurn(speaker="AB"[at % 2], text=f"{key} says {at}", raw=None, latency_ms=None, said_at=None)
            for at in range(2 * exchanges)
        ),
        collection_cancelled=False,
        rating=rating,
        quality_flags=None,
    )
