"""Block an annotator, with an entry in the audit log."""

from datetime import datetime
from uuid import UUID

from spotthebot.annotation.annotators import store
from spotthebot.annotation.annotators.domain import Annotator
from spotthebot.annotation.audit import store as audit_store
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.events.use_cases import publish_blocked
from spotthebot.annotation.leases import store as leases_store
from spotthebot.kit.database.sessions import WriteSession


async def block_annotator(
    session: WriteSession, campaign_id: UUID, annotator_id: UUID, reason: str, *, key_id: UUID, now: datetime
) -> Annotator:
    """Block an annotator from claiming packages and free the package that they hold.

    Blocking again keeps the first block.

    Raises AnnotatorErased.
    """
    (await store.lock_annotator_by_id(session, campaign_id, annotator_id)).require_known()
    if await store.block(session, annotator_id, now, reason):
        await leases_store.end_leases_of(session, [annotator_id])
        await audit_store.add(
            session, campaign_id, key_id=key_id, action="annotator.blocked", annotator_id=annotator_id, reason=reason
        )
        await publish_blocked(session, await campaigns_store.get_campaign(session, campaign_id), annotator_id)
    return await store.get_annotator(session, campaign_id, annotator_id)
