"""The rival: a bare FastAPI application on psycopg with the same claim, save and submit on the same tables.

`python -m benchmarks.annotation.bare_app FD` serves on a listening socket that it inherits; `DATABASE_URL` names the
database. It checks the key, gives each package to as many annotators as it needs and stores what it is sent. It has no
rule of a protocol, limit, lease that ends, revision, time, idempotency or problem document.
"""

import hashlib
import hmac
import os
import secrets
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any
from uuid import UUID, uuid4

import uvicorn
from fastapi import FastAPI, Header, HTTPException, Request
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool
from pydantic import BaseModel

from spotthebot.contracts.annotation.annotations import Answer

_KEY = "SELECT id, role, team, secret_sha256, expires_at, revoked_at FROM access.api_keys WHERE id = %s"
_ANNOTATOR = """
    INSERT INTO annotation.annotators (id, campaign_id, frontend, external_id) VALUES (%s, %s, 'bare', %s)
    ON CONFLICT (campaign_id, external_id, frontend) DO UPDATE SET external_id = excluded.external_id RETURNING id
"""
_PACKAGE = """
    UPDATE annotation.packages SET slots_left = slots_left - 1 WHERE id = (
        SELECT id FROM annotation.packages AS package WHERE campaign_id = %(campaign)s AND slots_left > 0
            AND NOT EXISTS (
                SELECT FROM annotation.items JOIN annotation.seen_conversations AS seen USING (conversation_id)
                WHERE items.package_id = package.id AND seen.annotator_id = %(annotator)s OFFSET 0)
        ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING id
"""
_SEEN = """
    INSERT INTO annotation.seen_conversations (annotator_id, conversation_id)
    SELECT DISTINCT %s::uuid, conversation_id FROM annotation.items WHERE package_id = %s
"""
_LEASE = """
    INSERT INTO annotation.assignments
        (id, campaign_id, package_id, annotator_id, state, leased_at, expires_at)
    VALUES (%s, %s, %s, %s, 'leased', now(), now() + interval '1 hour')
"""
_ITEMS = """
    SELECT position, exchanges, opening, turns FROM annotation.items
    JOIN annotation.shown_conversations USING (campaign_id, conversation_id) WHERE package_id = %s ORDER BY position
"""
_SAVE = """
    INSERT INTO annotation.answers (assignment_id, position, answer, step, version, first_saved_at, saved_at)
    SELECT id, %(position)s, %(answer)s, 2, 1, now(), now() FROM annotation.assignments
    WHERE id = %(assignment)s AND state = 'leased'
    ON CONFLICT (assignment_id, position) DO UPDATE
        SET answer = excluded.answer, version = answers.version + 1, saved_at = now()
    RETURNING version
"""
_SUBMIT = """
    UPDATE annotation.assignments SET state = 'submitted', submitted_at = now(), completion_code = %s
    WHERE id = %s AND state = 'leased' RETURNING campaign_id, package_id, annotator_id
"""
_ANNOTATIONS = """
    INSERT INTO annotation.annotations (id, campaign_id, item_id, assignment_id, annotator_id, answer)
    SELECT gen_random_uuid(), %(campaign)s, items.id, %(assignment)s, %(annotator)s, answer
    FROM annotation.answers JOIN annotation.items ON package_id = %(package)s AND items.position = answers.position
    WHERE assignment_id = %(assignment)s
"""
_COUNT = "UPDATE annotation.campaigns SET submitted = submitted + 1 WHERE id = %s"
Connection = AsyncConnection[DictRow]


class Claim(BaseModel):
    """Who asks for a package."""

    annotator: str


class Save(BaseModel):
    """The answer to an item."""

    answer: Answer


@asynccontextmanager
async def _live(app: FastAPI) -> AsyncIterator[None]:
    pool = AsyncConnectionPool(
        os.environ["DATABASE_URL"],
        connection_class=Connection,
        min_size=8,
        max_size=8,
        kwargs={"row_factory": dict_row},
        timeout=60,
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


@app.get("/readyz")
async def ready() -> dict[str, str]:
    """Say that the process serves."""
    return {"status": "ok"}


@app.post("/v1/campaigns/{campaign_id}/assignments", status_code=201)
async def claim(
    request: Request, campaign_id: UUID, body: Claim, authorization: Annotated[str, Header()]
) -> dict[str, Any]:
    """Lease a package and return its items."""
    async with request.app.state.pool.connection() as connection:
        await _authenticate(connection, authorization)
        found = await connection.execute(_ANNOTATOR, [uuid4(), campaign_id, body.annotator])
        annotator = (await found.fetchone())["id"]
        taken = await connection.execute(_PACKAGE, {"campaign": campaign_id, "annotator": annotator})
        package = await taken.fetchone()
        if package is None:
            raise HTTPException(409)
        await connection.execute(_SEEN, [annotator, package["id"]])
        assignment = uuid4()
        await connection.execute(_LEASE, [assignment, campaign_id, package["id"], annotator])
        items = await (await connection.execute(_ITEMS, [package["id"]])).fetchall()
    return {
        "id": assignment,
        "items": [
            {"position": item["position"], "turns": [*item["opening"], *item["turns"][: 2 * item["exchanges"]]]}
            for item in items
        ],
    }


@app.put("/v1/assignments/{assignment_id}/items/{position}")
async def save(
    request: Request, assignment_id: UUID, position: int, body: Save, authorization: Annotated[str, Header()]
) -> dict[str, Any]:
    """Store the answer to an item."""
    async with request.app.state.pool.connection() as connection:
        await _authenticate(connection, authorization)
        values = {"assignment": assignment_id, "position": position, "answer": Jsonb(body.answer)}
        row = await (await connection.execute(_SAVE, values)).fetchone()
    if row is None:
        raise HTTPException(409)
    return {"position": position, "version": row["version"]}


@app.post("/v1/assignments/{assignment_id}/submit")
async def submit(request: Request, assignment_id: UUID, authorization: Annotated[str, Header()]) -> dict[str, Any]:
    """End an assignment."""
    code = secrets.token_hex(6)
    async with request.app.state.pool.connection() as connection:
        await _authenticate(connection, authorization)
        row = await (await connection.execute(_SUBMIT, [code, assignment_id])).fetchone()
        if row is None:
            raise HTTPException(409)
        values = {
            "campaign": row["campaign_id"],
            "assignment": assignment_id,
            "annotator": row["annotator_id"],
            "package": row["package_id"],
        }
        await connection.execute(_ANNOTATIONS, values)
        await connection.execute(_COUNT, [row["campaign_id"]])
    return {"id": assignment_id, "completion_code": code}


if __name__ == "__main__":
    config = uvicorn.Config(app, http="httptools", access_log=False, log_config=None, server_header=False)
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
