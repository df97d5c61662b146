"""Claims: packages that still need annotators, and the leases that claims make.

A package's `slots_left` counts the annotators that it still needs. It changes in the transaction that makes, ends or
renews a lease, so no package ever goes to more annotators than it needs.

No claim waits for a package while it holds another, so claims never wait for each other in a circle. PostgreSQL locks a
package before it sees that another claim has just taken the last slot, and keeps the lock. Rolling back to a savepoint
releases such a lock.

Packages with more items of undecided pairs of bots come first, then older packages. The order depends on the verdicts
so far and on the pairs that a package shows, never on the texts or on labels of the package itself. Within a pair,
conversations were dealt to packages at random, so a pair's labels stay a random sample of its conversations. Verdicts
are valid at every look, so labels so far may decide which pair is asked about next: this changes how many labels a pair
gets, not their distribution.

A claim leaves out blocks from which its annotator had a package. It compares the conversations of other packages one
package at a time, because a join of seen conversations with items would read every item of every campaign.
"""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Uuid, bindparam, exists, func, null, or_, select, text, true, update
from sqlalchemy.dialects.postgresql import array, insert
from sqlalchemy.orm import aliased

from spotthebot.annotation.annotators.tables import SeenConversationRow
from spotthebot.annotation.assignments.store import answers as answers_store
from spotthebot.annotation.assignments.tables import AnswerRow
from spotthebot.annotation.leases import store as leases_store
from spotthebot.annotation.leases.domain import HeldLease, longest_idle, states_before
from spotthebot.annotation.leases.tables import AssignmentRow
from spotthebot.annotation.packages.tables import ItemRow, PackageRow
from spotthebot.contracts.annotation.assignments import AssignmentId, AssignmentState
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statements import Statement, constant
from spotthebot.kit.ids import new_id

_FEW = 100
"""The number of candidates to look at first: PostgreSQL reads them in order and sorts nothing."""
_NEEDS_ANNOTATORS = PackageRow.slots_left > constant(0)


def _next_package(*, lock: bool, most: int | None = None) -> Statement:
    """Return the statement that finds the first suitable package in order, and locks it if `lock`.

    With `lock` it skips packages that others lock. Packages of a block show the same conversations, so it leaves out at
    once all blocks from which the annotator had a package. It compares conversations only for the package that comes
    next. `MATERIALIZED`, `OFFSET 0` and `LATERAL` keep PostgreSQL from joining all items.
    """
    annotator_id = bindparam("annotator_id", type_=Uuid)
    own = aliased(PackageRow)
    own_blocks = (
        select(own.block)
        .join(AssignmentRow, AssignmentRow.package_id == own.id)
        .where(AssignmentRow.annotator_id == annotator_id, own.block.is_not(None))
    )
    candidates = (
        select(PackageRow.id)
        .where(
            PackageRow.campaign_id == bindparam("campaign_id"),
            _NEEDS_ANNOTATORS,
            or_(PackageRow.block.is_(None), PackageRow.block.not_in(own_blocks)),
        )
        .order_by(PackageRow.undecided_items.desc(), PackageRow.id)
        .limit(None if most is None else constant(most))
        .cte("candidates")
        .prefix_with("MATERIALIZED")
    )
    has_seen = exists(
        select(ItemRow.id)
        .join(
            SeenConversationRow,
            SeenConversationRow.conversation_id.in_([ItemRow.conversation_id, ItemRow.right_conversation_id]),
        )
        .where(ItemRow.package_id == candidates.c.id, SeenConversationRow.annotator_id == annotator_id)
        .offset(constant(0))
    )
    found = select(candidates.c.id).where(~has_seen).limit(constant(1))
    if lock:
        locked = select(PackageRow.id).where(PackageRow.id == candidates.c.id, _NEEDS_ANNOTATORS)
        found = found.join(locked.with_for_update(skip_locked=True).lateral("locked"), true())
    return Statement(found)


_NEXT_FREE = _next_package(lock=True, most=_FEW), _next_package(lock=True)
_NEXT = _next_package(lock=False)
_PACKAGE = Statement(
    select(PackageRow.id).where(PackageRow.id == bindparam("package_id"), _NEEDS_ANNOTATORS).with_for_update()
)
_SAVEPOINT, _RELEASE_LOCKS = Statement(text("SAVEPOINT claim")), Statement(text("ROLLBACK TO SAVEPOINT claim"))
_CONVERSATIONS = func.array_remove(array([ItemRow.conversation_id, ItemRow.right_conversation_id]), null())
_SHOWN = select(bindparam("annotator_id", type_=Uuid), func.unnest(_CONVERSATIONS)).where(
    ItemRow.package_id == bindparam("package_id")
)
_LEASE = Statement(
    insert(AssignmentRow)
    .values(
        id=bindparam("id"),
        campaign_id=bindparam("campaign_id"),
        package_id=bindparam("package_id"),
        annotator_id=bindparam("annotator_id"),
        state=constant(AssignmentState.LEASED),
        leased_at=bindparam("leased_at"),
        expires_at=bindparam("expires_at"),
    )
    .add_cte(
        insert(SeenConversationRow).from_select(["annotator_id", "conversation_id"], _SHOWN.distinct()).cte("shown"),
        update(PackageRow)
        .where(PackageRow.id == bindparam("package_id"))
        .values(slots_left=PackageRow.slots_left - constant(1))
        .cte("taken"),
    )
)
_IS_ANSWERED = exists().where(AnswerRow.assignment_id == AssignmentRow.id, answers_store.is_answered())
_HELD = Statement(
    select(
        AssignmentRow.id,
        AssignmentRow.package_id,
        AssignmentRow.leased_at,
        AssignmentRow.expires_at,
        _IS_ANSWERED.label("is_answered"),
    )
    .where(
        AssignmentRow.annotator_id == bindparam("annotator_id"),
        AssignmentRow.state == constant(AssignmentState.LEASED),
    )
    .limit(constant(1))
    .with_for_update()
)


def _expired(*, skip_locked: bool) -> Statement:
    package = (
        select(AssignmentRow.id, AssignmentRow.package_id)
        .join(PackageRow, PackageRow.id == AssignmentRow.package_id)
        .where(
            AssignmentRow.annotator_id == bindparam("annotator_id"),
            AssignmentRow.state.in_(map(constant, states_before(AssignmentState.LEASED))),
            _NEEDS_ANNOTATORS,
            or_(
                _IS_ANSWERED,
                AssignmentRow.leased_at > bindparam("idle_since"),
                AssignmentRow.expires_at <= bindparam("for_others_until"),
            ),
        )
        .order_by(AssignmentRow.id)
        .limit(constant(1))
    )
    return Statement(package.with_for_update(of=PackageRow, skip_locked=skip_locked))


_EXPIRED, _EXPIRED_AND_FREE = _expired(skip_locked=False), _expired(skip_locked=True)
_DUE = Statement(
    select(AssignmentRow.id, AssignmentRow.package_id)
    .where(
        AssignmentRow.campaign_id == bindparam("campaign_id"),
        AssignmentRow.state.in_(map(constant, states_before(AssignmentState.EXPIRED))),
        AssignmentRow.expires_at <= bindparam("now"),
    )
    .order_by(AssignmentRow.id)
    .limit(constant(1))
)
_LOCK_ASSIGNMENT, _LOCK_PACKAGE = (
    Statement(select(row.id).where(row.id == bindparam("row_id")).with_for_update())
    for row in (AssignmentRow, PackageRow)
)


async def lock_held(session: WriteSession, annotator_id: UUID) -> HeldLease | None:
    """Return the lease that an annotator holds, if any. Its slot belongs to the annotator until the lease is ended."""
    found = await session.fetch(_HELD, {"annotator_id": annotator_id})
    if not found:
        return None
    (held,) = found
    return HeldLease(AssignmentId(held.id), held.package_id, held.leased_at, held.expires_at, held.is_answered)


async def renew_expired(
    session: WriteSession, annotator_id: UUID, *, now: datetime, lease: timedelta, wait: bool
) -> AssignmentId | None:
    """Lease a package to its annotator again after the lease expired, if the package still needs annotators.

    If the annotator saved no answer for `longest_idle`, other annotators come first for the length of one lease.

    With `wait` it waits for packages that other transactions lock. Only claims that hold no package may wait.
    """
    await session.fetch(_SAVEPOINT, {})
    parameters = {
        "annotator_id": annotator_id,
        "idle_since": now - longest_idle(lease),
        "for_others_until": now - lease,
    }
    found = await session.fetch(_EXPIRED if wait else _EXPIRED_AND_FREE, parameters)
    if not found:
        await session.fetch(_RELEASE_LOCKS, {})
        return None
    (expired,) = found
    await leases_store.renew_assignment(session, AssignmentId(expired.id), expired.package_id, now + lease)
    return AssignmentId(expired.id)


async def lock_package(session: WriteSession, campaign_id: UUID, package: str) -> UUID | None:
    """Lock the package with an external id; other claims of it wait."""
    found: UUID | None = await session.scalar(
        select(PackageRow.id)
        .where(PackageRow.campaign_id == campaign_id, PackageRow.external_id == package)
        .with_for_update()
    )
    return found


async def needs_annotators(session: ReadSession, package_id: UUID) -> bool:
    """Return whether a package has a free slot."""
    return await session.scalar(select(PackageRow.id).where(PackageRow.id == package_id, _NEEDS_ANNOTATORS)) is not None


async def lock_free_package(session: WriteSession, campaign_id: UUID, annotator_id: UUID) -> UUID | None:
    """Lock the first package that needs annotators and shows no conversation that this annotator has seen.

    Skips packages that other transactions lock.
    """
    parameters = {"campaign_id": campaign_id, "annotator_id": annotator_id}
    await session.fetch(_SAVEPOINT, {})
    for statement in _NEXT_FREE:
        for package in await session.fetch(statement, parameters):
            found: UUID = package.id
            return found
    await session.fetch(_RELEASE_LOCKS, {})
    return None


async def wait_for_package(session: WriteSession, campaign_id: UUID, annotator_id: UUID) -> UUID | None:
    """Lock the first suitable package, and wait while other transactions lock it; None if there is no package.

    Call this only in a transaction that has not locked a package: two that wait for each other would never end.
    """
    parameters = {"campaign_id": campaign_id, "annotator_id": annotator_id}
    while candidates := await session.fetch(_NEXT, parameters):
        package_id: UUID = candidates[0].id
        await session.fetch(_SAVEPOINT, {})
        if await session.fetch(_PACKAGE, {"package_id": package_id}):
            return package_id
        await session.fetch(_RELEASE_LOCKS, {})
    return None


async def wait_for_expired(session: WriteSession, campaign_id: UUID, now: datetime) -> bool:
    """Wait while other transactions lock an expired lease that they have not ended; False if there is no such lease.

    Call this only in a transaction that has not locked a package. It releases each lock before it waits for the next.
    """
    for due in await session.fetch(_DUE, {"campaign_id": campaign_id, "now": now}):
        for lock, row_id in ((_LOCK_ASSIGNMENT, due.id), (_LOCK_PACKAGE, due.package_id)):
            await session.fetch(_SAVEPOINT, {})
            await session.fetch(lock, {"row_id": row_id})
            await session.fetch(_RELEASE_LOCKS, {})
        return True
    return False


async def lease_package(
    session: WriteSession,
    campaign_id: UUID,
    package_id: UUID,
    annotator_id: UUID,
    *,
    leased_at: datetime,
    expires_at: datetime,
) -> AssignmentId:
    """Lease a package that this transaction has locked, and mark its conversations as seen by the annotator.

    The database refuses a conversation that the annotator has seen.
    """
    assignment_id = new_id()
    await session.fetch(
        _LEASE,
        {
            "id": assignment_id,
            "campaign_id": campaign_id,
            "package_id": package_id,
            "annotator_id": annotator_id,
            "leased_at": leased_at,
            "expires_at": expires_at,
        },
    )
    return AssignmentId(assignment_id)
