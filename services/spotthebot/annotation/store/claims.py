"""Claims: packages that still need annotators, and the leases that claims make.

A package's `slots_left` counts the annotators that it still needs. It is changed in the transaction that makes, ends or
renews a lease, so no package is ever given to more annotators than it needs.
"""

from collections import Counter
from datetime import datetime
from uuid import UUID

from sqlalchemy import exists, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.domain.assignments import states_before
from spotthebot.annotation.tables import AssignmentRow, ItemRow, PackageRow, SeenConversationRow
from spotthebot.contracts.assignments import AssignmentId, AssignmentState
from spotthebot.kit.database import WriteSession
from spotthebot.kit.ids import new_id

_MAX_EXPIRED_AT_ONCE = 1000


async def renew_lease(
    session: WriteSession, annotator_id: UUID, *, now: datetime, expires_at: datetime
) -> AssignmentId | None:
    """Return the assignment that an annotator is at work on, if any; one whose time is up gets a new lease.

    Until a lease is ended its slot belongs to its annotator.
    """
    mine = (
        select(AssignmentRow.id, AssignmentRow.expires_at)
        .where(AssignmentRow.annotator_id == annotator_id, AssignmentRow.state == AssignmentState.LEASED)
        .limit(1)
        .with_for_update()
    )
    found = (await session.execute(mine)).first()
    if found is None:
        return None
    if found.expires_at <= now:
        await session.execute(update(AssignmentRow).where(AssignmentRow.id == found.id).values(expires_at=expires_at))
    return AssignmentId(found.id)


async def expire_leases(session: WriteSession, now: datetime, *, campaign_id: UUID | None = None) -> int:
    """End leases whose time is up, of a campaign or of all, and give their slots back; return how many.

    Leases that another transaction holds now, and those of packages that one holds, are left to the next call: a claim
    may hold packages and wait for one of ours.
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
    found = due.cte("due")  # a plain subquery may run again for each row, and lock others then
    ended = await session.execute(
        update(AssignmentRow)
        .where(AssignmentRow.id == found.c.id)
        .values(state=AssignmentState.EXPIRED)
        .returning(AssignmentRow.package_id)
        .execution_options(synchronize_session=False)
    )
    freed = Counter(package_id for (package_id,) in ended)
    for package_id, slots in freed.items():
        await _change_slots(session, package_id, slots)
    return freed.total()


async def renew_expired(session: WriteSession, annotator_id: UUID, expires_at: datetime) -> AssignmentId | None:
    """Lease to an annotator again a package whose lease expired, if it still needs annotators."""
    package = (
        select(AssignmentRow.id, AssignmentRow.package_id)
        .join(PackageRow, PackageRow.id == AssignmentRow.package_id)
        .where(
            AssignmentRow.annotator_id == annotator_id,
            AssignmentRow.state.in_(states_before(AssignmentState.LEASED)),
            PackageRow.slots_left > 0,
        )
        .order_by(AssignmentRow.id)
        .limit(1)
        .with_for_update(of=PackageRow)
    )
    found = (await session.execute(package)).first()
    if found is None:
        return None
    await _change_slots(session, found.package_id, -1)
    await session.execute(
        update(AssignmentRow)
        .where(AssignmentRow.id == found.id)
        .values(state=AssignmentState.LEASED, expires_at=expires_at)
    )
    return AssignmentId(found.id)


async def lock_next_package(
    session: WriteSession, campaign_id: UUID, annotator_id: UUID, *, skip_locked: bool
) -> UUID | None:
    """Lock the first package that needs annotators and shows no conversation that this annotator has seen."""
    has_seen = exists(
        select(1)
        .select_from(ItemRow)
        .join(SeenConversationRow, SeenConversationRow.conversation_id == ItemRow.conversation_id)
        .where(ItemRow.package_id == PackageRow.id, SeenConversationRow.annotator_id == annotator_id)
    )
    statement = (
        select(PackageRow.id)
        .where(PackageRow.campaign_id == campaign_id, PackageRow.slots_left > 0, ~has_seen)
        .order_by(PackageRow.id)
        .limit(1)
        .with_for_update(of=PackageRow, skip_locked=skip_locked)
    )
    found: UUID | None = await session.scalar(statement)
    return found


async def lease_package(
    session: WriteSession,
    campaign_id: UUID,
    package_id: UUID,
    annotator_id: UUID,
    *,
    leased_at: datetime,
    expires_at: datetime,
) -> AssignmentId:
    """Lease a package that this transaction has locked."""
    assignment_id = new_id()
    await _change_slots(session, package_id, -1)
    await session.execute(
        insert(AssignmentRow).values(
            id=assignment_id,
            campaign_id=campaign_id,
            package_id=package_id,
            annotator_id=annotator_id,
            state=AssignmentState.LEASED,
            leased_at=leased_at,
            expires_at=expires_at,
        )
    )
    return AssignmentId(assignment_id)


async def _change_slots(session: WriteSession, package_id: UUID, difference: int) -> None:
    await session.execute(
        update(PackageRow).where(PackageRow.id == package_id).values(slots_left=PackageRow.slots_left + difference)
    )
