"""Campaigns that are changed, built again or deleted, imported annotators, and measured times for previews.

Before a change, rebuild or deletion the same transaction has locked the campaign.
"""

from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

from sqlalchemy import Uuid, column, delete, func, literal, or_, select, update
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, insert

from spotthebot.annotation.annotators.domain import require_kind, require_name
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
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignState
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_ids

_ELSEWHERE = ""
"""The frontend of imported annotators."""
_MAX_MEASURED = 10_000


async def import_annotators(
    session: WriteSession, campaign_id: UUID, kinds: Mapping[str, AnnotatorKind]
) -> dict[str, UUID]:
    """Return the ids of imported annotators by name, and add the annotators who are new.

    Raises ProgramNameUnusable and OtherAnnotatorKind.
    """
    requested = sorted(kinds)
    for name, kind in kinds.items():
        require_name(name, kind)
    rows = [
        {"id": row_id, "campaign_id": campaign_id, "frontend": _ELSEWHERE, "external_id": name, "kind": kinds[name]}
        for row_id, name in zip(new_ids(len(requested)), requested, strict=True)
    ]
    await session.execute(insert(AnnotatorRow).on_conflict_do_nothing(), rows)
    statement = select(AnnotatorRow.external_id, AnnotatorRow.id, AnnotatorRow.kind).where(
        AnnotatorRow.campaign_id == campaign_id,
        AnnotatorRow.frontend == _ELSEWHERE,
        AnnotatorRow.external_id.in_(requested),
    )
    found = {}
    for name, row_id, known in await session.execute(statement):
        require_kind(name, kinds[name], known=known)
        found[name] = row_id
    return found


async def list_times(session: ReadSession, campaign: Campaign) -> list[tuple[int, timedelta]]:
    """Return (exchanges, time) of the newest annotations that people made by the same protocol."""
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
            AnnotatorRow.kind == AnnotatorKind.PERSON,
        )
        .order_by(AnnotationRow.id.desc())
        .limit(_MAX_MEASURED)
    )
    rows = await session.execute(newest)
    return [(exchanges, timedelta(milliseconds=elapsed)) for exchanges, elapsed in rows if elapsed is not None]


async def lock_packages(session: WriteSession, campaign_id: UUID) -> None:
    """Lock a campaign's packages against claims. All transactions lock packages before they lock the campaign."""
    packages = select(PackageRow.id).where(PackageRow.campaign_id == campaign_id).order_by(PackageRow.id)
    await session.execute(packages.with_for_update())


async def change_campaign(
    session: WriteSession, campaign: Campaign, request: CampaignIn, protocol: AnnotationProtocol
) -> Campaign:
    """Store the new settings of a campaign that this transaction has locked, and return it.

    A new number of annotations for each item changes the number of annotators that each package needs. If this number
    grows, the caller has locked the packages. A complete campaign with work left is opened again. With
    another rule or margin, a campaign may stop again.
    """
    values = campaigns_store.columns_of(request, protocol)
    if (request.stop_when, request.margin) != (campaign.stop_when, campaign.margin):
        values["stopped_at"] = None
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
    """Open a complete campaign again if it has work left."""
    await session.execute(
        update(CampaignRow)
        .where(
            CampaignRow.id == campaign_id,
            CampaignRow.state == CampaignState.COMPLETE,
            CampaignRow.submitted < campaigns_store.ASSIGNMENTS_NEEDED,
        )
        .values(state=CampaignState.OPEN)
    )


async def build_again(session: WriteSession, campaign_id: UUID) -> None:
    """Delete the packages of a campaign that no annotator has entered, and set the campaign to BUILDING.

    This transaction has locked the campaign.
    """
    await _drop_packages(session, campaign_id)
    none = dict.fromkeys(("packages", "items", "extra_assignments", "extra_annotations"), 0)
    unknown = dict.fromkeys(("too_short", "not_selected", "unpaired", "failure", "built_at"))
    await campaigns_store.move_campaign(
        session, campaign_id, CampaignState.BUILDING, opens_when_built=False, **none, **unknown
    )


async def delete_campaign(session: WriteSession, campaign_id: UUID) -> None:
    """Delete a campaign that this transaction has locked, and that nobody has entered. Its audit log stays."""
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


async def forget_answers(session: WriteSession, subject_id: UUID) -> None:
    """Delete stored idempotent answers about a campaign or a study, so that a repeated request makes a new one."""
    name = str(subject_id)
    in_body = func.position(literal(name.encode()).op("IN")(IDEMPOTENCY.c.body)) > 0
    await session.execute(delete(IDEMPOTENCY).where(or_(in_body, func.strpos(IDEMPOTENCY.c.path, name) > 0)))


async def count_packages_and_blocks(session: ReadSession, campaign_id: UUID) -> tuple[int, int]:
    """Return the number of a campaign's packages, and the number that its next block of packages gets."""
    statement = select(func.count(), func.coalesce(func.max(PackageRow.block) + 1, 0))
    packages, blocks = (await session.execute(statement.where(PackageRow.campaign_id == campaign_id))).one()
    return packages, blocks or 0


async def hash_interactors_again(session: WriteSession, campaign_id: UUID, hashes: Mapping[UUID, bytes]) -> None:
    """Replace the hashes of the people who chatted in a campaign's conversations by hashes with a new salt.

    Then marks conversations as seen by the known annotators who chatted in them.
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
