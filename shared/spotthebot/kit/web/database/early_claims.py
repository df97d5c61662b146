"""Early claims of an `Idempotency-Key`: committed before the answer is known, for requests that ask other machines.

`idempotency` holds one transaction from the claim to the answer. A request that asks another machine in between may
hold none: it commits the claim together with what it creates, asks without a connection, and stores its answer last.
A repeat finds the answer, or only the id of what was created: then the first request runs in another process, or its
process died. The use case decides what to answer then. The answer that is stored first is the answer to all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Request
from sqlalchemy import Table, select, update
from starlette.responses import Response

from spotthebot.kit.clock import Clock
from spotthebot.kit.database import Database, WriteSession
from spotthebot.kit.web.database.idempotency import (
    Claim,
    IdempotencyKey,
    IdempotencyKeyReused,
    Identified,
    Replay,
    fingerprint_of,
    identity_of,
)
from spotthebot.kit.web.database.sessions import get_database


@dataclass(frozen=True)
class Created:
    """What an earlier request with this key created, and how long ago."""

    id: UUID
    age: timedelta


class KeyClaimed(Exception):
    """Another request claimed this Idempotency-Key a moment ago: `find_created` says what it created."""


@dataclass
class EarlyClaim:
    """One request's claim of a key; without an `identity`, which the header gives, it does nothing."""

    database: Database
    table: Table
    clock: Clock
    identity: dict[str, Any] | None
    request_sha256: bytes
    kept: timedelta

    def __post_init__(self) -> None:
        self._is_repeat = False
        self._is_final = True

    async def find_created(self) -> Created | None:
        """Return what an earlier request with this key created; None if there was none.

        Ends the request with the stored answer if there is one. Raises IdempotencyKeyReused.
        """
        if self.identity is None:
            return None
        async with self.database.read() as session:
            row = (await session.execute(select(self.table).where(*self._mine()))).one_or_none()
        age = timedelta() if row is None else max(timedelta(), self.clock() - row.created_at)
        if row is None or age > self.kept:
            return None
        if row.request_sha256 != self.request_sha256:
            raise IdempotencyKeyReused
        if row.status is not None:
            raise Replay(row.status, row.body)
        self._is_repeat = True
        return Created(row.created, age)

    async def commit_with(self, session: WriteSession, created_id: UUID) -> None:
        """Claim the key in the transaction that creates this; raises KeyClaimed if another request was first.

        Raises RequestUnderWay where another request is doing so.
        """
        if self.identity is None:
            return
        claim = Claim(session, self.table, self.identity, self.kept)
        if not await claim.insert(self.request_sha256, self.clock(), created=created_id):
            raise KeyClaimed

    def leave_open(self) -> None:
        """Send this answer without storing it: a later repeat will find a better one."""
        self._is_final = False

    async def store(self, response: Response) -> None:
        """Store the answer, or end the request with the answer that was stored first."""
        if self._is_repeat:
            response.headers["Idempotency-Replayed"] = "true"
        if self.identity is None or not self._is_final:
            return
        async with self.database.write() as session:
            statement = update(self.table).where(*self._mine(), self.table.c.status.is_(None))
            values = {"status": response.status_code, "body": bytes(response.body)}
            if (await session.execute(statement.values(values).returning(self.table.c.key))).first() is not None:
                return
            row = (await session.execute(select(self.table).where(*self._mine()))).one_or_none()
        if row is not None:
            raise Replay(row.status, row.body)

    def _mine(self) -> list[Any]:
        return [self.table.c[name] == value for name, value in (self.identity or {}).items()]


def early_claim(principal_dependency: Callable[..., Any]) -> Callable[..., Any]:
    """Make a dependency that gives callers whom `principal_dependency` lets in their claim."""

    async def claim(
        request: Request,
        database: Annotated[Database, Depends(get_database)],
        principal: Annotated[Identified, Depends(principal_dependency)],
        idempotency_key: IdempotencyKey = None,
    ) -> EarlyClaim:
        identity, state = None, request.app.state
        if idempotency_key is not None:
            identity = identity_of(request, principal, idempotency_key)
        fingerprint = await fingerprint_of(request)
        request.state.idempotency = EarlyClaim(
            database, state.idempotency_table, state.clock, identity, fingerprint, state.idempotency_kept
        )
        made: EarlyClaim = request.state.idempotency
        return made

    return claim
