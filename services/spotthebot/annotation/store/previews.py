"""What previews stand on: what a campaign holds, and how long annotations took so far."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, select, union

from spotthebot.annotation.domain.campaigns import Campaign
from spotthebot.annotation.domain.previews import Workload
from spotthebot.annotation.tables import AnnotationRow, AnnotatorRow, CampaignRow, ItemRow, PackageRow
from spotthebot.kit.database import ReadSession

_MAX_MEASURED = 10_000
_SIMULATED = "simulated-%"
_EXCHANGES = ItemRow.exchanges + func.coalesce(ItemRow.right_exchanges, 0)
"""What there is to read of an item, of a pair on both sides."""


async def get_workload(session: ReadSession, campaign_id: UUID) -> Workload:
    """Count the items of a campaign by length, its packages by block, and the items of its largest package.

    Of packages without a block all conversations are returned.
    """
    items = select(_EXCHANGES, func.count()).where(ItemRow.campaign_id == campaign_id).group_by(_EXCHANGES)
    sizes = select(func.count()).where(ItemRow.campaign_id == campaign_id).group_by(ItemRow.package_id).subquery()
    packages = (
        select(PackageRow.block, func.count()).where(PackageRow.campaign_id == campaign_id).group_by(PackageRow.block)
    )
    left = select(ItemRow.package_id, ItemRow.conversation_id.label("conversation_id"))
    right = select(ItemRow.package_id, ItemRow.right_conversation_id)
    unblocked = PackageRow.id == ItemRow.package_id, PackageRow.campaign_id == campaign_id, PackageRow.block.is_(None)
    shown = union(
        left.where(*unblocked), right.where(*unblocked, ItemRow.right_conversation_id.is_not(None))
    ).subquery()
    conversations = select(func.array_agg(shown.c.conversation_id)).group_by(shown.c.package_id)
    largest = await session.scalar(select(func.max(sizes.c[0])))
    return Workload(
        items={length: count for length, count in await session.execute(items)},  # noqa: C416 - typed rows
        packages={block: count for block, count in await session.execute(packages)},  # noqa: C416 - typed rows
        largest=largest or 0,
        conversations=[frozenset(each) for each in await session.scalars(conversations)],
    )


async def list_times(session: ReadSession, campaign: Campaign) -> list[tuple[int, timedelta]]:
    """Return how long people took for the newest annotations by the same protocol, with their lengths in exchanges."""
    alike = select(CampaignRow.id).where(
        CampaignRow.mode == "live",
        CampaignRow.protocol_name == campaign.protocol,
        CampaignRow.protocol_version == campaign.protocol_version,
    )
    newest = (
        select(_EXCHANGES, AnnotationRow.elapsed_ms)
        .join(ItemRow, ItemRow.id == AnnotationRow.item_id)
        .join(AnnotatorRow, AnnotatorRow.id == AnnotationRow.annotator_id)
        .where(
            AnnotationRow.campaign_id.in_(alike),
            AnnotationRow.assignment_id.is_not(None),
            AnnotationRow.elapsed_ms > 0,
            AnnotatorRow.external_id.not_like(_SIMULATED),
        )
        .order_by(AnnotationRow.id.desc())
        .limit(_MAX_MEASURED)
    )
    rows = await session.execute(newest)
    return [(exchanges, timedelta(milliseconds=elapsed)) for exchanges, elapsed in rows if elapsed is not None]
