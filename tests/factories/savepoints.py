"""Sessions on one transaction that is rolled back after each test, for rules that need no other connection.

A block of `read` or `write` is a savepoint: it ends as in the product, by a commit or a rollback, and the next block
sees what the one before committed. All of it is gone after the test, so that tests share one database and clean
nothing. Other connections see nothing of it: what services, `Database.statements` or locks between transactions do is
tested on a database of the test's own.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statements import Statement


class SavepointDatabase:
    """Has the sessions of `Database`; each block is a savepoint of one transaction."""

    def __init__(self, connection: AsyncConnection) -> None:
        self.connection = connection

    @asynccontextmanager
    async def read(self) -> AsyncIterator[ReadSession]:
        async with ReadSession(bind=self.connection, join_transaction_mode="create_savepoint") as session:
            yield session

    async def fetch(self, statement: Statement, parameters: Mapping[str, Any]) -> list[Any]:
        async with self.read() as session:
            return await session.fetch(statement, parameters)

    @asynccontextmanager
    async def write(self) -> AsyncIterator[WriteSession]:
        async with (
            WriteSession(
                bind=self.connection, join_transaction_mode="create_savepoint", expire_on_commit=False
            ) as session,
            session.begin(),
        ):
            yield session


@asynccontextmanager
async def rolled_back(url: str) -> AsyncIterator[SavepointDatabase]:
    """Open a transaction on a database, give sessions in it, and roll all of it back at the end."""
    engine = create_async_engine(make_url(url).set(drivername="postgresql+psycopg"))
    try:
        async with engine.connect() as connection, connection.begin() as transaction:
            yield SavepointDatabase(connection)
            await transaction.rollback()
    finally:
        await engine.dispose()
