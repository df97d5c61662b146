"""What a training tells while it runs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a training is, after a step.

    `loss` is the mean of the epoch so far, `validation_loss` that of the last epoch that ended; both in nats, for each
    token of a generating model, for each response of a ranking one. `seconds_left` does not count what validation and
    writing take.
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
