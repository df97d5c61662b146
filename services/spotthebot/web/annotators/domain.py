"""The decisions that an administrator can take about an annotator."""

from spotthebot.contracts.annotation.assignments import AnnotatorOut
from spotthebot.contracts.annotation.trainings import TrainingRecordOut, TrainingState


def attempt_to_grant(record: TrainingRecordOut | None) -> int | None:
    """Return the number of the training attempt that an administrator can grant.

    None if the annotator has an attempt left, has not started, or did not fail the last attempt.
    """
    if record is None or record.attempts_left or not record.attempts:
        return None
    last = max(record.attempts, key=lambda attempt: attempt.attempt)
    return last.attempt + 1 if last.state is TrainingState.FAILED else None


def annotator_actions(
    annotator: AnnotatorOut, *, currency: str | None, record: TrainingRecordOut | None
) -> tuple[str, ...]:
    """Return the decisions that an administrator can take about an annotator.

    Decisions in the annotator's favour come first.

    Nothing can be decided about an annotator whose data were erased.
    """
    if annotator.erased_at is not None:
        return ()
    return (
        *(("attempt",) if attempt_to_grant(record) else ()),
        *(("unblock",) if annotator.blocked_at else ()),
        *(("bonus",) if currency else ()),
        *(() if annotator.blocked_at else ("block",)),
        "erase",
    )
