"""Answers to the items of an assignment, saved as often as an annotator likes until it is submitted."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.annotation import store
from spotthebot.annotation.domain.answers import Draft, revise
from spotthebot.annotation.domain.errors import NoSuchItem
from spotthebot.annotation.domain.protocols.answers import missing
from spotthebot.annotation.use_cases.terms import terms_of
from spotthebot.contracts.assignments import AnswerIn
from spotthebot.kit.database import WriteSession
from spotthebot.kit.errors import FieldError


@dataclass(frozen=True)
class SavedAnswer:
    """A draft after it was saved, what is missing in it, and until when the package is its annotator's."""

    position: int
    draft: Draft
    missing: tuple[FieldError, ...]
    expires_at: datetime


async def save_answer(
    session: WriteSession, assignment_id: UUID, frontend: str, position: int, request: AnswerIn, *, now: datetime
) -> SavedAnswer:
    """Save the draft of an answer; the same one again changes nothing.

    Work extends a lease, once half of it is over. Raises NoSuchItem, AssignmentExpired, AssignmentSubmitted, and what
    `revise` raises.
    """
    while True:
        lease, item = await store.answers.lock_item(session, assignment_id, frontend, position)
        lease.require_at_work(now)
        if item is None:
            raise NoSuchItem(position=position, last=await store.answers.last_position(session, lease))
        terms = await terms_of(session, lease.campaign_id)
        draft = revise(
            terms.protocol,
            item.shape,
            item.draft,
            request.answer,
            show_step=request.show_step,
            version=request.version,
        )
        # Where another save came before this one got the lock, the draft is read again, now under the lock.
        if draft == item.draft or await store.answers.put_draft(
            session, lease.id, item, draft, at=now, reported_ms=request.elapsed_ms
        ):
            break
    expires_at = lease.expires_at
    if expires_at - now < terms.lease / 2:
        expires_at = now + terms.lease
        await store.assignments.extend_lease(session, lease.id, expires_at)
    return SavedAnswer(position, draft, missing(terms.protocol, item.shape, draft.answer), expires_at)
