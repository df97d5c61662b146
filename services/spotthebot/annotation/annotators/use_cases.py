"""Block an annotator, with an entry in the audit log, and put questions in an annotator's order."""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from spotthebot.annotation.annotators import store
from spotthebot.annotation.annotators.domain import Annotator
from spotthebot.annotation.audit import store as audit_store
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.use_cases import terms_of
from spotthebot.annotation.events.use_cases import publish_blocked
from spotthebot.annotation.leases import store as leases_store
from spotthebot.annotation.packages.domain.shuffle import Shuffle
from spotthebot.annotation.protocols.domain.order import in_drawn_order
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.kit.database.sessions import ReadSession, WriteSession


async def block_annotator(
    session: WriteSession, campaign_id: UUID, annotator_id: UUID, reason: str, *, key_id: UUID, now: datetime
) -> Annotator:
    """Block an annotator from claiming packages and free the package that they hold.

    Blocking again keeps the first block.

    Raises AnnotatorErased.
    """
    (await store.lock_annotator_by_id(session, campaign_id, annotator_id)).require_known()
    if await store.block(session, annotator_id, now, reason):
        await leases_store.end_leases_of(session, [annotator_id], now)
        await audit_store.add(
            session, campaign_id, key_id=key_id, action="annotator.blocked", annotator_id=annotator_id, reason=reason
        )
        await publish_blocked(session, await campaigns_store.get_campaign(session, campaign_id), annotator_id)
    return await store.get_annotator(session, campaign_id, annotator_id)


async def protocol_by_annotator(session: ReadSession, campaign_id: UUID) -> Callable[[UUID], AnnotationProtocol]:
    """Return the function from an annotator's id to the campaign's protocol as this annotator sees it.

    If the protocol draws the order of questions, the annotator's own id, the campaign's secret and its seed decide the
    order. So it stays the same after the annotator is erased.
    """
    protocol = (await terms_of(session, campaign_id)).protocol
    if protocol.question_order == "fixed":
        return lambda _: protocol
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    shuffle = Shuffle(await campaigns_store.read_secret(session, campaign_id), campaign.seed)

    def protocol_of(annotator_id: UUID) -> AnnotationProtocol:
        return in_drawn_order(protocol, lambda step, groups: shuffle(f"questions/{annotator_id}/{step}", groups))

    return protocol_of
