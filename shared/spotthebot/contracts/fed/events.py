"""The events of `fed` that the operator can subscribe to."""

from enum import StrEnum


class FedEventType(StrEnum):
    """An event that subscribers can receive."""

    SCORE_JOB_COMPLETED = "score_job.completed"
    """A score job has scored its collection; its score set exists."""
    SCORE_JOB_FAILED = "score_job.failed"
    """A score job ended without a score set."""
    SCORE_JOB_CANCELLED = "score_job.cancelled"
    """An operator cancelled a score job."""
