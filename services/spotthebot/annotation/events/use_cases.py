"""The events of `annotation`, published in the transaction in which they happen, and the frontend of each event."""

from typing import Any
from uuid import UUID

from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.events.store import EVENTS
from spotthebot.annotation.leases.domain import Lease
from spotthebot.contracts.annotation.events import AnnotationEventType
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.events.domain import Event


async def publish_submitted(
    session: WriteSession, campaign: Campaign, lease: Lease, frontend: str, *, annotations: int
) -> None:
    """Publish that an annotator of a frontend submitted a package."""
    data = {
        "campaign": _named(campaign),
        "assignment": {
            "id": str(lease.id),
            "submitted_at": lease.submitted_at and lease.submitted_at.isoformat(),
            "annotations": annotations,
        },
        "frontend": frontend,
    }
    await EVENTS.outbox.add_event(session, AnnotationEventType.ASSIGNMENT_SUBMITTED, data)


async def publish_rejected(session: WriteSession, campaign: Campaign, lease: Lease, frontend: str) -> None:
    """Publish that an operator rejected an assignment; the reason stays in the audit log."""
    data = {"campaign": _named(campaign), "assignment": {"id": str(lease.id)}, "frontend": frontend}
    await EVENTS.outbox.add_event(session, AnnotationEventType.ASSIGNMENT_REJECTED, data)


async def publish_completed(session: WriteSession, campaign: Campaign) -> None:
    """Publish that a campaign has all the annotations that it needs."""
    await EVENTS.outbox.add_event(session, AnnotationEventType.CAMPAIGN_COMPLETED, _ended(campaign))


async def publish_closed(session: WriteSession, campaign: Campaign) -> None:
    """Publish that an operator ended a campaign."""
    await EVENTS.outbox.add_event(session, AnnotationEventType.CAMPAIGN_CLOSED, _ended(campaign))


async def publish_verdicts(session: WriteSession, campaign: Campaign, *, decided: int, pairs: int) -> None:
    """Publish how many of the campaign's pairs of bots are decided now; `analytics` knows the bots."""
    data = {"campaign": _named(campaign), "decided": decided, "pairs": pairs}
    await EVENTS.outbox.add_event(session, AnnotationEventType.CAMPAIGN_VERDICTS_CHANGED, data)


async def publish_stopped(session: WriteSession, campaign: Campaign) -> None:
    """Publish that a campaign paused by its own rule."""
    data = _ended(campaign) | {"reason": campaign.stop_reason}
    await EVENTS.outbox.add_event(session, AnnotationEventType.CAMPAIGN_STOPPED, data)


async def publish_blocked(session: WriteSession, campaign: Campaign, annotator_id: UUID) -> None:
    """Publish that an annotator was blocked; the reason stays in the audit log."""
    data = {"campaign": _named(campaign), "annotator": {"id": str(annotator_id)}}
    await EVENTS.outbox.add_event(session, AnnotationEventType.ANNOTATOR_BLOCKED, data)


async def find_frontend(event: Event) -> str | None:
    """Return the frontend that an event belongs to; None for events of the operator."""
    return event.data.get("frontend")


def _named(campaign: Campaign) -> dict[str, Any]:
    return {"id": str(campaign.id), "name": campaign.name}


def _ended(campaign: Campaign) -> dict[str, Any]:
    return {
        "campaign": _named(campaign),
        "packages": campaign.progress.packages,
        "submitted": campaign.progress.submitted,
        "annotations": campaign.progress.annotations,
    }
