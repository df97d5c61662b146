"""SQL over the versions of bots."""

from collections.abc import Sequence
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import insert, select, update

from spotthebot.bots.bots.domain import BotVersion, Fingerprints, fingerprint_configuration
from spotthebot.bots.bots.errors import NoSuchVersion
from spotthebot.bots.bots.tables import BotRow, BotVersionRow
from spotthebot.contracts.bots.protocols import Protocol
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession

_protocols: TypeAdapter[Protocol] = TypeAdapter(Protocol)


async def add_version(
    session: WriteSession,
    version_id: UUID,
    bot_id: UUID,
    protocol: Protocol,
    sealed_secret: bytes | None,
    made_from: Fingerprints,
) -> None:
    """Store the next version of a bot, which becomes the present version."""
    number = await session.scalar(
        update(BotRow).where(BotRow.id == bot_id).values(version=BotRow.version + 1).returning(BotRow.version)
    )
    await session.execute(
        insert(BotVersionRow).values(
            id=version_id,
            bot_id=bot_id,
            number=number,
            protocol=protocol.model_dump(mode="json"),
            sealed_secret=sealed_secret,
            training_sha256=made_from.training_sha256,
            files_sha256=made_from.files_sha256,
            configuration_sha256=fingerprint_configuration(protocol, made_from),
        )
    )


async def get_version(session: ReadSession, bot_id: UUID, number: int) -> BotVersion:
    """Return one version of a bot; raises NoSuchVersion."""
    statement = select(BotVersionRow).where(BotVersionRow.bot_id == bot_id, BotVersionRow.number == number)
    row = await session.scalar(statement)
    if row is None:
        raise NoSuchVersion(bot_id=bot_id, version=number)
    return _version(row)


async def list_versions(session: ReadSession, bot_id: UUID, *, after: UUID | None, limit: int) -> Sequence[BotVersion]:
    """Return a bot's versions, oldest first."""
    statement = select(BotVersionRow).where(BotVersionRow.bot_id == bot_id).order_by(BotVersionRow.id).limit(limit)
    if after is not None:
        statement = statement.where(BotVersionRow.id > after)
    return [_version(row) for row in await session.scalars(statement)]


async def replace_secret(session: WriteSession, version_id: UUID, sealed_secret: bytes) -> None:
    statement = update(BotVersionRow).where(BotVersionRow.id == version_id).values(sealed_secret=sealed_secret)
    await session.execute(statement)


def protocol_of(stored: object) -> Protocol:
    """Return the protocol that is stored as JSON."""
    return _protocols.validate_python(stored)


def _version(row: BotVersionRow) -> BotVersion:
    return from_row(BotVersion, row, protocol=protocol_of(row.protocol))
