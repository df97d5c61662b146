"""The verdicts that were reported, and the order in which packages are given out."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy import ARRAY, Integer, Uuid, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.packages.tables import PackageRow
from spotthebot.annotation.verdicts.tables import ReportedVerdictRow
from spotthebot.contracts.annotation.verdicts import ReportedVerdict
from spotthebot.kit.database.sessions import WriteSession


async def add_verdicts(
    session: WriteSession, campaign_id: UUID, verdicts: Sequence[ReportedVerdict]
) -> list[ReportedVerdict]:
    """Store verdicts, and return those on pairs that had none."""
    rows = [
        {"campaign_id": campaign_id, "bot": each.bot, "other": each.other, "verdict": each.verdict} for each in verdicts
    ]
    if not rows:
        return []
    row = ReportedVerdictRow
    added = insert(row).on_conflict_do_nothing().returning(row.bot, row.other)
    new = {(bot, other) for bot, other in await session.execute(added, rows)}
    return [each for each in verdicts if (each.bot, each.other) in new]


async def order_packages(session: WriteSession, campaign_id: UUID, undecided: Mapping[UUID, int]) -> None:
    """Store how many items of each package show a pair without a verdict.

    Packages that another transaction locks keep their number until the next report, so this never waits for a claim.
    """
    if not undecided:
        return
    given = select(
        func.unnest(literal([*undecided], ARRAY(Uuid))).label("id"),
        func.unnest(literal([*undecided.values()], ARRAY(Integer))).label("items"),
    ).subquery()
    changed = (
        select(PackageRow.id, given.c["items"].label("items"))
        .join(given, given.c.id == PackageRow.id)
        .where(PackageRow.campaign_id == campaign_id, PackageRow.undecided_items != given.c["items"])
        .order_by(PackageRow.id)
        .with_for_update(of=PackageRow, skip_locked=True)
        .cte("changed")
    )
    await session.execute(
        update(PackageRow).where(PackageRow.id == changed.c.id).values(undecided_items=changed.c["items"])
    )
