"""Submitted packages and bonuses to pay."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from sqlalchemy import ColumnElement, Select, exists, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import InstrumentedAttribute, aliased

from spotthebot.annotation.annotators.domain import Annotator
from spotthebot.annotation.annotators.tables import AnnotatorRow
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.entry_links.tables import EntryRow
from spotthebot.annotation.leases.tables import AssignmentRow
from spotthebot.annotation.payments.domain import Bonus, PaidPackage, Payment, rewarded_packages
from spotthebot.annotation.payments.tables import BonusRow
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.assignments import AssignmentState
from spotthebot.kit.database.sessions import ReadSession, WriteSession

_ZERO = Decimal("0.00")


async def add_bonus(
    session: WriteSession, campaign_id: UUID, bonus: Bonus, *, occasion: str | None, key_id: UUID
) -> None:
    await session.execute(
        insert(BonusRow).values(
            id=bonus.id,
            campaign_id=campaign_id,
            annotator_id=bonus.annotator_id,
            amount=bonus.amount,
            reason=bonus.reason,
            key_id=key_id,
            granted_at=bonus.granted_at,
            occasion=occasion,
        )
    )


async def find_bonus(session: WriteSession, annotator: Annotator, occasion: str) -> Bonus | None:
    """Return the bonus that a locked annotator got for an occasion."""
    found = await session.scalar(
        select(BonusRow).where(BonusRow.annotator_id == annotator.id, BonusRow.occasion == occasion)
    )
    if found is None:
        return None
    return Bonus(found.id, annotator.id, annotator.external_id, found.amount, found.reason, found.granted_at, None)


async def list_payments(
    session: ReadSession, campaign: Campaign, pay_per_package: Decimal, *, after: UUID | None, limit: int
) -> list[Payment]:
    """Return the payments of annotators who submitted a package or have a bonus, oldest annotator first; no judges."""
    submitted = (AssignmentRow.annotator_id == AnnotatorRow.id, AssignmentRow.state == AssignmentState.SUBMITTED)
    packages = select(func.count()).where(*submitted).scalar_subquery()
    panel_assignments = (
        select(func.count(func.distinct(_panel_assignment(AssignmentRow.submitted_at))))
        .where(*submitted)
        .scalar_subquery()
    )
    same, theirs = aliased(AnnotatorRow), aliased(AssignmentRow)
    is_rewarded = (
        exists()
        .where(
            same.campaign_id == campaign.id,
            same.external_id == AnnotatorRow.external_id,
            same.id < AnnotatorRow.id,
            theirs.annotator_id == same.id,
            theirs.state == AssignmentState.SUBMITTED,
        )
        .correlate(AnnotatorRow)
    )
    bonuses = (
        select(func.coalesce(func.sum(BonusRow.amount), _ZERO))
        .where(BonusRow.annotator_id == AnnotatorRow.id)
        .scalar_subquery()
    )
    work = (
        select(
            AnnotatorRow.id,
            AnnotatorRow.external_id,
            AnnotatorRow.kind,
            AnnotatorRow.frontend,
            packages.label("packages"),
            panel_assignments.label("panel_assignments"),
            is_rewarded.label("is_rewarded"),
            bonuses.label("bonuses"),
        )
        .where(AnnotatorRow.campaign_id == campaign.id, AnnotatorRow.kind != AnnotatorKind.JUDGE)
        .subquery()
    )
    statement = select(work).where(or_(work.c.packages > 0, work.c.bonuses > 0)).order_by(work.c.id).limit(limit)
    if after is not None:
        statement = statement.where(work.c.id > after)
    return [
        Payment(
            annotator_id=row.id,
            annotator=row.external_id,
            kind=AnnotatorKind(row.kind),
            frontend=row.frontend,
            packages=row.packages,
            bonuses=row.bonuses,
            pay_per_package=pay_per_package,
            rewarded_packages=rewarded_packages(
                campaign, row.packages, panel_assignments=row.panel_assignments, is_rewarded=row.is_rewarded
            ),
        )
        for row in await session.execute(statement)
    ]


async def list_bonuses(session: ReadSession, campaign_id: UUID, *, after: UUID | None, limit: int) -> list[Bonus]:
    """Return bonuses of annotators known to a panel, oldest first, each with the panel's assignment at that time."""
    statement = (
        select(BonusRow, AnnotatorRow.external_id, _panel_assignment(BonusRow.granted_at))
        .join(AnnotatorRow, AnnotatorRow.id == BonusRow.annotator_id)
        .where(BonusRow.campaign_id == campaign_id, AnnotatorRow.erased_at.is_(None))
        .order_by(BonusRow.id)
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(BonusRow.id > after)
    return [
        Bonus(row.id, row.annotator_id, annotator, row.amount, row.reason, row.granted_at, assignment)
        for row, annotator, assignment in await session.execute(statement)
    ]


async def list_paid_packages(
    session: ReadSession, campaign_id: UUID, *, after: UUID | None, limit: int
) -> list[PaidPackage]:
    """Return submitted packages of annotators known to a panel, oldest first, each with the panel's assignment."""
    statement: Select[UUID, str, str | None] = (
        select(AssignmentRow.id, AnnotatorRow.external_id, _panel_assignment(AssignmentRow.submitted_at))
        .join(AnnotatorRow, AnnotatorRow.id == AssignmentRow.annotator_id)
        .where(
            AssignmentRow.campaign_id == campaign_id,
            AssignmentRow.state == AssignmentState.SUBMITTED,
            AnnotatorRow.kind != AnnotatorKind.JUDGE,
            AnnotatorRow.erased_at.is_(None),
        )
        .order_by(AssignmentRow.id)
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(AssignmentRow.id > after)
    return [PaidPackage(*row) for row in await session.execute(statement)]


def _panel_assignment(
    until: InstrumentedAttribute[datetime] | InstrumentedAttribute[datetime | None],
) -> ColumnElement[str | None]:
    """Return the SQL for the `assignmentId` of an annotator's last entry up to the time `until`."""
    return (
        select(EntryRow.parameters["assignmentId"].astext)
        .where(EntryRow.annotator_id == AnnotatorRow.id, EntryRow.entered_at <= until, EntryRow.parameters != {})
        .order_by(EntryRow.entered_at.desc(), EntryRow.id.desc())
        .limit(1)
        .correlate(AnnotatorRow, BonusRow, AssignmentRow)
        .scalar_subquery()
    )
