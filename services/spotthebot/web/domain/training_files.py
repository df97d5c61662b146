"""A file with a training, as an administrator uploads it: what it holds, or what is wrong with it and where."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from spotthebot.contracts.annotation.trainings import Training, TrainingIn
from spotthebot.kit.text.validation import reason_of


@dataclass(frozen=True)
class FileFault:
    """What is wrong, and where in the file: a JSON pointer, empty where it is about the whole."""

    place: str
    detail: str


def read_training(content: object) -> TrainingIn | list[FileFault]:
    """Return the training that a document holds, bare or under `training` as the API takes it; else its faults."""
    document = content["training"] if isinstance(content, dict) and set(content) == {"training"} else content
    try:
        return TrainingIn(training=Training.model_validate(document))
    except ValidationError as error:
        return [FileFault(_pointer(fault["loc"]), reason_of(fault)) for fault in error.errors()]


def first_of(faults: Iterable[FileFault], limit: int = 20) -> tuple[Sequence[FileFault], int]:
    """Return the first faults, and how many more there are."""
    found = [*faults]
    return found[:limit], max(0, len(found) - limit)


def _pointer(place: Sequence[int | str]) -> str:
    return "".join(f"/{part}" for part in place)
