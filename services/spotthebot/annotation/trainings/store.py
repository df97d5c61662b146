"""Stored versions of trainings."""

from uuid import UUID

from sqlalchemy import bindparam, func, select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.trainings.domain.versions import TrainingSummary, TrainingVersion
from spotthebot.annotation.trainings.errors import NoSuchTraining
from spotthebot.annotation.trainings.tables import TrainingRow
from spotthebot.contracts.annotation.trainings import Training
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statements import Runner, Statement
from spotthebot.kit.ids import new_id

_BY_VERSION = Statement(
    select(TrainingRow).where(TrainingRow.name == bindparam("name"), TrainingRow.version == bindparam("version"))
)


async def add_training(session: WriteSession, training: Training) -> None:
    """Store a version unless its name and version are stored already."""
    await session.execute(
        insert(TrainingRow)
        .values(id=new_id(), name=training.name, version=training.version, document=training.model_dump(mode="json"))
        .on_conflict_do_nothing(index_elements=[TrainingRow.name, TrainingRow.version])
    )


async def get_training(runner: Runner, name: str, version: int) -> TrainingVersion:
    found = await find_training(runner, name, version)
    if found is None:
        raise NoSuchTraining(name=name, version=version)
    return found


async def find_training(runner: Runner, name: str, version: int) -> TrainingVersion | None:
    """Return a version, if it is stored."""
    rows = await runner.fetch(_BY_VERSION, {"name": name, "version": version})
    if not rows:
        return None
    (row,) = rows
    return TrainingVersion(row.id, Training.model_validate(row.document), row.created_at)


async def find_newest_version(session: ReadSession, name: str) -> int | None:
    """Return the number of a training's newest version."""
    found: int | None = await session.scalar(select(func.max(TrainingRow.version)).where(TrainingRow.name == name))
    return found


async def list_trainings(
    session: ReadSession, *, name: str | None, after: UUID | None, limit: int
) -> list[TrainingSummary]:
    """List versions by id, oldest first, without their dialogues."""
    document = TrainingRow.document
    columns = (
        TrainingRow.id,
        TrainingRow.name,
        TrainingRow.version,
        document["title"].astext,
        document["protocol"].astext,
        document["protocol_version"].as_integer(),
        func.jsonb_array_length(document["dialogues"]),
        TrainingRow.created_at,
    )
    statement = select(*columns).order_by(TrainingRow.id).limit(limit)
    if name is not None:
        statement = statement.where(TrainingRow.name == name)
    if after is not None:
        statement = statement.where(TrainingRow.id > after)
    return [TrainingSummary(*row) for row in await session.execute(statement)]
