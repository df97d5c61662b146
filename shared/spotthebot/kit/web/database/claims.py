"""The claim of one `Idempotency-Key`, made in the transaction of the request's effect."""

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
    """Ends a request with the stored answer of an earlier request with the same key."""

    def __init__(self, status: int, body: bytes) -> None:
        headers = {"Idempotency-Replayed": "true"}
        self.response = Response(body, status, headers, media_type="application/json")


@dataclass(frozen=True)
class Created:
    """The id of the thing that an earlier request with this key created, and how long ago it did so."""

    id: UUID
    age: timedelta


class KeyClaimed(Exception):
    """Another request claimed this Idempotency-Key a moment ago; `find_created` returns the thing that it created."""


@dataclass
class Claim:
    """One request's claim of an idempotency key. Without the header there is no `identity`, and nothing is claimed."""

    database: Database
    table: Table
    clock: Clock
    identity: dict[str, Any] | None
    request_sha256: bytes
    kept: timedelta
    transactions: AsyncExitStack = field(default_factory=AsyncExitStack)
    """Transactions that are committed before the response is sent, but after its answer is stored."""

    def __post_init__(self) -> None:
        self._session: WriteSession | None = None
        self._is_repeat = False
        self._is_final = True

    async def begin(self) -> WriteSession:
        """Begin the request's transaction and claim its `Idempotency-Key` there; raises the errors of `commit_with`."""
        session = await self.transactions.enter_async_context(self.database.write())
        await self.commit_with(session)
        return session

    async def commit_with(self, session: WriteSession, created_id: UUID | None = None) -> None:
        """Claim the key in the transaction of the request's effect.

        With `created_id` the answer is stored after the commit, otherwise in this transaction. If an answer is already
        stored, the request ends with this answer. Raises IdempotencyKeyReused. Raises KeyClaimed if another request
        created something and has no answer yet. Raises RequestUnderWay if a transaction of another process is claiming
        the key.
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
        """Return what an earlier request with this key created; None if there is no such request.

        If an answer is already stored, the request ends with this answer. Raises IdempotencyKeyReused.
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
        """Send this answer without storing it. A later repeat of the request will get a better answer."""
        self._is_final = False

    async def store(self, response: Response) -> None:
        """Store the answer. If another answer was stored first, end the request with the stored answer."""
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
    """A response whose `secret` only the first request gets.

    The secret is not stored: a repeat gets null instead of it.
    """

    def render(self, content: Any) -> bytes:  # noqa: ANN401 - JSON, as the base class has it
        self.kept = super().render(content | {"secret": None})
        return super().render(content)
