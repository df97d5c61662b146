"""The erasure of a person from all campaigns of their frontend; the audit log notes it."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from spotthebot.annotation.annotators import store as annotators_store
from spotthebot.annotation.annotators.domain import Annotator
from spotthebot.annotation.audit import store as audit_store
from spotthebot.annotation.campaigns.use_cases import terms_of
from spotthebot.annotation.erasure import store
from spotthebot.annotation.leases import store as leases_store
from spotthebot.annotation.metadata import IDEMPOTENCY
from spotthebot.annotation.protocols.domain.questions import text_questions
from spotthebot.contracts.terms import SubmittedTexts
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.web.database.erasure import delete_answers_about


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

    Packages that the person holds go to other annotators. A repeat can erase texts that the first request kept;
    otherwise it changes nothing.
    """
    annotator = await annotators_store.get_annotator(session, campaign_id, annotator_id)
    if annotator.erased_at is not None:
        if submitted_texts is SubmittedTexts.ERASE and await _erase_answers(
            session, {annotator_id: campaign_id}, submitted_texts
        ):
            await audit_store.add(
                session, campaign_id, key_id=key_id, action="annotator.texts_erased", annotator_id=annotator_id
            )
        return annotator
    person = await store.lock_person(session, annotator)
    if not person.annotators:  # another erasure came first
        return await annotators_store.get_annotator(session, campaign_id, annotator_id)
    # All locks come first, in the order that everybody uses: annotators, leases, packages.
    await leases_store.end_leases_of(session, person.annotators, now)
    await store.erase_annotators(session, person, now)
    await store.erase_texts(session, person)
    await _erase_answers(session, person.annotators, submitted_texts)
    await delete_answers_about(session, IDEMPOTENCY, person.external_id, person.annotators)
    for each, campaign in person.annotators.items():
        await audit_store.add(
            session,
            campaign,
            key_id=key_id,
            action="annotator.erased",
            annotator_id=each,
            submitted_texts=submitted_texts.value,
        )
    return await annotators_store.get_annotator(session, campaign_id, annotator_id)


async def _erase_answers(
    session: WriteSession, annotators: Mapping[UUID, UUID], submitted_texts: SubmittedTexts
) -> int:
    """Erase free-text answers of annotators; `annotators` has the campaign of each.

    Return how many annotations changed.
    """
    erased = 0
    for annotator_id, campaign_id in annotators.items():
        questions = text_questions((await terms_of(session, campaign_id)).protocol)
        if questions:
            await store.erase_answers(session, annotator_id, questions)
            if submitted_texts is SubmittedTexts.ERASE:
                erased += await store.erase_annotations(session, annotator_id, questions)
    return erased
