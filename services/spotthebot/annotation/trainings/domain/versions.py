"""Versions of trainings, as they are stored."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.contracts.annotation.trainings import Training


@dataclass(frozen=True)
class TrainingVersion:
    """One version of a training."""

    id: UUID
    training: Training
    created_at: datetime


@dataclass(frozen=True)
class TrainingSummary:
    """A version of a training in a list, without its dialogues."""

    id: UUID
    name: str
    version: int
    title: str
    protocol: str
    protocol_version: int
    dialogues: int
    created_at: datetime
