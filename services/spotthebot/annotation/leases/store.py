"""Leases: renew, submit, reject, end.

A package's `slots_left` changes in the transaction that renews or ends the lease, unless the lease takes no slot.
"""

from collections import Counter
from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from sqlalchemy import bindparam, func, select, update

from spotthebot.annotation.leases.domain import states_before
from spotthebot.annotation.leases.tables import AssignmentRow
from spotthebot.annotation.packages.tables import PackageRow
from spotthebot.contracts.annotation.assignments import AssignmentId, AssignmentState
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statements import Runner, Statement, constant

_MAX_EXPIRED_AT_ONCE = 1000
_MINE = update(AssignmentRow).where(AssignmentRow.id == bindparam("assignment_id"))
_EXTEND = Statement(
    _MINE.where(AssignmentRow.state == constant(AssignmentState.LEASED)).values(expires_at=bindparam("expires_at"))
)
_NOTE_SIGN_OF_LIFE = Statement(
    _MINE.values(expires_at=bindparam("expires_at"), heard_at=bindparam("at"), heard_position=bindparam("position"))
)
_SUBMIT = Statement(
    _MINE.where(AssignmentRow.state.in_(map(constant, states_before(AssignmentState.SUBMITTED)))).values(
        state=constant(AssignmentState.SUBMITTED),
        submitted_at=bindparam("at"),
        completion_code=bindparam("completion_code"),
    )
)
_REJECT = Statement(
    _MINE.where(AssignmentRow.state.in_(map(constant, states_before(AssignmentState.REJECTED)))).values(
        state=constant(AssignmentState.REJECTED)
    )
)


async def extend_lease(runner: Runner, assignment_id: UUID, expires_at: datetime) -> None:
    """Extend a lease unless it has ended."""
    await runner.fetch(_EXTEND, {"assignment_id": assignment_id, "expires_at": expires_at})


async def note_sign_of_life(
    session: WriteSession, assignment_id: UUID, *, expires_at: datetime, at: datetime, position: int | None
) -> None:
    """Extend a lease, and store the time of the sign of life and the item on the screen."""
    parameters = {"assignment_id": assignment_id, "expires_at": expires_at, "at": at, "position": position}
    await session.fetch(_NOTE_SIGN_OF_LIFE, parameters)


async def submit(session: WriteSession, assignment_id: UUID, *, at: datetime, completion_code: str) -> None:
    """Submit an assignment with all items answered."""
    await session.fetch(_SUBMIT, {"assignment_id": assignment_id, "at": at, "completion_code": completion_code})


async def reject(session: WriteSession, assignment_id: UUID) -> None:
    """Reject an assignment."""
    await session.fetch(_REJECT, {"assignment_id": assignment_id})


async def expire_leases(
    session: WriteSession, now: datetime, *, campaign_id: UUID | None = None, package_id: UUID | None = None
) -> int:
    """End the expired leases of a campaign, of a package or of all campaigns; give slots back; return how many.

    Skips leases that another transaction locks, and leases of packages that another transaction locks. A claim may have
    locked packages while it waits for a lease that this transaction locks.
    """
    due = (
        select(AssignmentRow.id)
        .join(PackageRow, PackageRow.id == AssignmentRow.package_id)
        .where(AssignmentRow.state.in_(states_before(AssignmentState.EXPIRED)), AssignmentRow.expires_at <= now)
        .limit(_MAX_EXPIRED_AT_ONCE)
        .with_for_update(of=[AssignmentRow, PackageRow], skip_locked=True)
    )
    if campaign_id is not None:
        due = due.where(AssignmentRow.campaign_id == campaign_id)
    if package_id is not None:
        due = due.where(AssignmentRow.package_id == package_id)
    found = due.cte("due")  # a plain subquery may run again for each row, and lock other rows then
    ended = await session.execute(
        update(AssignmentRow)
        .where(AssignmentRow.id == found.c.id)
        .values(state=AssignmentState.EXPIRED)
        .returning(AssignmentRow.package_id, AssignmentRow.takes_slot)
        .execution_options(synchronize_session=False)
    )
    freed = Counter(freed_id for freed_id, takes_slot in ended if takes_slot)
    for freed_id, slots in freed.items():
        await _change_slots(session, freed_id, slots)
    return freed.total()


async def end_lease(
    session: WriteSession, assignment_id: UUID, package_id: UUID, now: datetime, *, takes_slot: bool
) -> None:
    """End a lease that this transaction has locked before its time, and give its slot back."""
    await session.execute(
        update(AssignmentRow)
        .where(AssignmentRow.id == assignment_id)
        .values(state=AssignmentState.EXPIRED, expires_at=func.least(AssignmentRow.expires_at, now))
    )
    if takes_slot:
        await _change_slots(session, package_id, 1)


async def end_leases_of(session: WriteSession, annotators: Collection[UUID], now: datetime) -> None:
    """End the leases of annotators whom this transaction has locked, and give their slots back.

    Locks the assignments first and then the packages, each in the order of ids. All transactions that lock both use
    this order.
    """
    mine = select(AssignmentRow.id, AssignmentRow.package_id, AssignmentRow.state, AssignmentRow.takes_slot)
    mine = mine.where(AssignmentRow.annotator_id.in_(annotators)).order_by(AssignmentRow.id)
    leases = (await session.execute(mine.with_for_update())).all()
    held = [each for each in leases if each.state in states_before(AssignmentState.EXPIRED)]
    packages = select(PackageRow.id).where(PackageRow.id.in_(each.package_id for each in held))
    await session.execute(packages.order_by(PackageRow.id).with_for_update())
    for assignment_id, package_id, _, takes_slot in held:
        await end_lease(session, assignment_id, package_id, now, takes_slot=takes_slot)


async def renew_assignment(
    session: WriteSession, assignment_id: AssignmentId, package_id: UUID, expires_at: datetime
) -> None:
    """Renew the expired lease of a package, which this transaction has locked, for the same annotator."""
    await _change_slots(session, package_id, -1)
    await renew_lease(session, assignment_id, expires_at)


async def renew_lease(session: WriteSession, assignment_id: AssignmentId, expires_at: datetime) -> None:
    """Renew an expired lease, and leave the slots of its package as they are."""
    await session.execute(
        update(AssignmentRow)
        .where(AssignmentRow.id == assignment_id)
        .values(state=AssignmentState.LEASED, expires_at=expires_at)
    )


async def find_expired(session: ReadSession, annotator_id: UUID, package_id: UUID) -> AssignmentId | None:
    """Return an annotator's expired assignment of a package, if any."""
    found = await session.scalar(
        select(AssignmentRow.id).where(
            AssignmentRow.annotator_id == annotator_id,
            AssignmentRow.package_id == package_id,
            AssignmentRow.state.in_(states_before(AssignmentState.LEASED)),
        )
    )
    return None if found is None else AssignmentId(found)


async def is_lease_of(session: ReadSession, assignment_id: UUID, package: str) -> bool:
    """Return whether an assignment leases the package with this external id."""
    statement = (
        select(PackageRow.id)
        .join(AssignmentRow, AssignmentRow.package_id == PackageRow.id)
        .where(AssignmentRow.id == assignment_id, PackageRow.external_id == package)
    )
    return await session.scalar(statement) is not None


async def return_slot(session: WriteSession, package_id: UUID) -> None:
    """Give a package one slot back, because an assignment of the package does not count any more."""
    await _change_slots(session, package_id, 1)


async def _change_slots(session: WriteSession, package_id: UUID, difference: int) -> None:
    await session.execute(
        update(PackageRow).where(PackageRow.id == package_id).values(slots_left=PackageRow.slots_left + difference)
    )
