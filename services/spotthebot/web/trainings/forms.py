"""Reads a training from an administrator's file, or finds the file's faults with their places."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from spotthebot.contracts.annotation.trainings import Training, TrainingIn
from spotthebot.kit.text.validation import reason_of


@dataclass(frozen=True)
class FileFault:
    """A fault of the file. `place` is a JSON pointer; "" stands for the whole file."""

    place: str
    detail: str


def read_training(content: object) -> TrainingIn | list[FileFault]:
    """Return the training in a document, or the document's faults.

    The document is the training itself, or an object with the training under `training`, as in the API.
    """
    document = content["training"] if isinstance(content, dict) and set(content) == {"training"} else content
    try:
        return TrainingIn(training=Training.model_validate(document))
    except ValidationError as error:
        return [FileFault(_pointer(fault["loc"]), reason_of(fault)) for fault in error.errors()]


def first_of(faults: Iterable[FileFault], limit: int = 20) -> tuple[Sequence[FileFault], int]:
    """Return the first `limit` faults, and the number of other faults."""
    found = [*faults]
    return found[:limit], max(0, len(found) - limit)


def _pointer(place: Sequence[int | str]) -> str:
    return "".join(f"/{part}" for part in place)
