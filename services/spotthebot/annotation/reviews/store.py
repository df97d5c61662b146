"""Reads data for reviews: times and labels of an annotator, and campaigns that the audit log knows.

Labels are compared with other annotators' labels of the same items.
"""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import aliased

from spotthebot.annotation.annotators.tables import AnnotatorRow
from spotthebot.annotation.assignments.tables import AnnotationRow
from spotthebot.annotation.audit.tables import AuditRow
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.contracts.annotation.annotations import AnnotatorKind, Answer
from spotthebot.kit.database.sessions import ReadSession

_MAX_COMPARED = 20_000
_Other = aliased(AnnotationRow)


async def require_campaign(session: ReadSession, campaign_id: UUID) -> None:
    """Raise NoSuchCampaign unless the campaign exists or the audit log knows its id."""
    if await session.scalar(select(AuditRow.id).where(AuditRow.campaign_id == campaign_id).limit(1)) is None:
        await campaigns_store.get_campaign(session, campaign_id)


async def get_times(session: ReadSession, annotator_id: UUID) -> tuple[int, timedelta | None]:
    """Return how many annotations an annotator made, and the median of their times."""
    median = func.percentile_cont(0.5).within_group(AnnotationRow.elapsed_ms)
    statement = select(func.count(), median).where(AnnotationRow.annotator_id == annotator_id)
    count, found = (await session.execute(statement)).one()
    return count, None if found is None else timedelta(milliseconds=found)


async def list_compared(session: ReadSession, annotator_id: UUID) -> list[tuple[Answer, Answer]]:
    """Return an annotator's newest answers, each with another annotator's answer to the same item; judges' left out."""
    statement = (
        select(AnnotationRow.answer, _Other.answer)
        .join(_Other, _Other.item_id == AnnotationRow.item_id)
        .join(AnnotatorRow, AnnotatorRow.id == _Other.annotator_id)
        .where(
            AnnotationRow.annotator_id == annotator_id,
            _Other.annotator_id != annotator_id,
            AnnotatorRow.kind != AnnotatorKind.JUDGE,
        )
        .order_by(AnnotationRow.id.desc())
        .limit(_MAX_COMPARED)
    )
    return [(one, other) for one, other in await session.execute(statement)]
