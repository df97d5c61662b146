"""Answers to the items of an assignment. An annotator can save an answer repeatedly until submission."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.annotation.assignments.domain.answers import AnsweredItem, Draft, revise
from spotthebot.annotation.assignments.domain.assignments import LeasedItem
from spotthebot.annotation.assignments.store import answers as answers_store
from spotthebot.annotation.assignments.store import assignments as assignments_store
from spotthebot.annotation.assignments.store import drafts as drafts_store
from spotthebot.annotation.assignments.use_cases.gold import gold_item, require_item
from spotthebot.annotation.campaigns.domain import Terms
from spotthebot.annotation.campaigns.use_cases import terms_of
from spotthebot.annotation.leases import store as leases_store
from spotthebot.annotation.leases.domain import Lease
from spotthebot.annotation.protocols.domain import exchanges as exchanges_domain
from spotthebot.annotation.protocols.domain.answers import missing
from spotthebot.contracts.annotation.assignments import AnswerIn, ExchangeIn
from spotthebot.contracts.turns import Turn
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.database.statements import Runner
from spotthebot.kit.errors import FieldError


@dataclass(frozen=True)
class SavedAnswer:
    """A saved draft, its missing answers, and the end of the lease."""

    position: int
    draft: Draft
    missing: tuple[FieldError, ...]
    expires_at: datetime


async def save_answer(
    runner: Runner, assignment_id: UUID, frontend: str, position: int, request: AnswerIn, *, now: datetime
) -> SavedAnswer:
    """Save the draft of an answer; saving the same draft again changes nothing.

    A save extends the lease if half of the lease's time is over. Raises NoSuchItem, AssignmentExpired,
    AssignmentSubmitted, and the errors of `revise`.
    """
    while True:
        found = await answers_store.find_item(runner, assignment_id, frontend, request.holder, position)
        work = await _require_work(runner, found, position, now)
        item, protocol = work.item, work.terms.protocol
        draft = revise(
            protocol,
            item.shape,
            item.draft,
            request.answer,
            now=now,
            show_step=request.show_step,
            version=request.version,
        )
        # No lock is held in between. If the item has changed when the draft is stored, it is read and revised again.
        if draft == item.draft or await drafts_store.put_draft(
            runner, work.lease.id, item, draft, at=now, reported_ms=request.elapsed_ms
        ):
            break
    expires_at = await _extend(runner, work, now)
    return SavedAnswer(position, draft, missing(protocol, item.shape, draft.answer), expires_at)


async def open_exchange(
    session: WriteSession, assignment_id: UUID, frontend: str, position: int, request: ExchangeIn, *, now: datetime
) -> tuple[Turn, ...]:
    """Open the next exchange of an item and return all turns up to it; a repeat returns the same turns.

    To open an exchange extends the lease if half of the lease's time is over. Raises NoSuchItem, AssignmentExpired,
    AssignmentSubmitted, and the errors of `exchanges.open_exchange`.
    """
    while True:
        # If another request came first, the draft is read again, now under the lock.
        found = await answers_store.lock_item(session, assignment_id, frontend, request.holder, position)
        work = await _require_work(session, found, position, now)
        item = work.item
        opened_at = exchanges_domain.open_exchange(
            work.terms.protocol,
            item.shape,
            item.draft.answer,
            item.draft.opened_at,
            request.open,
            most=item.exchanges,
            now=now,
        )
        if opened_at == item.draft.opened_at or await drafts_store.put_opened(
            session, work.lease.id, item, opened_at, at=now
        ):
            break
    await _extend(session, work, now)
    # Read for gold items too, which have none, so that both take the same time.
    turns = await assignments_store.find_turns(session, work.lease.package_id, position, exchanges=request.open)
    return turns if found.gold is None else gold_item(work.terms, item, found.gold).shown.turns(exchanges=request.open)


@dataclass(frozen=True)
class _Work:
    """An item that its annotator works on."""

    lease: Lease
    terms: Terms
    item: AnsweredItem


async def _require_work(runner: Runner, found: LeasedItem, position: int, now: datetime) -> _Work:
    found.lease.require_at_work(now)
    terms = await terms_of(runner, found.lease.campaign_id)
    if found.item is not None and found.gold is None:
        return _Work(found.lease, terms, found.item)
    return _Work(found.lease, terms, await require_item(runner, terms, found, position))


async def _extend(runner: Runner, work: _Work, now: datetime) -> datetime:
    """Extend a lease if half of its time is over, and return the end of the lease."""
    expires_at = work.lease.expires_at
    if expires_at - now < work.lease.lasts / 2:
        expires_at = now + work.lease.lasts
        await leases_store.extend_lease(runner, work.lease.id, expires_at)
    return expires_at
