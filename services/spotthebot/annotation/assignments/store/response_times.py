"""The times that annotators of a campaign took for their newest items."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, select

from spotthebot.annotation.annotators.tables import AnnotatorRow
from spotthebot.annotation.assignments.domain.work_checks import ResponseTimes
from spotthebot.annotation.assignments.tables import AnnotationRow
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.kit.database.sessions import ReadSession

_MAX_TIMED = 1000


async def find_response_times(session: ReadSession, campaign_id: UUID, annotator_id: UUID) -> ResponseTimes | None:
    """Return the times of other annotators of a campaign for their newest items; None without other annotators.

    Judges are left out.
    """
    newest = (
        select(AnnotationRow.annotator_id, AnnotationRow.elapsed_ms)
        .join(AnnotatorRow, AnnotatorRow.id == AnnotationRow.annotator_id)
        .where(
            AnnotatorRow.kind != AnnotatorKind.JUDGE,
            AnnotationRow.campaign_id == campaign_id,
            AnnotationRow.annotator_id != annotator_id,
            AnnotationRow.elapsed_ms.is_not(None),
        )
        .order_by(AnnotationRow.id.desc())
        .limit(_MAX_TIMED)
        .subquery()
    )
    median = func.percentile_cont(0.5).within_group(newest.c.elapsed_ms)
    annotators = func.count(newest.c.annotator_id.distinct())
    items, others, found = (await session.execute(select(func.count(), annotators, median).select_from(newest))).one()
    return None if found is None else ResponseTimes(items, others, timedelta(milliseconds=found))
