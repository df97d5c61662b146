"""Gold items of assignments, and how they were answered."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from sqlalchemy import and_, bindparam, func, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.domain.answers import AnsweredItem
from spotthebot.annotation.domain.gold import PlacedGold
from spotthebot.annotation.store.answers import DRAFT, item_of
from spotthebot.annotation.tables import AnswerRow, GoldItemRow, ItemRow
from spotthebot.contracts.trainings import Training
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.statements import Runner, Statement

_OF_ASSIGNMENT = (
    select(GoldItemRow.position, GoldItemRow.dialogue, GoldItemRow.turns, *DRAFT)
    .outerjoin(
        AnswerRow,
        and_(AnswerRow.assignment_id == GoldItemRow.assignment_id, AnswerRow.position == GoldItemRow.position),
    )
    .where(GoldItemRow.assignment_id == bindparam("assignment_id"))
)
_ITEMS = Statement(_OF_ASSIGNMENT.order_by(GoldItemRow.position))
_ITEM = Statement(_OF_ASSIGNMENT.where(GoldItemRow.position == bindparam("position")))


async def list_seen(session: ReadSession, annotator_id: UUID) -> set[int]:
    """Return the numbers of the gold dialogues that an annotator was given."""
    return {*await session.scalars(select(GoldItemRow.dialogue).where(GoldItemRow.annotator_id == annotator_id))}


async def list_turns(session: ReadSession, package_id: UUID) -> dict[int, int]:
    """Return how many turns a package's other items show, by their positions."""
    statement = select(ItemRow.position, func.length(ItemRow.speakers)).where(ItemRow.package_id == package_id)
    return {position: turns for position, turns in await session.execute(statement)}  # noqa: C416 - typed rows


async def add_items(
    session: WriteSession, assignment_id: UUID, annotator_id: UUID, placed: Iterable[PlacedGold]
) -> None:
    """Give gold items to an assignment; the database refuses a dialogue that the annotator has seen."""
    rows = [
        {
            "assignment_id": assignment_id,
            "position": each.position,
            "annotator_id": annotator_id,
            "dialogue": each.dialogue,
            "turns": each.turns,
        }
        for each in placed
    ]
    await session.execute(insert(GoldItemRow), rows)


async def list_items(
    runner: Runner, assignment_id: UUID, gold: Training, *, position: int | None = None
) -> list[tuple[AnsweredItem, PlacedGold]]:
    """Return the gold items of an assignment, or the one at a position, with what was answered."""
    rows = await runner.fetch(
        _ITEMS if position is None else _ITEM, {"assignment_id": assignment_id, "position": position}
    )
    return [
        (
            item_of(
                row,
                None,
                "".join(turn.speaker for turn in gold.dialogues[row.dialogue].turns[: row.turns]),
                exchanges=(row.turns + 1) // 2,
            ),
            PlacedGold(row.position, row.dialogue, row.turns),
        )
        for row in rows
    ]


async def put_mistakes(session: WriteSession, assignment_id: UUID, found: Mapping[int, tuple[int, bool]]) -> None:
    """Note how many mistakes the answers to gold items have, by position, and whether they are right."""
    for position, (mistakes, is_right) in found.items():
        await session.execute(
            update(GoldItemRow)
            .where(GoldItemRow.assignment_id == assignment_id, GoldItemRow.position == position)
            .values(mistakes=mistakes, is_right=is_right)
        )
