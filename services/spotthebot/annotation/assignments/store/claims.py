"""Claims: packages that still need annotators, and the leases that claims make.

A package's `slots_left` counts the annotators that it still needs. It is changed in the transaction that makes, ends or
renews a lease, so no package is ever given to more annotators than it needs.

No claim waits for a package while it holds another, so claims never wait for each other in a circle. PostgreSQL locks
a package before it sees that another claim has just taken the last slot, and keeps it locked: what was locked in vain
is released by going back to a savepoint.
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
"""Candidates that are looked at first: PostgreSQL reads them in their order and sorts nothing."""
_NEEDS_ANNOTATORS = PackageRow.slots_left > constant(0)


def _next_package(*, lock: bool, most: int | None = None) -> Statement:
    """Return the statement that walks over packages in their order to the first that suits, and may lock it.

    Packages that others lock are then passed over. Packages of a block show the same conversations, so those of the
    annotator's blocks are left out at once; the conversations of a package are compared one by one only when its turn
    comes. `MATERIALIZED`, `OFFSET 0` and `LATERAL` hold PostgreSQL to this: else it may join all items there are.
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
        .order_by(PackageRow.id)
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


async def lock_held(session: WriteSession, annotator_id: UUID) -> HeldLease | None:
    """Return the lease that an annotator holds, if any: until it is ended, its slot belongs to them."""
    found = await session.fetch(_HELD, {"annotator_id": annotator_id})
    if not found:
        return None
    (held,) = found
    return HeldLease(AssignmentId(held.id), held.package_id, held.leased_at, held.expires_at, held.is_answered)


async def renew_expired(
    session: WriteSession, annotator_id: UUID, *, now: datetime, lease: timedelta, wait: bool
) -> AssignmentId | None:
    """Lease to an annotator again a package whose lease expired, if it still needs annotators.

    One of which nothing was answered for `longest_idle` is for others first, as long as a lease is.

    With `wait` a package that another transaction holds now is waited for: only claims that hold none may.
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
    """Lock the package of an external id; claims of it by others wait."""
    found: UUID | None = await session.scalar(
        select(PackageRow.id)
        .where(PackageRow.campaign_id == campaign_id, PackageRow.external_id == package)
        .with_for_update()
    )
    return found


async def needs_annotators(session: ReadSession, package_id: UUID) -> bool:
    """Whether a package has a free slot."""
    return await session.scalar(select(PackageRow.id).where(PackageRow.id == package_id, _NEEDS_ANNOTATORS)) is not None


async def lock_free_package(session: WriteSession, campaign_id: UUID, annotator_id: UUID) -> UUID | None:
    """Lock the first package that needs annotators and shows no conversation that this annotator has seen.

    Those that other transactions hold now are passed over.
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
    """Lock such a package although others hold it now and may leave a slot; only claims that hold none may wait."""
    parameters = {"campaign_id": campaign_id, "annotator_id": annotator_id}
    while candidates := await session.fetch(_NEXT, parameters):
        package_id: UUID = candidates[0].id
        await session.fetch(_SAVEPOINT, {})
        if await session.fetch(_PACKAGE, {"package_id": package_id}):
            return package_id
        await session.fetch(_RELEASE_LOCKS, {})
    return None


async def lease_package(
    session: WriteSession,
    campaign_id: UUID,
    package_id: UUID,
    annotator_id: UUID,
    *,
    leased_at: datetime,
    expires_at: datetime,
) -> AssignmentId:
    """Lease a package that this transaction has locked, and note that the annotator is shown its conversations.

    The database refuses one that was shown before.
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
