"""Campaigns that are changed, built again or deleted, annotators who are imported, and times that previews stand on.

A campaign that is changed, built again or deleted was locked before, by the same transaction.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from uuid import UUID

from sqlalchemy import Uuid, column, delete, func, literal, or_, select, update
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, insert

from spotthebot.annotation.annotators.tables import AnnotatorRow, SeenConversationRow
from spotthebot.annotation.assignments.tables import AnnotationRow
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.conversations.tables import ShownConversationRow
from spotthebot.annotation.entry_links.tables import EntryLinkRow
from spotthebot.annotation.metadata import IDEMPOTENCY
from spotthebot.annotation.packages.store import EXCHANGES
from spotthebot.annotation.packages.tables import ItemRow, PackageRow
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignState
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_ids

_ELSEWHERE = ""
"""The frontend of annotators who came with an import."""
_MAX_MEASURED = 10_000
_SIMULATED = "simulated-%"


async def import_annotators(session: WriteSession, campaign_id: UUID, names: Iterable[str]) -> dict[str, UUID]:
    """Return the ids of annotators who worked elsewhere, made where they are new."""
    requested = sorted(set(names))
    rows = [
        {"id": row_id, "campaign_id": campaign_id, "frontend": _ELSEWHERE, "external_id": name}
        for row_id, name in zip(new_ids(len(requested)), requested, strict=True)
    ]
    await session.execute(insert(AnnotatorRow).on_conflict_do_nothing(), rows)
    found = select(AnnotatorRow.external_id, AnnotatorRow.id).where(
        AnnotatorRow.campaign_id == campaign_id,
        AnnotatorRow.frontend == _ELSEWHERE,
        AnnotatorRow.external_id.in_(requested),
    )
    return {name: row_id for name, row_id in await session.execute(found)}  # noqa: C416 - typed rows


async def list_times(session: ReadSession, campaign: Campaign) -> list[tuple[int, timedelta]]:
    """Return how long people took for the newest annotations by the same protocol, with their lengths in exchanges."""
    alike = select(CampaignRow.id).where(
        CampaignRow.mode == "live",
        CampaignRow.protocol_name == campaign.protocol,
        CampaignRow.protocol_version == campaign.protocol_version,
    )
    newest = (
        select(EXCHANGES, AnnotationRow.elapsed_ms)
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


async def lock_packages(session: WriteSession, campaign_id: UUID) -> None:
    """Let nobody claim a package meanwhile: before the campaign is locked, as all do who lock both."""
    packages = select(PackageRow.id).where(PackageRow.campaign_id == campaign_id).order_by(PackageRow.id)
    await session.execute(packages.with_for_update())


async def change_campaign(
    session: WriteSession, campaign: Campaign, request: CampaignIn, protocol: AnnotationProtocol
) -> Campaign:
    """Store what a campaign, which this transaction has locked, is from now on.

    Its packages need as many annotators more, or fewer, as each of its items does; a complete campaign that has
    anything left to do is open again. A caller that raises the number has locked the packages.
    """
    values = campaigns_store.columns_of(request, protocol)
    await session.execute(update(CampaignRow).where(CampaignRow.id == campaign.id).values(**values))
    more = request.annotations_per_segment - campaign.annotations_per_segment
    if more and campaign.takes_claims:
        await session.execute(
            update(PackageRow)
            .where(PackageRow.campaign_id == campaign.id)
            .values(slots_left=PackageRow.slots_left + more)
        )
    await open_if_unfinished(session, campaign.id)
    return await campaigns_store.get_campaign(session, campaign.id)


async def open_if_unfinished(session: WriteSession, campaign_id: UUID) -> None:
    """Open a complete campaign again that has anything left to do."""
    await session.execute(
        update(CampaignRow)
        .where(
            CampaignRow.id == campaign_id,
            CampaignRow.state == CampaignState.COMPLETE,
            CampaignRow.submitted < CampaignRow.packages * CampaignRow.annotations_per_segment,
        )
        .values(state=CampaignState.OPEN)
    )


async def build_again(session: WriteSession, campaign_id: UUID) -> None:
    """Drop the packages of a campaign that nobody has seen, which this transaction has locked; it is to be built."""
    await _drop_packages(session, campaign_id)
    nothing = {"packages": 0, "items": 0, "too_short": None, "not_selected": None, "unpaired": None, "failure": None}
    await campaigns_store.move_campaign(
        session, campaign_id, CampaignState.BUILDING, opens_when_built=False, built_at=None, **nothing
    )


async def delete_campaign(session: WriteSession, campaign_id: UUID) -> None:
    """Delete a campaign that nobody entered, which this transaction has locked; its audit log stays."""
    await _drop_packages(session, campaign_id)
    await session.execute(delete(EntryLinkRow).where(EntryLinkRow.campaign_id == campaign_id))
    await session.execute(delete(CampaignRow).where(CampaignRow.id == campaign_id))


async def _drop_packages(session: WriteSession, campaign_id: UUID) -> None:
    for row in (ItemRow, PackageRow, ShownConversationRow):
        await session.execute(delete(row).where(row.campaign_id == campaign_id))


async def count_annotators(session: ReadSession, campaign_id: UUID) -> int:
    """Return how many people have entered a campaign."""
    statement = select(func.count()).select_from(AnnotatorRow).where(AnnotatorRow.campaign_id == campaign_id)
    return await session.scalar(statement) or 0


async def forget_answers(session: WriteSession, campaign_id: UUID) -> None:
    """Delete answers about a campaign that are kept for repeats: a request like the one that made it makes another."""
    name = str(campaign_id)
    in_body = func.position(literal(name.encode()).op("IN")(IDEMPOTENCY.c.body)) > 0
    await session.execute(delete(IDEMPOTENCY).where(or_(in_body, func.strpos(IDEMPOTENCY.c.path, name) > 0)))


async def count_packages_and_blocks(session: ReadSession, campaign_id: UUID) -> tuple[int, int]:
    """Return how many packages a campaign has, and the number of its next block."""
    statement = select(func.count(), func.coalesce(func.max(PackageRow.block) + 1, 0))
    packages, blocks = (await session.execute(statement.where(PackageRow.campaign_id == campaign_id))).one()
    return packages, blocks or 0


async def hash_interactors_again(session: WriteSession, campaign_id: UUID, hashes: Mapping[UUID, bytes]) -> None:
    """Replace the hashes of who chatted in a campaign's conversations by those of another salt, and apply them.

    Annotators who are known have then seen the conversations in which they chatted.
    """
    arrays = literal([*hashes], ARRAY(Uuid)), literal([*hashes.values()], ARRAY(BYTEA))
    columns = column("conversation_id", Uuid), column("sha256", BYTEA)
    given = func.unnest(*arrays).table_valued(*columns).render_derived(name="given")
    await session.execute(
        update(ShownConversationRow)
        .where(
            ShownConversationRow.campaign_id == campaign_id,
            ShownConversationRow.conversation_id == given.c.conversation_id,
        )
        .values(interactor_sha256=given.c.sha256)
        .execution_options(synchronize_session=False)
    )
    salted = CampaignRow.interactor_salt.concat(func.convert_to(AnnotatorRow.external_id, "UTF8"))
    own_chats = (
        select(AnnotatorRow.id, ShownConversationRow.conversation_id)
        .join(CampaignRow, CampaignRow.id == AnnotatorRow.campaign_id)
        .join(ShownConversationRow, ShownConversationRow.campaign_id == CampaignRow.id)
        .where(CampaignRow.id == campaign_id, ShownConversationRow.interactor_sha256 == func.sha256(salted))
    )
    seen = insert(SeenConversationRow).from_select(["annotator_id", "conversation_id"], own_chats)
    await session.execute(seen.on_conflict_do_nothing())
