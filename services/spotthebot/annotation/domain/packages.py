"""Packages of segments, cut from conversations as in Spot The Bot (section 3.1).

Every segment is in exactly one package, and no package shows two segments of one conversation, because an annotator
who saw the longer one would label the shorter one with hindsight. Conversations shorter than a segment skip it.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.annotation.domain.conversations import ShownConversation
from spotthebot.annotation.domain.errors import NothingToAnnotate


@dataclass(frozen=True)
class PackedSegment:
    """A conversation up to a number of exchanges."""

    conversation_id: UUID
    exchanges: int


@dataclass(frozen=True)
class Package:
    """Segments that one annotator labels in one sitting."""

    id: UUID
    external_id: str | None
    segments: tuple[PackedSegment, ...]


def pack(
    conversations: Sequence[ShownConversation], lengths: Sequence[int], *, package_size: int, seed: int
) -> list[tuple[PackedSegment, ...]]:
    """Pack all segments; the same conversations in the same order and the same seed give the same packages.

    Conversations are shuffled and taken in blocks of `package_size`; a block makes one package per length, in which
    lengths rotate over the block's conversations, so that each package mixes short and long segments.
    Raises NothingToAnnotate where every conversation is too short.
    """
    chance = random.Random(f"packages/{seed}")  # noqa: S311 - reproducible draws, no secrets
    shuffled = chance.sample(conversations, len(conversations))
    packages = []
    for start in range(0, len(shuffled), package_size):
        block = shuffled[start : start + package_size]
        for rotation in range(len(lengths)):
            segments = [
                PackedSegment(conversation.conversation_id, length)
                for index, conversation in enumerate(block)
                if (length := lengths[(index + rotation) % len(lengths)]) <= conversation.exchanges
            ]
            if segments:
                packages.append(tuple(chance.sample(segments, len(segments))))
    if not packages:
        raise NothingToAnnotate(shortest=min(lengths))
    return packages
