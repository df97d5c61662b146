"""The number of decided pairs of a campaign, and the order in which packages are given out."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import ARRAY, Integer, Uuid, func, literal, select, update

from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.packages.tables import PackageRow
from spotthebot.kit.database.sessions import WriteSession


async def count_decided(session: WriteSession, campaign_id: UUID, decided: int) -> bool:
    """Store how many pairs of a campaign are decided; return False if it was this number before."""
    changed = await session.scalar(
        update(CampaignRow)
        .where(CampaignRow.id == campaign_id, CampaignRow.decided_pairs != decided)
        .values(decided_pairs=decided)
        .returning(CampaignRow.id)
    )
    return changed is not None


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
