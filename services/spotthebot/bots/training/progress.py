"""The progress of a training."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """The state of a training after a step.

    `loss` is the mean of the epoch so far, `validation_loss` that of the last epoch that ended; both in nats, for each
    token of a generating model, for each response of a ranking one. `seconds_left` leaves out the time of
    validation and writing.
    """

    step: int
    steps: int
    epoch: int
    epochs: int
    loss: float
    validation_loss: float | None
    examples_per_second: float
    seconds_left: float
    epoch_ended: bool
