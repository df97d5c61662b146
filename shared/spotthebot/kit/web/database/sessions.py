"""The annotations of an endpoint's parameters for sessions, `Reading` and `Writing`, and for single `Statements`.

With `scope="function"` FastAPI leaves the session's block, and so commits, *before* the response is sent: if the commit
fails, the answer is 500. By default FastAPI would commit after the response. A test checks the order.
"""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request

from spotthebot.kit.database.sessions import Database, ReadSession, WriteSession
from spotthebot.kit.database.statements import Runner
from spotthebot.kit.web.database.resources import database_of


async def get_database(request: Request) -> Database:
    """Return the application's connections to PostgreSQL.

    It is a coroutine, since FastAPI would call an ordinary function in another thread.
    """
    return database_of(request.app).pool


Pool = Annotated[Database, Depends(get_database)]
"""For endpoints that ask another service before their transaction, or that read while they send."""


async def _read(database: Pool) -> AsyncIterator[ReadSession]:
    async with database.read() as session:
        yield session


async def _write(database: Pool) -> AsyncIterator[WriteSession]:
    async with database.write() as session:
        yield session


Reading = Annotated[ReadSession, Depends(_read, scope="function")]
Writing = Annotated[WriteSession, Depends(_write, scope="function")]
Statements = Annotated[Runner, Depends(get_database)]
"""For the few endpoints that are called most. Each statement is a transaction of its own."""
