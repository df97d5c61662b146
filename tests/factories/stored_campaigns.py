"""Rows of the schema `annotation`, written without a service, for tests of its store."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import insert, select

from spotthebot.annotation.annotators.tables import AnnotatorRow
from spotthebot.annotation.assignments.tables import AnnotationRow
from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.conversations.tables import ShownConversationRow
from spotthebot.annotation.leases.tables import AssignmentRow
from spotthebot.annotation.packages.tables import ItemRow, PackageRow
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id, new_ids

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TURNS = [{"speaker": "A", "text": "Hi."}, {"speaker": "B", "text": "Hello."}]


async def store_campaign(session: WriteSession, **values: Any) -> UUID:
    """Store an open campaign without packages; `values` are of its row."""
    campaign = new_id()
    row = {
        "id": campaign,
        "name": "stored",
        "domain": "small-talk",
        "collection_id": new_id(),
        "mode": "live",
        "segments": [1],
        "annotations_per_segment": 1,
        "package_size": 1,
        "instructions": "",
        "seed": 0,
        "state": "open",
    }
    await session.execute(insert(CampaignRow).values(row | values))
    return campaign


async def store_packages(
    session: WriteSession, campaign: UUID, count: int, *, items: int = 1, **values: Any
) -> list[UUID]:
    """Store packages, each of conversations of its own; `values` are of their rows."""
    packages = new_ids(count)
    await session.execute(
        insert(PackageRow), [{"id": each, "campaign_id": campaign, "slots_left": 1} | values for each in packages]
    )
    conversations = new_ids(count * items)
    shown = [
        {"campaign_id": campaign, "conversation_id": each, "opening": [], "turns": TURNS} for each in conversations
    ]
    await session.execute(insert(ShownConversationRow), shown)
    places = [(package, position) for package in packages for position in range(items)]
    rows = [
        {
            "id": row_id,
            "campaign_id": campaign,
            "package_id": package,
            "conversation_id": conversation,
            "exchanges": 1,
            "position": position,
            "speakers": "AB",
        }
        for row_id, conversation, (package, position) in zip(new_ids(len(places)), conversations, places, strict=True)
    ]
    await session.execute(insert(ItemRow), rows[::-1])  # no order of storing is the order of reading
    return packages


async def store_annotators(session: WriteSession, campaign: UUID, names: Sequence[str], **values: Any) -> list[UUID]:
    ids = new_ids(len(names))
    rows = [
        {"id": row_id, "campaign_id": campaign, "frontend": "ours", "external_id": name} | values
        for row_id, name in zip(ids, names, strict=True)
    ]
    await session.execute(insert(AnnotatorRow), rows[::-1])
    return ids


async def store_assignments(
    session: WriteSession, campaign: UUID, annotator: UUID, packages: Sequence[UUID], **values: Any
) -> list[UUID]:
    """Store leases of packages that end an hour after noon; `values` are of their rows."""
    row = {
        "campaign_id": campaign,
        "annotator_id": annotator,
        "state": "leased",
        "leased_at": NOON,
        "expires_at": NOON + timedelta(hours=1),
    }
    ids = new_ids(len(packages))
    rows = [row | {"id": row_id, "package_id": package} | values for row_id, package in zip(ids, packages, strict=True)]
    await session.execute(insert(AssignmentRow), rows[::-1])
    return ids


async def store_annotations(
    session: WriteSession, campaign: UUID, annotator: UUID, items: Sequence[UUID], **values: Any
) -> list[UUID]:
    """Store an annotator's annotations of items, which took a second each; `values` are of their rows."""
    row = {"campaign_id": campaign, "annotator_id": annotator, "answer": {"A": "bot"}, "elapsed_ms": 1000}
    ids = new_ids(len(items))
    rows = [row | {"id": row_id, "item_id": item} | values for row_id, item in zip(ids, items, strict=True)]
    await session.execute(insert(AnnotationRow), rows[::-1])
    return ids


async def slots_left(session: ReadSession, packages: Sequence[UUID]) -> list[int]:
    """Return how many annotators each package still takes."""
    rows = await session.execute(select(PackageRow.id, PackageRow.slots_left).where(PackageRow.id.in_(packages)))
    found = {row_id: slots for row_id, slots in rows}  # noqa: C416 - typed rows
    return [found[each] for each in packages]


async def assignment_states(session: ReadSession, assignments: Sequence[UUID]) -> list[str]:
    rows = await session.execute(select(AssignmentRow.id, AssignmentRow.state).where(AssignmentRow.id.in_(assignments)))
    found = {row_id: state for row_id, state in rows}  # noqa: C416 - typed rows
    return [found[each] for each in assignments]


async def items_of(session: ReadSession, packages: Sequence[UUID]) -> list[UUID]:
    """Return one item of each package."""
    rows = await session.execute(select(ItemRow.package_id, ItemRow.id).where(ItemRow.package_id.in_(packages)))
    found = {package: item for package, item in rows}  # noqa: C416 - typed rows
    return [found[each] for each in packages]
