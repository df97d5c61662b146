"""The claim of one `Idempotency-Key`, in the transaction of its effect."""

from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Row, Select, Table, func, select, update
from sqlalchemy.dialects.postgresql import insert
from starlette.responses import JSONResponse, Response

from spotthebot.kit.database.sessions import Database, WriteSession
from spotthebot.kit.errors import Conflict, Invalid
from spotthebot.kit.waits.clock import Clock


class RequestUnderWay(Conflict):
    """A request with this Idempotency-Key is still running: send it again in {retry_after_seconds} s for its answer."""

    title = "Request under way"


class IdempotencyKeyReused(Invalid):
    """This Idempotency-Key was used for another request: send a new key with a new body."""

    title = "Idempotency-Key reused"


class Replay(Exception):
    """Ends a request with the answer that an earlier one with the same key got."""

    def __init__(self, status: int, body: bytes) -> None:
        headers = {"Idempotency-Replayed": "true"}
        self.response = Response(body, status, headers, media_type="application/json")


@dataclass(frozen=True)
class Created:
    """What an earlier request with this key created, and how long ago."""

    id: UUID
    age: timedelta


class KeyClaimed(Exception):
    """Another request claimed this Idempotency-Key a moment ago: `find_created` says what it created."""


@dataclass
class Claim:
    """One request's claim of a key; without an `identity`, which the header gives, it claims nothing."""

    database: Database
    table: Table
    clock: Clock
    identity: dict[str, Any] | None
    request_sha256: bytes
    kept: timedelta
    transactions: AsyncExitStack = field(default_factory=AsyncExitStack)
    """Committed before the response is sent, but after its answer is stored."""

    def __post_init__(self) -> None:
        self._session: WriteSession | None = None
        self._is_repeat = False
        self._is_final = True

    async def begin(self) -> WriteSession:
        """Begin the request's transaction with the claim of the key; raises what `commit_with` does."""
        session = await self.transactions.enter_async_context(self.database.write())
        await self.commit_with(session)
        return session

    async def commit_with(self, session: WriteSession, created_id: UUID | None = None) -> None:
        """Claim the key in the transaction of its effect.

        With `created_id` the answer is stored after the commit, else in this transaction. Ends the request with the
        stored answer if there is one. Raises IdempotencyKeyReused, KeyClaimed if another request created something but
        has no answer yet, and RequestUnderWay where another process's transaction is claiming the key.
        """
        if self.identity is None:
            return
        table = self.table
        name = "/".join(("idempotency", table.schema or "", *map(str, self.identity.values())))
        lock = select(func.pg_try_advisory_xact_lock(func.hashtextextended(name, 0)))
        if not await session.scalar(lock):
            raise RequestUnderWay(retry_after_seconds=1)
        now = self.clock()
        values = {"request_sha256": self.request_sha256, "created_at": now}
        if created_id is not None:
            values["created"] = created_id
        claimed = await session.execute(
            insert(table)
            .values(**self.identity, **values)
            .on_conflict_do_update(
                index_elements=[table.c.principal, table.c.path, table.c.key],
                set_=values | {"status": None, "body": None},
                where=table.c.created_at < now - self.kept,
            )
            .returning(table.c.key)
        )
        if claimed.first() is None:
            self._end_with_answer((await session.execute(self._mine())).one())
            raise KeyClaimed
        if created_id is None:
            self._session = session

    async def find_created(self) -> Created | None:
        """Return what an earlier request with this key created; None if there was none.

        Ends the request with the stored answer if there is one. Raises IdempotencyKeyReused.
        """
        if self.identity is None:
            return None
        async with self.database.read() as session:
            row = (await session.execute(self._mine())).one_or_none()
        age = timedelta() if row is None else max(timedelta(), self.clock() - row.created_at)
        if row is None or age > self.kept:
            return None
        self._end_with_answer(row)
        self._is_repeat = True
        return Created(row.created, age)

    def leave_open(self) -> None:
        """Send this answer without storing it: a later repeat will find a better one."""
        self._is_final = False

    async def store(self, response: Response) -> None:
        """Store the answer, or end the request with the answer that was stored first."""
        if self._is_repeat:
            response.headers["Idempotency-Replayed"] = "true"
        if self.identity is None or not self._is_final:
            return
        kept = response.kept if isinstance(response, ShownOnce) else response.body
        values = {"status": response.status_code, "body": bytes(kept)}
        mine = [self.table.c[name] == value for name, value in self.identity.items()]
        statement = update(self.table).where(*mine, self.table.c.status.is_(None)).values(values)
        async with nullcontext(self._session) if self._session else self.database.write() as session:
            if (await session.execute(statement.returning(self.table.c.key))).first() is not None:
                return
            row = (await session.execute(self._mine())).one_or_none()
        if row is not None:
            raise Replay(row.status, row.body)

    def _mine(self) -> Select[Any]:
        return select(self.table).where(*(self.table.c[name] == value for name, value in (self.identity or {}).items()))

    def _end_with_answer(self, row: Row[Any]) -> None:
        if row.request_sha256 != self.request_sha256:
            raise IdempotencyKeyReused
        if row.status is not None:
            raise Replay(row.status, row.body)


class ShownOnce(JSONResponse):
    """A response whose `secret` only the first request gets: it is not stored, and a repeat gets null in its place."""

    def render(self, content: Any) -> bytes:  # noqa: ANN401 - JSON, as the base class has it
        self.kept = super().render(content | {"secret": None})
        return super().render(content)
