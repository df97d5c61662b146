"""Reads counts for operators when metrics are requested, each from counters or from a small index."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import text

from spotthebot.kit.database.sessions import ReadSession
from spotthebot.kit.ids import first_id_at


@dataclass(frozen=True)
class CampaignCounts:
    """Counts of campaigns; `packages_open` maps each of the newest open campaigns to its number of open packages."""

    campaigns: dict[str, int]
    packages_open: dict[UUID, int]
    packages_open_elsewhere: int
    assignments_leased: int
    labels_last_minute: int


async def count(session: ReadSession, *, max_campaigns: int) -> CampaignCounts:
    """Return the counts. A package counts as open once for each annotator who still has to submit it."""
    states = await session.execute(text("SELECT state, count(*) AS number FROM annotation.campaigns GROUP BY state"))
    missing = await session.execute(
        text("""
            SELECT id, GREATEST(packages * annotations_per_segment + extra_assignments - submitted, 0) AS packages
            FROM annotation.campaigns WHERE state = 'open' AND mode IN ('live', 'uploaded') ORDER BY id DESC
        """)
    )
    packages = [(row.id, row.packages) for row in missing]
    leased = await session.scalar(text("SELECT count(*) FROM annotation.assignments WHERE state = 'leased'"))
    now = await session.scalar(text("SELECT now()"))
    labels = await session.scalar(
        text("SELECT count(*) FROM annotation.annotations WHERE id >= :first"),
        {"first": first_id_at(now - timedelta(minutes=1))},
    )
    return CampaignCounts(
        {row.state: row.number for row in states},
        dict(packages[:max_campaigns]),
        sum(number for _, number in packages[max_campaigns:]),
        leased or 0,
        labels or 0,
    )
