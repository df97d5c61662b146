"""Packages and their items, and counts of them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, Select, Text, Uuid, and_, any_, cast, func, literal, select, union, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import aliased

from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.conversations.store import NAME
from spotthebot.annotation.conversations.tables import ShownConversationRow as ShownRow
from spotthebot.annotation.packages.domain.packages import (
    NamedItem,
    NewPackage,
    Package,
    PackedConversation,
    PackedItem,
    UploadedItem,
)
from spotthebot.annotation.packages.domain.workload import Workload
from spotthebot.annotation.packages.tables import ItemRow, PackageRow
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_ids
from spotthebot.kit.text.words import known_text_hash

_Turns = list[dict[str, str]]
EXCHANGES = ItemRow.exchanges + func.coalesce(ItemRow.right_exchanges, 0)
"""The exchanges of an item; for a pair, of both sides."""


async def add_packages(session: WriteSession, campaign_id: UUID, packages: Sequence[NewPackage], *, slots: int) -> int:
    """Store packages in order and return how many are new; packages with a known external id stay as they are.

    Each package needs `slots` annotators and its extra ones. The campaign's counters grow by the new
    packages.
    """
    rows: list[dict[str, Any]] = [
        {
            "id": row_id,
            "campaign_id": campaign_id,
            "external_id": package.external_id,
            "block": package.block,
            "extra_annotators": package.extra_annotators,
            "slots_left": slots + package.extra_annotators,
        }
        for row_id, package in zip(new_ids(len(packages)), packages, strict=True)
    ]
    statement = insert(PackageRow).values(rows).on_conflict_do_nothing().returning(PackageRow.id)
    stored = set(await session.scalars(statement))
    extra = {
        row["id"]: package.extra_annotators for row, package in zip(rows, packages, strict=True) if row["id"] in stored
    }
    packed = [
        (row["id"], position, item)
        for row, package in zip(rows, packages, strict=True)
        if row["id"] in stored
        for position, item in zip(package.positions, package.items, strict=True)
    ]
    if packed:
        turns_of = await _turns(session, campaign_id, {item.shown.conversation_id for _, _, item in packed})
        items = [
            {
                "id": row_id,
                "campaign_id": campaign_id,
                "package_id": package_id,
                "conversation_id": item.shown.conversation_id,
                "exchanges": item.shown.exchanges,
                "right_conversation_id": item.right and item.right.conversation_id,
                "right_exchanges": item.right and item.right.exchanges,
                "position": position,
                "speakers": "".join(turn["speaker"] for turn in turns),
                "text_hash": known_text_hash([turn["text"] for turn in turns]),
            }
            for row_id, (package_id, position, item) in zip(new_ids(len(packed)), packed, strict=True)
            for turns in (_shown_turns(*turns_of[item.shown.conversation_id], item.shown.exchanges),)
        ]
        await session.execute(insert(ItemRow), items)
    await session.execute(
        update(CampaignRow)
        .where(CampaignRow.id == campaign_id)
        .values(
            packages=CampaignRow.packages + len(stored),
            items=CampaignRow.items + len(packed),
            extra_assignments=CampaignRow.extra_assignments + sum(extra.values()),
            extra_annotations=CampaignRow.extra_annotations + sum(extra[package_id] for package_id, _, _ in packed),
        )
    )
    return len(stored)


async def _turns(
    session: ReadSession, campaign_id: UUID, conversations: set[UUID]
) -> dict[UUID, tuple[_Turns, _Turns]]:
    """Return for each conversation the turns of its opening and the turns of its exchanges.

    The ids are passed as one array, because a statement takes only 65,535 parameters, and a batch may show 200,000
    conversations.
    """
    ids = literal([*conversations], ARRAY(Uuid))
    statement = select(ShownRow.conversation_id, ShownRow.opening, ShownRow.turns).where(
        ShownRow.campaign_id == campaign_id, ShownRow.conversation_id == any_(ids)
    )
    return {row_id: (opening, turns) for row_id, opening, turns in await session.execute(statement)}


def _shown_turns(opening: _Turns, turns: _Turns, exchanges: int) -> _Turns:
    return [*opening, *turns[: 2 * exchanges]]


async def packages_by_segment(session: ReadSession, campaign_id: UUID) -> dict[tuple[UUID, int], str | None]:
    """Return the external id of the package that shows each (conversation, exchanges)."""
    statement = (
        select(ItemRow.conversation_id, ItemRow.exchanges, PackageRow.external_id)
        .join(PackageRow, PackageRow.id == ItemRow.package_id)
        .where(ItemRow.campaign_id == campaign_id)
    )
    return {(row_id, exchanges): external for row_id, exchanges, external in await session.execute(statement)}


async def packages_by_right(session: ReadSession, campaign_id: UUID) -> dict[UUID, str | None]:
    """Return the external id of the package that shows each conversation on the right of a pair."""
    statement = (
        select(ItemRow.right_conversation_id, PackageRow.external_id)
        .join(PackageRow, PackageRow.id == ItemRow.package_id)
        .where(ItemRow.campaign_id == campaign_id, ItemRow.right_conversation_id.is_not(None))
    )
    return {row_id: external for row_id, external in await session.execute(statement) if row_id is not None}


async def items_by_external_id(
    session: ReadSession, campaign_id: UUID, packages: set[str]
) -> dict[tuple[str, str, int], UploadedItem]:
    """Return the items of these packages by (package, conversation, exchanges)."""
    statement = (
        select(
            PackageRow.external_id,
            NAME,
            ItemRow.exchanges,
            ItemRow.id,
            ItemRow.speakers,
            ItemRow.right_conversation_id,
        )
        .select_from(ItemRow)
        .join(PackageRow, PackageRow.id == ItemRow.package_id)
        .join(
            ShownRow,
            and_(ShownRow.campaign_id == ItemRow.campaign_id, ShownRow.conversation_id == ItemRow.conversation_id),
        )
        .where(PackageRow.campaign_id == campaign_id, PackageRow.external_id.in_(packages))
    )
    rows = await session.execute(statement)
    return {
        (package, conversation, exchanges): UploadedItem(item_id, speakers, is_pair=right is not None)
        for package, conversation, exchanges, item_id, speakers, right in rows
        if package is not None
    }


def exported_names(*columns: Any) -> Select[*tuple[Any, ...]]:  # noqa: ANN401 - SQLAlchemy's columns
    """Return a query of items: the given columns, and the names of package and conversations in files."""
    right = aliased(ShownRow)
    return (
        select(
            *columns,
            func.coalesce(PackageRow.external_id, cast(ItemRow.package_id, Text)),
            NAME,
            func.coalesce(right.external_id, cast(ItemRow.right_conversation_id, Text)),
        )
        .select_from(ItemRow)
        .join(PackageRow, PackageRow.id == ItemRow.package_id)
        .join(
            ShownRow,
            and_(ShownRow.campaign_id == ItemRow.campaign_id, ShownRow.conversation_id == ItemRow.conversation_id),
        )
        .outerjoin(
            right,
            and_(right.campaign_id == ItemRow.campaign_id, right.conversation_id == ItemRow.right_conversation_id),
        )
    )


async def list_exported_items(
    session: ReadSession, campaign_id: UUID, *, after: UUID | None, limit: int
) -> list[NamedItem]:
    """Return the items of packages, by package and position, with the names of package and conversations in files."""
    statement = exported_names(ItemRow).where(ItemRow.campaign_id == campaign_id).order_by(ItemRow.id).limit(limit)
    if after is not None:
        statement = statement.where(ItemRow.id > after)
    return [
        from_row(NamedItem, item, package=package, conversation=conversation, right_conversation=right)
        for item, package, conversation, right in await session.execute(statement)
    ]


async def list_packages(session: ReadSession, campaign_id: UUID, *, after: UUID | None, limit: int) -> list[Package]:
    """Return packages with their items, oldest first."""
    statement = select(PackageRow).where(PackageRow.campaign_id == campaign_id).order_by(PackageRow.id).limit(limit)
    if after is not None:
        statement = statement.where(PackageRow.id > after)
    rows = (await session.scalars(statement)).all()
    content: dict[UUID, list[PackedItem]] = {row.id: [] for row in rows}
    items = select(ItemRow).where(ItemRow.package_id.in_(content)).order_by(ItemRow.package_id, ItemRow.position)
    for item in await session.scalars(items):
        shown = PackedConversation(item.conversation_id, item.exchanges, item.text_hash)
        content[item.package_id].append(PackedItem(shown, right_of(item)))
    return [Package(row.id, row.external_id, tuple(content[row.id])) for row in rows]


def right_of(item: ItemRow) -> PackedConversation | None:
    """Return the conversation on the right of a pair; other items have none."""
    if item.right_conversation_id is None or item.right_exchanges is None:
        return None
    return PackedConversation(item.right_conversation_id, item.right_exchanges)


async def get_workload(session: ReadSession, campaign_id: UUID) -> Workload:
    """Count the items of a campaign by length, its packages by block, and the items of its largest package.

    For packages without a block, the workload also has their conversations and extra annotators.
    """
    items = (
        select(EXCHANGES, func.count(), func.sum(PackageRow.extra_annotators))
        .join(PackageRow, PackageRow.id == ItemRow.package_id)
        .where(ItemRow.campaign_id == campaign_id)
        .group_by(EXCHANGES)
    )
    sizes = select(func.count()).where(ItemRow.campaign_id == campaign_id).group_by(ItemRow.package_id).subquery()
    packages = (
        select(PackageRow.block, func.count(), func.sum(PackageRow.extra_annotators))
        .where(PackageRow.campaign_id == campaign_id)
        .group_by(PackageRow.block)
    )
    left = select(ItemRow.package_id, ItemRow.conversation_id.label("conversation_id"))
    right = select(ItemRow.package_id, ItemRow.right_conversation_id)
    unblocked = PackageRow.id == ItemRow.package_id, PackageRow.campaign_id == campaign_id, PackageRow.block.is_(None)
    shown = union(
        left.where(*unblocked), right.where(*unblocked, ItemRow.right_conversation_id.is_not(None))
    ).subquery()
    conversations = (
        select(func.array_agg(shown.c.conversation_id), PackageRow.extra_annotators)
        .join(PackageRow, PackageRow.id == shown.c.package_id)
        .group_by(PackageRow.id)
    )
    largest = await session.scalar(select(func.max(sizes.c[0])))
    uploaded = (await session.execute(conversations)).all()
    of_lengths, of_blocks = (await session.execute(items)).all(), (await session.execute(packages)).all()
    return Workload(
        items={length: count for length, count, _ in of_lengths},
        packages={block: count for block, count, _ in of_blocks},
        largest=largest or 0,
        extra_annotations={length: extra for length, _, extra in of_lengths},
        extra_assignments={block: extra for block, _, extra in of_blocks},
        conversations=[frozenset(each) for each, _ in uploaded],
        extra_annotators=[extra for _, extra in uploaded],
    )
