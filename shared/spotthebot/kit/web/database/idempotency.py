"""`Idempotency-Key`: a POST that creates can be sent again without creating twice.

The first request claims the key in the same transaction as its effect, so that either both are there or neither.
A second one with the same key waits for that transaction, then gets the stored answer; with another body it is
refused. Keys belong to a caller and a path, and are kept for 24 hours. A request that asks
other machines before it answers uses `early_claims` instead.
"""

import hashlib
from collections.abc import Callable, Coroutine, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Protocol
from uuid import UUID

from fastapi import Depends, Header, Request
from fastapi.routing import APIRoute
from sqlalchemy import (
    Column,
    DateTime,
    Index,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Uuid,
    delete,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from starlette.responses import JSONResponse, Response

from spotthebot.kit.database import WriteSession
from spotthebot.kit.errors import Invalid
from spotthebot.kit.web.core.times import Now
from spotthebot.kit.web.database.sessions import Writing

KEPT = timedelta(hours=24)
_PURGED_AT_ONCE = 100
_NO_STATE: Mapping[str, Any] = {}


class IdempotencyKeyReused(Invalid):
    """This Idempotency-Key was used for another request: send a new key with a new body."""

    title = "Idempotency-Key reused"


def idempotency_table(metadata: MetaData, *, early_claims: bool = False) -> Table:
    """Add the table of answers to a service's schema; `early_claims` store the id of what was created."""
    return Table(
        "idempotency_keys",
        metadata,
        Column("principal", Uuid, primary_key=True),
        Column("path", String(500), primary_key=True),
        Column("key", String(200), primary_key=True),
        Column("body_sha256", LargeBinary, nullable=False),
        Column("status", SmallInteger),
        Column("body", LargeBinary),
        Column("created_at", DateTime(timezone=True), nullable=False),
        *([Column("created", Uuid)] if early_claims else []),
        Index("ix_idempotency_keys_created_at", "created_at"),
    )


class Identified(Protocol):
    """A caller to whom idempotency keys belong."""

    @property
    def key_id(self) -> UUID: ...


IdempotencyKey = Annotated[
    str | None,
    Header(min_length=1, max_length=200, pattern=r"^[\x21-\x7e]+$", description="Makes a repeat harmless."),
]


class Replay(Exception):
    """Ends a request with the answer that an earlier one with the same key got."""

    def __init__(self, status: int, body: bytes) -> None:
        headers = {"Idempotency-Replayed": "true"}
        self.response = Response(body, status, headers, media_type="application/json")


class Claim:
    """A claim of a key inside the transaction of its effect."""

    def __init__(self, session: WriteSession, table: Table, identity: dict[str, Any]) -> None:
        self._session, self._table, self._identity = session, table, identity

    async def acquire(self, body_sha256: bytes, now: datetime) -> None:
        """Claim the key, or end the request with the stored answer; raises IdempotencyKeyReused."""
        if not await self.insert(body_sha256, now):
            await self._answer_again(body_sha256)

    async def insert(self, body_sha256: bytes, now: datetime, **more: object) -> bool:
        """Claim the key unless a request did within 24 hours; wait for one that is doing so. Drop some old keys."""
        table = self._table
        old = select(table.c.principal, table.c.path, table.c.key).where(table.c.created_at < now - KEPT)
        purged = old.limit(_PURGED_AT_ONCE).with_for_update(skip_locked=True).subquery()
        await self._session.execute(
            delete(table).where(
                table.c.principal == purged.c.principal,
                table.c.path == purged.c.path,
                table.c.key == purged.c.key,
            )
        )
        claimed = await self._session.execute(
            insert(table)
            .values(**self._identity, body_sha256=body_sha256, created_at=now, **more)
            .on_conflict_do_update(
                index_elements=[table.c.principal, table.c.path, table.c.key],
                set_={"body_sha256": body_sha256, "status": None, "body": None, "created_at": now, **more},
                where=table.c.created_at < now - KEPT,
            )
            .returning(table.c.key)
        )
        return claimed.first() is not None

    async def _answer_again(self, body_sha256: bytes) -> None:
        row = (await self._session.execute(select(self._table).where(*self._mine()))).one()
        if row.body_sha256 != body_sha256:
            raise IdempotencyKeyReused
        raise Replay(row.status, row.body)

    async def store(self, response: Response) -> None:
        kept = response.kept if isinstance(response, ShownOnce) else response.body
        await self._session.execute(
            update(self._table).where(*self._mine()).values(status=response.status_code, body=bytes(kept))
        )

    def _mine(self) -> list[Any]:
        return [self._table.c[name] == value for name, value in self._identity.items()]


class ShownOnce(JSONResponse):
    """A response whose `secret` only the first request gets: it is not stored, and a repeat gets null in its place."""

    def render(self, content: Any) -> bytes:  # noqa: ANN401 - JSON, as the base class has it
        self.kept = super().render(content | {"secret": None})
        return super().render(content)


class StoresAnswer(Protocol):
    """A claim that gets the answer of its request."""

    async def store(self, response: Response) -> None: ...


class IdempotentRoute(APIRoute):
    """The route class of routers with POSTs that create: stores the response before the transaction commits."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                response = await handle(request)
                claim: StoresAnswer | None = request.scope.get("state", _NO_STATE).get("idempotency")
                if claim is not None and response.status_code < 400:
                    await claim.store(response)
            except Replay as replay:
                return replay.response
            return response

        return handler


def idempotent(principal_dependency: Callable[..., Any]) -> Callable[..., Any]:
    """Make a dependency that honours the header, for callers whom `principal_dependency` lets in."""

    async def claim(
        request: Request,
        session: Writing,
        now: Now,
        principal: Annotated[Identified, Depends(principal_dependency)],
        idempotency_key: IdempotencyKey = None,
    ) -> Identified:
        if idempotency_key is not None:
            table: Table = request.app.state.idempotency_table
            identity = {"principal": principal.key_id, "path": request.url.path, "key": idempotency_key}
            request.state.idempotency = Claim(session, table, identity)
            await request.state.idempotency.acquire(hashlib.sha256(await request.body()).digest(), now)
        return principal

    return claim
