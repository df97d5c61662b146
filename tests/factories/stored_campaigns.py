"""Rows of the schema `annotation`, written without a service: single ones in a session, or a campaign of any size."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
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
_CAMPAIGN = """
    INSERT INTO annotation.campaigns (id, name, domain, collection_id, mode, segments, annotations_per_segment,
        package_size, packages_per_annotator, lease_seconds, instructions, seed, state, packages, items,
        protocol_name)
    VALUES (%(id)s, 'filled', 'everyday', gen_random_uuid(), 'live', ARRAY[1, 2, 3], %(redundancy)s,
        %(size)s, %(limit)s, %(lease_seconds)s, '', 0, %(state)s, %(packages)s, %(packages)s * %(size)s,
        %(protocol)s)
"""
# Ids are digests of the campaign and a number, so that each statement knows the ids of the one before.
_CONVERSATION_ID = "md5(%(id)s || 'conversation' || {number})::uuid"
_PACKAGE_ID = "md5(%(id)s || 'package' || {number})::uuid"
_CONVERSATIONS = f"""
    INSERT INTO annotation.shown_conversations (campaign_id, conversation_id, opening, turns)
    SELECT %(id)s::uuid, {_CONVERSATION_ID.format(number="number")}, '[]', (
        SELECT jsonb_agg(jsonb_build_object('speaker', side, 'text', 'Turn ' || turn || ' of ' || number))
        FROM generate_series(1, 3) AS turn, unnest(ARRAY['A', 'B']) AS side)
    FROM generate_series(0, (%(packages)s + 2) / 3 * %(size)s - 1) AS number
"""  # noqa: S608 - no input
_PACKAGES = f"""
    INSERT INTO annotation.packages (id, campaign_id, block, slots_left)
    SELECT {_PACKAGE_ID.format(number="number")}, %(id)s::uuid, number / 3, %(redundancy)s
    FROM generate_series(0, %(packages)s - 1) AS number
"""  # noqa: S608 - no input
_ITEMS = f"""
    INSERT INTO annotation.items (id, campaign_id, package_id, conversation_id, exchanges, position, speakers)
    SELECT gen_random_uuid(), %(id)s::uuid, {_PACKAGE_ID.format(number="number")},
        {_CONVERSATION_ID.format(number="(number / 3 * %(size)s + place)")},
        1 + (number + place) %% 3, place, repeat('AB', 1 + (number + place) %% 3)
    FROM generate_series(0, %(packages)s - 1) AS number, generate_series(0, %(size)s - 1) AS place
"""  # noqa: S608 - no input


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


def fill_campaign(
    owner_url: str,
    *,
    packages: int,
    size: int,
    redundancy: int = 2,
    limit: int | None = None,
    lease_seconds: int = 3600,
    state: str = "open",
    protocol: str = "spot_the_bot",
) -> UUID:
    """Write a campaign of version 1 of a protocol and return its id.

    Three packages of `size` items each show the same conversations, at one, two and three exchanges.
    """
    campaign_id = uuid4()
    values = {
        "id": str(campaign_id),
        "packages": packages,
        "size": size,
        "redundancy": redundancy,
        "limit": limit,
        "lease_seconds": lease_seconds,
        "state": state,
        "protocol": protocol,
    }
    # Placeholders are filled here: PostgreSQL could not tell the types of those that are used in several places.
    with psycopg.ClientCursor(psycopg.connect(owner_url)) as cursor, cursor.connection:
        for statement in (_CAMPAIGN, _CONVERSATIONS, _PACKAGES, _ITEMS):
            cursor.execute(statement.encode(), values)
    return campaign_id
