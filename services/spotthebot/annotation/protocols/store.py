"""Stored versions of protocols."""

from uuid import UUID

from sqlalchemy import bindparam, select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.protocols.domain.versions import ProtocolSummary, ProtocolVersion
from spotthebot.annotation.protocols.errors import NoSuchProtocol
from spotthebot.annotation.protocols.tables import ProtocolRow
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statements import Runner, Statement
from spotthebot.kit.ids import new_id

_BY_VERSION = Statement(
    select(ProtocolRow.document, ProtocolRow.created_at).where(
        ProtocolRow.name == bindparam("name"), ProtocolRow.version == bindparam("version")
    )
)


async def add_protocol(session: WriteSession, protocol: AnnotationProtocol) -> None:
    """Store a version unless its name and version are stored already."""
    await session.execute(
        insert(ProtocolRow)
        .values(
            id=new_id(),
            name=protocol.name,
            version=protocol.version,
            document=protocol.model_dump(mode="json"),
        )
        .on_conflict_do_nothing(index_elements=[ProtocolRow.name, ProtocolRow.version])
    )


async def get_protocol(runner: Runner, name: str, version: int) -> ProtocolVersion:
    rows = await runner.fetch(_BY_VERSION, {"name": name, "version": version})
    if not rows:
        raise NoSuchProtocol(name=name, version=version)
    (row,) = rows
    return ProtocolVersion(AnnotationProtocol.model_validate(row.document), row.created_at)


async def list_protocols(
    session: ReadSession, *, name: str | None, after: UUID | None, limit: int
) -> list[ProtocolSummary]:
    """List versions by id, oldest first, without their questions."""
    document = ProtocolRow.document
    columns = (
        ProtocolRow.id,
        ProtocolRow.name,
        ProtocolRow.version,
        document["title"].astext,
        document["source"].astext,
        ProtocolRow.created_at,
    )
    statement = select(*columns).order_by(ProtocolRow.id).limit(limit)
    if name is not None:
        statement = statement.where(ProtocolRow.name == name)
    if after is not None:
        statement = statement.where(ProtocolRow.id > after)
    return [ProtocolSummary(*row) for row in await session.execute(statement)]
