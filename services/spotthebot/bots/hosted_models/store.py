"""SQL over hosted models and their files."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.bots.hosted_models.domain import HostedModel
from spotthebot.bots.hosted_models.errors import HostedModelChanging, HostedModelNameTaken, NoSuchHostedModel
from spotthebot.bots.hosted_models.tables import HostedModelFileRow, HostedModelRow
from spotthebot.contracts.bots.hosted_models import Backend, HostedModelIn
from spotthebot.inference.model_files import ModelFile, files_sha256_of
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession

_RETRY_AFTER_SECONDS = 5


async def add_model(session: WriteSession, model_id: UUID, request: HostedModelIn) -> None:
    """Store a model without files; raises HostedModelNameTaken."""
    statement = insert(HostedModelRow).values(id=model_id, **request.model_dump()).on_conflict_do_nothing()
    if (await session.scalar(statement.returning(HostedModelRow.id))) is None:
        raise HostedModelNameTaken(name=request.name)


async def find_model(session: ReadSession, name: str) -> HostedModel | None:
    row = await session.scalar(select(HostedModelRow).where(HostedModelRow.name == name))
    return None if row is None else _model(row, await _files(session, row.id))


async def get_model(session: ReadSession, name: str) -> HostedModel:
    found = await find_model(session, name)
    if found is None:
        raise NoSuchHostedModel(name=name)
    return found


async def acquire_lease(session: WriteSession, name: str, lease_id: UUID, lease: timedelta) -> HostedModel:
    """Lease a model for a time and return it; raises NoSuchHostedModel, and HostedModelChanging if it is leased."""
    row = HostedModelRow
    is_free = or_(row.leased_until.is_(None), row.leased_until <= func.clock_timestamp())
    values = {"lease_id": lease_id, "leased_until": func.clock_timestamp() + lease}
    statement = update(row).where(row.name == name, is_free).values(values).returning(row.id)
    is_acquired = (await session.scalar(statement)) is not None
    model = await get_model(session, name)
    if not is_acquired:
        raise HostedModelChanging(name=name, retry_after_seconds=_RETRY_AFTER_SECONDS)
    return model


async def renew_lease(session: WriteSession, model_id: UUID, lease_id: UUID, lease: timedelta) -> bool:
    """Renew a lease from now on; return False if another change has leased the model, or it was deleted."""
    return await _update_leased(session, model_id, lease_id, leased_until=func.clock_timestamp() + lease)


async def release_lease(session: WriteSession, model_id: UUID, lease_id: UUID) -> bool:
    """Release a lease; return False if another change has leased the model, or it was deleted."""
    return await _update_leased(session, model_id, lease_id, lease_id=None, leased_until=None)


async def _update_leased(session: WriteSession, model_id: UUID, by: UUID, **values: object) -> bool:
    leased = (HostedModelRow.id == model_id, HostedModelRow.lease_id == by)
    statement = update(HostedModelRow).where(*leased).values(values).returning(HostedModelRow.id)
    return (await session.scalar(statement)) is not None


async def list_models(session: ReadSession, *, after: UUID | None, limit: int) -> Sequence[HostedModel]:
    """Return models, oldest first."""
    statement = select(HostedModelRow).order_by(HostedModelRow.id).limit(limit)
    if after is not None:
        statement = statement.where(HostedModelRow.id > after)
    return [_model(row, await _files(session, row.id)) for row in await session.scalars(statement)]


async def put_files(session: WriteSession, model_id: UUID, files: Sequence[ModelFile]) -> str:
    """Store files with their hashes, and replace files of the same name; store and return one hash over all files."""
    for file in files:
        values = {"bytes": file.bytes, "sha256": file.sha256}
        statement = insert(HostedModelFileRow).values(model_id=model_id, name=file.name, **values)
        await session.execute(statement.on_conflict_do_update(index_elements=["model_id", "name"], set_=values))
    hashed = files_sha256_of(await _files(session, model_id))
    await session.execute(update(HostedModelRow).where(HostedModelRow.id == model_id).values(files_sha256=hashed))
    return hashed


async def delete_model(session: WriteSession, model_id: UUID) -> None:
    await session.execute(delete(HostedModelRow).where(HostedModelRow.id == model_id))


async def _files(session: ReadSession, model_id: UUID) -> tuple[ModelFile, ...]:
    statement = select(HostedModelFileRow).where(HostedModelFileRow.model_id == model_id)
    rows = await session.scalars(statement.order_by(HostedModelFileRow.name))
    return tuple(from_row(ModelFile, row) for row in rows)


def _model(row: HostedModelRow, files: tuple[ModelFile, ...]) -> HostedModel:
    return from_row(HostedModel, row, backend=Backend(row.backend), files=files)
