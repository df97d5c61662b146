"""Claims of judges. A judge's lease takes no slot, so judges compete with nobody but other runs of the same version."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import exists, func, insert, select
from sqlalchemy.orm import aliased

from spotthebot.annotation.annotators.tables import AnnotatorRow
from spotthebot.annotation.leases.domain import states_before
from spotthebot.annotation.leases.tables import AssignmentRow
from spotthebot.annotation.packages.tables import PackageRow
from spotthebot.contracts.annotation.assignments import AssignmentId, AssignmentState
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id

_AT_WORK = (AssignmentState.LEASED, AssignmentState.SUBMITTED)
"""The states in which an assignment counts against `judge_annotations_per_segment`."""


async def lock_version(session: WriteSession, campaign_id: UUID, annotator_id: UUID) -> None:
    """Serialise the claims of all annotators of a campaign that are the same version of a judge."""
    judge_id = await session.scalar(select(AnnotatorRow.judge_id).where(AnnotatorRow.id == annotator_id))
    key = f"annotation.judges/{campaign_id}/{judge_id}"
    await session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(key, 0))))


async def find_expired(session: ReadSession, annotator_id: UUID) -> AssignmentId | None:
    """Return the oldest assignment of an annotator whose lease expired, if any."""
    statement = (
        select(AssignmentRow.id)
        .where(
            AssignmentRow.annotator_id == annotator_id,
            AssignmentRow.state.in_(states_before(AssignmentState.LEASED)),
        )
        .order_by(AssignmentRow.id)
        .limit(1)
    )
    found = await session.scalar(statement)
    return None if found is None else AssignmentId(found)


async def find_package(session: ReadSession, campaign_id: UUID, annotator_id: UUID, *, most: int) -> UUID | None:
    """Return a package that an annotator never had, and that its version of a judge labels less than `most`.

    It is the first after the last package that the annotator had, or else the first of all: so a run that takes package
    after package does not look at all those before.
    """
    last = (
        select(AssignmentRow.package_id)
        .where(AssignmentRow.annotator_id == annotator_id, ~AssignmentRow.takes_slot)
        .order_by(AssignmentRow.package_id.desc())
        .limit(1)
    )
    had_last = await session.scalar(last)
    own, same, me = aliased(AssignmentRow), aliased(AnnotatorRow), aliased(AnnotatorRow)
    had = exists().where(own.package_id == PackageRow.id, own.annotator_id == annotator_id)
    of_version = (
        select(func.count())
        .select_from(AssignmentRow)
        .join(same, same.id == AssignmentRow.annotator_id)
        .join(me, me.judge_id == same.judge_id)
        .where(
            AssignmentRow.package_id == PackageRow.id,
            AssignmentRow.state.in_(_AT_WORK),
            me.id == annotator_id,
        )
        .scalar_subquery()
    )
    free = select(PackageRow.id).where(PackageRow.campaign_id == campaign_id, ~had, of_version < most)
    ordered = free.order_by(PackageRow.id).limit(1)
    found: UUID | None = None
    if had_last is not None:
        found = await session.scalar(ordered.where(PackageRow.id > had_last))
    return found or await session.scalar(ordered)


async def lease_package(
    session: WriteSession,
    campaign_id: UUID,
    package_id: UUID,
    annotator_id: UUID,
    *,
    leased_at: datetime,
    expires_at: datetime,
) -> AssignmentId:
    """Lease a package without a slot. Its conversations are not noted as seen: a program remembers nothing."""
    assignment_id = AssignmentId(new_id())
    await session.execute(
        insert(AssignmentRow).values(
            id=assignment_id,
            campaign_id=campaign_id,
            package_id=package_id,
            annotator_id=annotator_id,
            state=AssignmentState.LEASED,
            leased_at=leased_at,
            expires_at=expires_at,
            takes_slot=False,
        )
    )
    return assignment_id
