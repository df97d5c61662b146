"""What annotators' labels say about them: their number, their times, and others' labels of the same items."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import aliased

from spotthebot.annotation.domain.work_checks import ResponseTimes
from spotthebot.annotation.tables import AnnotationRow
from spotthebot.contracts.annotation import Answer
from spotthebot.kit.database import ReadSession

_MAX_COMPARED = 20_000
_MAX_TIMED = 1000
_Other = aliased(AnnotationRow)


async def get_times(session: ReadSession, annotator_id: UUID) -> tuple[int, timedelta | None]:
    """Return how many annotations an annotator made, and the median of their times."""
    median = func.percentile_cont(0.5).within_group(AnnotationRow.elapsed_ms)
    statement = select(func.count(), median).where(AnnotationRow.annotator_id == annotator_id)
    count, found = (await session.execute(statement)).one()
    return count, None if found is None else timedelta(milliseconds=found)


async def find_response_times(session: ReadSession, campaign_id: UUID, annotator_id: UUID) -> ResponseTimes | None:
    """Return how long all other annotators of a campaign took for their newest items; None where there are none."""
    newest = (
        select(AnnotationRow.annotator_id, AnnotationRow.elapsed_ms)
        .where(
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


async def list_compared(session: ReadSession, annotator_id: UUID) -> list[tuple[Answer, Answer]]:
    """Return an annotator's newest answers, each with one of another annotator to the same item."""
    statement = (
        select(AnnotationRow.answer, _Other.answer)
        .join(_Other, _Other.item_id == AnnotationRow.item_id)
        .where(AnnotationRow.annotator_id == annotator_id, _Other.annotator_id != annotator_id)
        .order_by(AnnotationRow.id.desc())
        .limit(_MAX_COMPARED)
    )
    return [(one, other) for one, other in await session.execute(statement)]
