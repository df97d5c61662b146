"""`Idempotency-Key`: a POST that creates can be sent again without creating twice.

The first request claims the key in the same transaction as its effect, so that either both are there or neither.
A repeat gets the stored answer; with another method, query or body it is refused. A repeat of a request that is still
running is refused at once and told when to come back: it waits for nothing and holds no connection, so that repeats of
a request that hangs take nothing from others. Keys belong to a caller and a path, and are kept as long as a setting
says (`kit/retention.py` deletes them). A request that asks other machines before it answers uses `early_claims`.
"""

import hashlib
from collections.abc import Callable, Coroutine, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Protocol
from uuid import UUID

from fastapi import Depends, Header, Request
from fastapi.dependencies.models import Dependant
from sqlalchemy import Table, func, select, update
from sqlalchemy.dialects.postgresql import insert
from starlette.responses import JSONResponse, Response

from spotthebot.kit.database import WriteSession
from spotthebot.kit.errors import Conflict, Invalid
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.core.times import Now
from spotthebot.kit.web.database.sessions import Writing
from spotthebot.kit.web.database.tables import LONGEST_PATH

_NO_STATE: Mapping[str, Any] = {}


class RequestUnderWay(Conflict):
    """A request with this Idempotency-Key is still running: send it again in {retry_after_seconds} s for its answer."""

    title = "Request under way"


class IdempotencyKeyReused(Invalid):
    """This Idempotency-Key was used for another request: send a new key with a new body."""

    title = "Idempotency-Key reused"


class Identified(Protocol):
    """A caller to whom idempotency keys belong."""

    @property
    def key_id(self) -> UUID: ...


IdempotencyKey = Annotated[
    str | None,
    Header(min_length=1, max_length=200, pattern=r"^[\x21-\x7e]+$", description="Makes a repeat harmless."),
]


class RunningRequests:
    """The requests with an Idempotency-Key that this process is answering."""

    def __init__(self) -> None:
        self._identities: set[tuple[UUID, str, str]] = set()

    def begin(self, request: Request, identity: Mapping[str, Any]) -> None:
        """Note a request until `end`; raises RequestUnderWay."""
        mine = (identity["principal"], identity["path"], identity["key"])
        if mine in self._identities:
            raise RequestUnderWay(retry_after_seconds=1)
        self._identities.add(mine)
        request.state.running = mine

    def end(self, request: Request) -> None:
        """Forget a request, if it was noted."""
        self._identities.discard(request.scope.get("state", _NO_STATE).get("running"))


def identity_of(request: Request, principal: Identified, key: str) -> dict[str, Any]:
    """Return whose key this is: the columns that find its answer."""
    path = request.scope["path"]
    if len(path) > LONGEST_PATH:
        path = hashlib.sha256(path.encode()).hexdigest()
    return {"principal": principal.key_id, "path": path, "key": key}


async def fingerprint_of(request: Request) -> bytes:
    """Return a hash of what has to be equal in a repeat: the method, the query and the body."""
    digest = hashlib.sha256()
    for part in (request.method.encode(), request.scope["query_string"], await request.body()):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()


class Replay(Exception):
    """Ends a request with the answer that an earlier one with the same key got."""

    def __init__(self, status: int, body: bytes) -> None:
        headers = {"Idempotency-Replayed": "true"}
        self.response = Response(body, status, headers, media_type="application/json")


class Claim:
    """A claim of a key inside the transaction of its effect."""

    def __init__(self, session: WriteSession, table: Table, identity: dict[str, Any], kept: timedelta) -> None:
        self._session, self._table, self._identity, self._kept = session, table, identity, kept

    async def acquire(self, request_sha256: bytes, now: datetime) -> None:
        """Claim the key, or end the request with the stored answer; raises IdempotencyKeyReused, RequestUnderWay."""
        if not await self.insert(request_sha256, now):
            await self._answer_again(request_sha256)

    async def insert(self, request_sha256: bytes, now: datetime, **more: object) -> bool:
        """Claim the key unless a request did within the time that keys are kept.

        Raises RequestUnderWay where another process's transaction is claiming it.
        """
        table = self._table
        name = "/".join(("idempotency", table.schema or "", *map(str, self._identity.values())))
        lock = select(func.pg_try_advisory_xact_lock(func.hashtextextended(name, 0)))
        if not await self._session.scalar(lock):
            raise RequestUnderWay(retry_after_seconds=1)
        claimed = await self._session.execute(
            insert(table)
            .values(**self._identity, request_sha256=request_sha256, created_at=now, **more)
            .on_conflict_do_update(
                index_elements=[table.c.principal, table.c.path, table.c.key],
                set_={"request_sha256": request_sha256, "status": None, "body": None, "created_at": now, **more},
                where=table.c.created_at < now - self._kept,
            )
            .returning(table.c.key)
        )
        return claimed.first() is not None

    async def _answer_again(self, request_sha256: bytes) -> None:
        row = (await self._session.execute(select(self._table).where(*self._mine()))).one()
        if row.request_sha256 != request_sha256:
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


class IdempotentRoute(CheckedRoute):
    """The route class of routers with POSTs that create: stores the response before the transaction commits.

    A repeat of a request that this process is answering is refused here, before it takes a connection.
    """

    def admit(self, request: Request) -> None:
        key = request.headers.get("Idempotency-Key")
        principal: Identified | None = request.scope.get("state", _NO_STATE).get("principal")
        if key is not None and principal is not None and self._honours_keys:
            running: RunningRequests = request.app.state.running_requests
            running.begin(request, identity_of(request, principal, key))

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        self._honours_keys = _honours_keys(self.dependant)

        async def handler(request: Request) -> Response:
            try:
                response = await handle(request)
                claim: StoresAnswer | None = request.scope.get("state", _NO_STATE).get("idempotency")
                if claim is not None and response.status_code < 400:
                    await claim.store(response)
            except Replay as replay:
                return replay.response
            finally:
                running: RunningRequests = request.app.state.running_requests
                running.end(request)
            return response

        return handler


def _honours_keys(dependant: Dependant) -> bool:
    return any(header.alias == "idempotency-key" for header in dependant.header_params) or any(
        map(_honours_keys, dependant.dependencies)
    )


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
            identity = identity_of(request, principal, idempotency_key)
            request.state.idempotency = Claim(session, table, identity, request.app.state.idempotency_kept)
            await request.state.idempotency.acquire(await fingerprint_of(request), now)
        return principal

    return claim
