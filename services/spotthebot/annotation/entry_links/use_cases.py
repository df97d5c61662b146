"""Who asks for something, an annotator whom the frontend names or one who came by an entry link, and completions.

A completion is how an annotator shows the panel that a package is done.
"""

from uuid import UUID

from spotthebot.annotation.annotators import store as annotators_store
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.entry_links import store
from spotthebot.annotation.entry_links.domain.panels import Completion, completion
from spotthebot.annotation.entry_links.errors import NotEntered
from spotthebot.annotation.leases.domain import Lease
from spotthebot.kit.database.sessions import ReadSession, WriteSession


async def lock_annotator(
    session: WriteSession, campaign_id: UUID, frontend: str, external_id: str, link_id: UUID | None
) -> tuple[UUID, bool]:
    """Let one request of an annotator at a time pass; return their id, and whether they are new and were added now.

    Nobody is added who is said to have come by a link: raises NotEntered unless they did, and were not erased since.
    """
    if link_id is None:
        return await annotators_store.lock_annotator(session, campaign_id, frontend, external_id)
    found = await store.lock_entered(session, campaign_id, frontend, external_id, link_id)
    if found is None:
        raise NotEntered
    return found, False


async def require_link(session: ReadSession, link_id: UUID | None) -> None:
    """Raise EntryLinkRevoked for somebody who came by a link that was revoked since."""
    if link_id is not None:
        (await store.get_link(session, link_id)).require_unrevoked()


async def completion_of(session: ReadSession, campaign: Campaign, annotator: str, lease: Lease) -> Completion | None:
    """Return how an annotator shows the panel that a submitted package is done, as they had entered for it."""
    if campaign.panel is None or lease.submitted_at is None or lease.completion_code is None:
        return None
    entered_with = await store.latest_parameters(session, lease.annotator_id, until=lease.submitted_at)
    return completion(campaign.panel, annotator, entered_with, lease.completion_code)
