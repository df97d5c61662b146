"""Trainings: store a version, find the version that a campaign names."""

from spotthebot.annotation.protocols.use_cases import require_protocol
from spotthebot.annotation.trainings import store
from spotthebot.annotation.trainings.domain.checks import check_training
from spotthebot.annotation.trainings.domain.versions import TrainingVersion
from spotthebot.annotation.trainings.errors import (
    TrainingFaulty,
    TrainingOfOtherProtocol,
    TrainingVersionStored,
    UnknownTraining,
)
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.annotation.trainings import Training
from spotthebot.kit.database.sessions import ReadSession, WriteSession


async def create_training(session: WriteSession, training: Training, *, at: str = "/training") -> TrainingVersion:
    """Store a version of a training; storing the same document again changes nothing.

    `at` is the JSON pointer to the training in the request. Raises UnknownProtocol, TrainingFaulty and
    TrainingVersionStored.
    """
    protocol = await require_protocol(session, training.protocol, training.protocol_version)
    if faults := check_training(training, protocol, at=at):
        raise TrainingFaulty(fields=faults)
    await store.add_training(session, training)
    stored = await store.get_training(session, training.name, training.version)
    if stored.training != training:
        raise TrainingVersionStored(name=training.name, version=training.version)
    return stored


async def require_training(
    session: ReadSession, name: str, version: int | None, protocol: AnnotationProtocol
) -> Training:
    """Return a version of a training, or its newest version; raises UnknownTraining and TrainingOfOtherProtocol."""
    newest = version or await store.find_newest_version(session, name)
    found = newest and await store.find_training(session, name, newest)
    if not found:
        raise UnknownTraining(name=name, version="" if version is None else f" of version {version}")
    training = found.training
    if (training.protocol, training.protocol_version) != (protocol.name, protocol.version):
        raise TrainingOfOtherProtocol(name=name, protocol=training.protocol, version=training.protocol_version)
    return training
