"""The only SQL over bots."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.bots.domain.bots import Bot
from spotthebot.bots.domain.errors import BotNameTaken, NoSuchBot
from spotthebot.bots.tables import BotRow
from spotthebot.contracts.access import Role
from spotthebot.contracts.bots import BotId, BotIn, BuiltinProtocol
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_id


async def add_bot(
    session: WriteSession, wanted: BotIn, *, team: str | None, training_sha256: str | None, configuration_sha256: str
) -> Bot:
    """Store a bot; raises BotNameTaken where its team has one of that name."""
    statement = (
        insert(BotRow)
        .values(
            id=new_id(),
            name=wanted.name,
            team=team,
            description=wanted.description,
            domains=list(wanted.domains),
            protocol=wanted.protocol.model_dump(mode="json"),
            training_sha256=training_sha256,
            configuration_sha256=configuration_sha256,
        )
        .on_conflict_do_nothing()
        .returning(BotRow)
    )
    row = await session.scalar(statement)
    if row is None:
        raise BotNameTaken(name=wanted.name)
    return _bot(row)


async def get_bot(session: ReadSession, bot_id: UUID, principal: Principal) -> Bot:
    """Return the bot if the caller may see it; raises NoSuchBot otherwise."""
    row = await session.get(BotRow, bot_id)
    if row is None or not (bot := _bot(row)).is_visible_to(principal):
        raise NoSuchBot(bot_id=bot_id)
    return bot


async def list_bots(
    session: ReadSession, principal: Principal, *, name: str | None, after: UUID | None, limit: int
) -> Sequence[Bot]:
    """Return the bots that the caller may see, oldest first."""
    statement = select(BotRow).order_by(BotRow.id).limit(limit)
    if principal.role == Role.TEAM:
        statement = statement.where(BotRow.team == principal.team)
    if name is not None:
        statement = statement.where(BotRow.name == name)
    if after is not None:
        statement = statement.where(BotRow.id > after)
    return [_bot(row) for row in await session.scalars(statement)]


def _bot(row: BotRow) -> Bot:
    return Bot(
        id=BotId(row.id),
        name=row.name,
        team=row.team,
        description=row.description,
        domains=tuple(row.domains),
        protocol=BuiltinProtocol.model_validate(row.protocol),
        training_sha256=row.training_sha256,
        configuration_sha256=row.configuration_sha256,
        created_at=row.created_at,
    )
