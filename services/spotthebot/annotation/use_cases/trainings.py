"""Trainings: store a version."""

from spotthebot.annotation import store
from spotthebot.annotation.domain.errors import TrainingFaulty, TrainingVersionStored
from spotthebot.annotation.domain.trainings.checks import check_training
from spotthebot.annotation.domain.trainings.versions import TrainingVersion
from spotthebot.annotation.use_cases.protocols import require_protocol
from spotthebot.contracts.trainings import Training
from spotthebot.kit.database import WriteSession


async def create_training(session: WriteSession, training: Training) -> TrainingVersion:
    """Store a version of a training; the same document again changes nothing.

    Raises UnknownProtocol, TrainingFaulty and TrainingVersionStored.
    """
    protocol = await require_protocol(session, training.protocol, training.protocol_version)
    if faults := check_training(training, protocol, at="/training"):
        raise TrainingFaulty(fields=faults)
    await store.trainings.add_training(session, training)
    stored = await store.trainings.get_training(session, training.name, training.version)
    if stored.training != training:
        raise TrainingVersionStored(name=training.name, version=training.version)
    return stored
