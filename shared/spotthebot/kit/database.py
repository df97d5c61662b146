"""The engine and the sessions. Nobody calls commit: leaving `Database.write()` does, raising inside it rolls back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import MetaData
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

NAMING_CONVENTION = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


def schema_metadata(schema: str) -> MetaData:
    """Metadata for the tables of one service, qualified by its schema, constraints named by convention."""
    return MetaData(schema=schema, naming_convention=NAMING_CONVENTION)


class ReadSession(AsyncSession):
    """A session in a READ ONLY transaction: PostgreSQL itself refuses writes."""


class WriteSession(ReadSession):
    """A session whose transaction commits when its block ends without an error. Whatever reads may be given one."""


class Database:
    """One service's connections to PostgreSQL."""

    def __init__(self, url: str, *, pool_size: int = 8, application_name: str = "spotthebot") -> None:
        self.engine: AsyncEngine = create_async_engine(
            make_url(url).set(drivername="postgresql+psycopg"),
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_pre_ping=True,
            connect_args={"application_name": application_name, "connect_timeout": 5},
        )
        read_only = self.engine.execution_options(postgresql_readonly=True)
        self._readers = async_sessionmaker(read_only, class_=ReadSession, expire_on_commit=False)
        self._writers = async_sessionmaker(self.engine, class_=WriteSession, expire_on_commit=False)

    @asynccontextmanager
    async def read(self) -> AsyncIterator[ReadSession]:
        async with self._readers() as session:
            yield session

    @asynccontextmanager
    async def write(self) -> AsyncIterator[WriteSession]:
        async with self._writers() as session, session.begin():
            yield session

    async def close(self) -> None:
        await self.engine.dispose()
