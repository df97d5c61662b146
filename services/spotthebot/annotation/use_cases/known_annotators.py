"""Who asks for something: an annotator whom the frontend names, or one who came by an entry link."""

from uuid import UUID

from spotthebot.annotation import store
from spotthebot.annotation.domain.errors import NotEntered
from spotthebot.kit.database import ReadSession, WriteSession


async def lock_annotator(
    session: WriteSession, campaign_id: UUID, frontend: str, external_id: str, link_id: UUID | None
) -> tuple[UUID, bool]:
    """Let one request of an annotator at a time pass; return their id, and whether they are new and were added now.

    Nobody is added who is said to have come by a link: raises NotEntered unless they did, and were not erased since.
    """
    if link_id is None:
        return await store.annotators.lock_annotator(session, campaign_id, frontend, external_id)
    found = await store.entry_links.lock_entered(session, campaign_id, frontend, external_id, link_id)
    if found is None:
        raise NotEntered
    return found, False


async def require_link(session: ReadSession, link_id: UUID | None) -> None:
    """Raise EntryLinkRevoked for somebody who came by a link that was revoked since."""
    if link_id is not None:
        (await store.entry_links.get_link(session, link_id)).require_unrevoked()
