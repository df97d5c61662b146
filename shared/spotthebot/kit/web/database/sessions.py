"""The annotations by which an endpoint asks for a session, `Reading` and `Writing`, or for single `Statements`.

`scope="function"` matters: with it FastAPI leaves the session's block, and so commits, *before* the response is
sent, and a commit that fails is answered 500. The default commits after the response (see the test of the order).
"""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request

from spotthebot.kit.database.sessions import Database, ReadSession, WriteSession
from spotthebot.kit.database.statements import Runner


async def get_database(request: Request) -> Database:
    """Return the application's connections to PostgreSQL (a coroutine: FastAPI calls a function in another thread)."""
    database: Database = request.app.state.database
    return database


Pool = Annotated[Database, Depends(get_database)]
"""For endpoints that ask another service before their transaction, or read while they send."""


async def _read(database: Pool) -> AsyncIterator[ReadSession]:
    async with database.read() as session:
        yield session


async def _write(database: Pool) -> AsyncIterator[WriteSession]:
    async with database.write() as session:
        yield session


Reading = Annotated[ReadSession, Depends(_read, scope="function")]
Writing = Annotated[WriteSession, Depends(_write, scope="function")]
Statements = Annotated[Runner, Depends(get_database)]
"""Each statement is a transaction of its own: for the few endpoints that are called most."""
