"""The events of `annotation` that subscribers can receive."""

from enum import StrEnum


class AnnotationEventType(StrEnum):
    """An event that subscribers can receive."""

    ASSIGNMENT_SUBMITTED = "assignment.submitted"
    """An annotator submitted a package."""
    ASSIGNMENT_REJECTED = "assignment.rejected"
    """An operator rejected a package that was submitted."""
    CAMPAIGN_COMPLETED = "campaign.completed"
    """The last needed annotation of a campaign was submitted."""
    CAMPAIGN_CLOSED = "campaign.closed"
    """An operator ended a campaign."""
    CAMPAIGN_VERDICTS_CHANGED = "campaign.verdicts_changed"
    """Pairs of bots of a campaign were decided."""
    CAMPAIGN_STOPPED = "campaign.stopped"
    """A campaign paused by its own rule."""
    ANNOTATOR_BLOCKED = "annotator.blocked"
    """An operator blocked an annotator."""
