"""The rival: a bare FastAPI application on psycopg that answers the same two reads with the same two queries.

`python -m benchmarks.kit.bare_app FD` serves on a listening socket that it inherits; `DATABASE_URL` names the database.
It has what the two reads need and nothing else: no rate limits, roles, problem documents, request ids, logs or metrics.
"""

import hashlib
import hmac
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any
from uuid import UUID

import uvicorn
from fastapi import FastAPI, Header, HTTPException, Request
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool
from pydantic import BaseModel

from spotthebot.contracts.bots.registry import BotOut

_KEY = "SELECT id, role, team, secret_sha256, expires_at, revoked_at FROM access.api_keys WHERE id = %s"
_BOTS = """
    SELECT b.id, b.name, b.team, b.description, b.domains, b.limits, b.status, b.status_reason, b.paused_until,
        b.version, b.public, v.protocol, v.sealed_secret IS NOT NULL AS has_secret, v.configuration_sha256,
        b.created_at, b.probe
    FROM bots.bots AS b JOIN bots.bot_versions AS v ON v.bot_id = b.id AND v.number = b.version
"""
_BOT = f"{_BOTS} WHERE b.id = %s"
_LIST = f"{_BOTS} ORDER BY b.id LIMIT %s"
Connection = AsyncConnection[DictRow]


class BotsOut(BaseModel):
    """A page of bots."""

    items: list[BotOut]
    next_cursor: str | None


@asynccontextmanager
async def _live(app: FastAPI) -> AsyncIterator[None]:
    pool = AsyncConnectionPool(
        os.environ["DATABASE_URL"],
        connection_class=Connection,
        min_size=8,
        max_size=8,
        kwargs={"autocommit": True, "row_factory": dict_row},
        open=False,
    )
    async with pool:
        app.state.pool = pool
        yield


app = FastAPI(lifespan=_live)


async def _authenticate(connection: Connection, authorization: str) -> None:
    _, _, key_id, secret = authorization.removeprefix("Bearer ").split("_", 3)
    row = await (await connection.execute(_KEY, [UUID(key_id)])).fetchone()
    if row is None or not hmac.compare_digest(hashlib.sha256(secret.encode()).digest(), row["secret_sha256"]):
        raise HTTPException(401)


@app.get("/healthz")
async def health() -> dict[str, str]:
    """Say that the process is alive."""
    return {"status": "ok"}


@app.get("/v1/bots", response_model=BotsOut)
async def list_bots(request: Request, authorization: Annotated[str, Header()], limit: int = 50) -> Any:  # noqa: ANN401 - rows are validated by the response model, as FastAPI's documentation does it
    """Return a page of bots."""
    async with request.app.state.pool.connection() as connection:
        await _authenticate(connection, authorization)
        rows = await (await connection.execute(_LIST, [limit + 1])).fetchall()
    return {"items": rows[:limit], "next_cursor": None}


@app.get("/v1/bots/{bot_id}", response_model=BotOut)
async def get_bot(request: Request, bot_id: UUID, authorization: Annotated[str, Header()]) -> Any:  # noqa: ANN401 - as above
    """Return one bot."""
    async with request.app.state.pool.connection() as connection:
        await _authenticate(connection, authorization)
        row = await (await connection.execute(_BOT, [bot_id])).fetchone()
    if row is None:
        raise HTTPException(404)
    return row


if __name__ == "__main__":
    config = uvicorn.Config(app, http="httptools", access_log=False, log_config=None, server_header=False)
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
