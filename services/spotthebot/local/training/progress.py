"""The progress of a training."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """The state of a training after a step.

    `loss` is the mean loss of the present epoch so far, `validation_loss` is the loss after the last completed epoch.
    Both are in nats: per token for a generating model, per response for a ranking model. `seconds_left` excludes the
    time of validation and writing.
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
