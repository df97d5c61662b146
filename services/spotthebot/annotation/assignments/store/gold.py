"""Gold items of assignments, and the grades of their answers."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from sqlalchemy import and_, bindparam, column, func, literal, select, update
from sqlalchemy.dialects.postgresql import JSONB, aggregate_order_by, insert
from sqlalchemy.orm import aliased

from spotthebot.annotation.assignments.domain.answers import AnsweredItem
from spotthebot.annotation.assignments.domain.gold import Extent, PlacedGold, ShownSpeakers
from spotthebot.annotation.assignments.store import answers as answers_store
from spotthebot.annotation.assignments.store.answers import DRAFT
from spotthebot.annotation.assignments.tables import AnswerRow, GoldItemRow
from spotthebot.annotation.conversations.tables import ShownConversationRow as ShownRow
from spotthebot.annotation.packages.tables import ItemRow
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statements import Runner, Statement

_ITEMS = Statement(
    select(GoldItemRow.position, GoldItemRow.dialogue, GoldItemRow.turns, GoldItemRow.opening, *DRAFT)
    .outerjoin(
        AnswerRow,
        and_(AnswerRow.assignment_id == GoldItemRow.assignment_id, AnswerRow.position == GoldItemRow.position),
    )
    .where(GoldItemRow.assignment_id == bindparam("assignment_id"))
    .order_by(GoldItemRow.position)
)


async def list_seen(session: ReadSession, annotator_id: UUID) -> set[int]:
    """Return the numbers of the gold dialogues that an annotator was given."""
    return {*await session.scalars(select(GoldItemRow.dialogue).where(GoldItemRow.annotator_id == annotator_id))}


async def list_extents(session: ReadSession, package_id: UUID) -> dict[int, Extent]:
    """Return the number of turns and of opening turns that each item shows, by its position in the package.

    Gold items are left out.
    """
    statement = (
        select(ItemRow.position, func.length(ItemRow.speakers), func.jsonb_array_length(ShownRow.opening))
        .join(
            ShownRow,
            and_(ShownRow.campaign_id == ItemRow.campaign_id, ShownRow.conversation_id == ItemRow.conversation_id),
        )
        .where(ItemRow.package_id == package_id)
    )
    return {position: Extent(turns, opening) for position, turns, opening in await session.execute(statement)}


async def list_speakers(session: ReadSession, campaign_id: UUID) -> set[ShownSpeakers]:
    """Return the distinct sequences of speakers, such as `ABAB`, in a campaign's items."""
    right = aliased(ShownRow)
    turns = (
        func.jsonb_array_elements(right.opening.op("||")(right.turns))
        .table_valued(column("value", JSONB), with_ordinality="number")
        .render_derived()
    )
    on_the_right = (
        select(func.string_agg(turns.c.value["speaker"].astext, aggregate_order_by(literal(""), turns.c.number)))
        .where(turns.c.number <= func.jsonb_array_length(right.opening) + 2 * ItemRow.right_exchanges)
        .correlate(right, ItemRow)
        .scalar_subquery()
    )
    statement = (
        select(ItemRow.speakers, on_the_right)
        .outerjoin(
            right,
            and_(right.campaign_id == ItemRow.campaign_id, right.conversation_id == ItemRow.right_conversation_id),
        )
        .where(ItemRow.campaign_id == campaign_id)
        .distinct()
    )
    return {ShownSpeakers(*row) for row in await session.execute(statement)}


async def add_items(
    session: WriteSession, assignment_id: UUID, annotator_id: UUID, placed: Iterable[PlacedGold]
) -> None:
    """Add gold items to an assignment; the database refuses a dialogue that the annotator has seen."""
    rows = [
        {
            "assignment_id": assignment_id,
            "position": each.position,
            "annotator_id": annotator_id,
            "dialogue": each.dialogue,
            "turns": each.extent.turns,
            "opening": each.extent.opening,
        }
        for each in placed
    ]
    await session.execute(insert(GoldItemRow), rows)


async def list_items(runner: Runner, assignment_id: UUID) -> list[tuple[AnsweredItem, PlacedGold]]:
    """Return the gold items of an assignment with their answers, but without their speakers."""
    rows = await runner.fetch(_ITEMS, {"assignment_id": assignment_id})
    placed = [PlacedGold(row.position, row.dialogue, Extent(row.turns, row.opening)) for row in rows]
    return [(answers_store.gold_item_of(row, each), each) for row, each in zip(rows, placed, strict=True)]


async def put_mistakes(session: WriteSession, assignment_id: UUID, found: Mapping[int, tuple[int, bool]]) -> None:
    """Store the number of mistakes in the answer to each gold item, by position, and whether the answer is right."""
    for position, (mistakes, is_right) in found.items():
        await session.execute(
            update(GoldItemRow)
            .where(GoldItemRow.assignment_id == assignment_id, GoldItemRow.position == position)
            .values(mistakes=mistakes, is_right=is_right)
        )
