"""Annotators: block and unblock, what they say against it, and their erasure, all in the audit log."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from spotthebot.annotation import store
from spotthebot.annotation.domain.annotators import Annotator
from spotthebot.annotation.domain.protocols.questions import text_questions
from spotthebot.annotation.domain.quality import AnnotatorQuality, agreement
from spotthebot.annotation.use_cases.events import publish_blocked
from spotthebot.annotation.use_cases.terms import terms_of
from spotthebot.annotation.use_cases.training_attempts import has_failed
from spotthebot.contracts.assignments import SubmittedTexts
from spotthebot.kit.database import ReadSession, WriteSession


async def get_quality(session: ReadSession, campaign_id: UUID, annotator_id: UUID) -> AnnotatorQuality:
    """Return what is known of an annotator's work so far, whether or not the campaign is over."""
    annotator = await store.annotators.get_annotator(session, campaign_id, annotator_id)
    annotations, median = await store.quality.get_times(session, annotator_id)
    pairs = await store.quality.list_compared(session, annotator_id)
    protocol = (await terms_of(session, campaign_id)).protocol
    times = await store.quality.find_response_times(session, campaign_id, annotator_id)
    return AnnotatorQuality(annotator, annotations, median, times, agreement(protocol, pairs))


async def block_annotator(
    session: WriteSession, campaign_id: UUID, annotator_id: UUID, reason: str, *, key_id: UUID, now: datetime
) -> Annotator:
    """Let an annotator claim nothing more; what they hold goes to others. Blocking again keeps the first.

    Raises AnnotatorErased.
    """
    (await store.annotators.lock_annotator_by_id(session, campaign_id, annotator_id)).require_known()
    if await store.annotators.block(session, annotator_id, now, reason):
        await store.claims.end_leases_of(session, [annotator_id])
        await store.audit_log.add(
            session, campaign_id, key_id=key_id, action="annotator.blocked", annotator_id=annotator_id, reason=reason
        )
        await publish_blocked(session, await store.campaigns.get_campaign(session, campaign_id), annotator_id)
    return await store.annotators.get_annotator(session, campaign_id, annotator_id)


async def unblock_annotator(
    session: WriteSession, campaign_id: UUID, annotator_id: UUID, reason: str, *, key_id: UUID
) -> Annotator:
    """Let an annotator who was blocked work again; raises AnnotatorErased."""
    (await store.annotators.lock_annotator_by_id(session, campaign_id, annotator_id)).require_known()
    if await store.annotators.unblock(session, annotator_id):
        await store.audit_log.add(
            session, campaign_id, key_id=key_id, action="annotator.unblocked", annotator_id=annotator_id, reason=reason
        )
    return await store.annotators.get_annotator(session, campaign_id, annotator_id)


async def appeal(
    session: WriteSession,
    campaign_id: UUID,
    frontend: str,
    external_id: str,
    note: str,
    *,
    key_id: UUID,
    now: datetime,
) -> Annotator:
    """Keep one note of an annotator who is blocked, or failed the training for good; the same again changes nothing.

    Raises NothingToAppeal, AppealLodged.
    """
    annotator = await store.annotators.lock_known_annotator(session, campaign_id, frontend, external_id)
    campaign = await store.campaigns.get_campaign(session, campaign_id)
    if not annotator.require_appealable(note, has_failed=await has_failed(session, campaign, annotator)):
        return annotator
    await store.annotators.set_appeal(session, annotator.id, note, now)
    await store.audit_log.add(
        session, campaign_id, key_id=key_id, action="annotator.appealed", annotator_id=annotator.id, note=note
    )
    return await store.annotators.get_annotator(session, campaign_id, annotator.id)


async def erase_annotator(
    session: WriteSession,
    campaign_id: UUID,
    annotator_id: UUID,
    submitted_texts: SubmittedTexts,
    *,
    key_id: UUID,
    now: datetime,
) -> Annotator:
    """Erase the person behind an annotator from every campaign of their frontend; their labels stay.

    What they hold goes to others. Erasing again changes nothing, but for texts that were kept the first time.
    """
    annotator = await store.annotators.get_annotator(session, campaign_id, annotator_id)
    if annotator.erased_at is not None:
        if submitted_texts is SubmittedTexts.ERASE and await _erase_answers(
            session, {annotator_id: campaign_id}, submitted_texts
        ):
            await store.audit_log.add(
                session, campaign_id, key_id=key_id, action="annotator.texts_erased", annotator_id=annotator_id
            )
        return annotator
    person = await store.erasure.lock_person(session, annotator)
    if not person.annotators:  # another erasure came first
        return await store.annotators.get_annotator(session, campaign_id, annotator_id)
    # All that can wait for others comes first, in the order in which everybody locks: annotators, leases, packages.
    await store.claims.end_leases_of(session, person.annotators)
    await store.erasure.erase_annotators(session, person, now)
    await store.erasure.erase_texts(session, person)
    await _erase_answers(session, person.annotators, submitted_texts)
    await store.erasure.erase_kept_answers(session, person)
    for each, campaign in person.annotators.items():
        await store.audit_log.add(
            session,
            campaign,
            key_id=key_id,
            action="annotator.erased",
            annotator_id=each,
            submitted_texts=submitted_texts.value,
        )
    return await store.annotators.get_annotator(session, campaign_id, annotator_id)


async def _erase_answers(
    session: WriteSession, annotators: Mapping[UUID, UUID], submitted_texts: SubmittedTexts
) -> int:
    """Erase what annotators, given with their campaigns, answered in their own words; return how many annotations."""
    erased = 0
    for annotator_id, campaign_id in annotators.items():
        questions = text_questions((await terms_of(session, campaign_id)).protocol)
        if questions:
            await store.erasure.erase_answers(session, annotator_id, questions)
            if submitted_texts is SubmittedTexts.ERASE:
                erased += await store.erasure.erase_annotations(session, annotator_id, questions)
    return erased
