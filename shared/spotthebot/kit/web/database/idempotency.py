"""`Idempotency-Key`: a POST that creates can be sent again without creating twice.

A request claims the key in the transaction of its effect, so that either both are there or neither. Its answer is
stored in the same transaction. A request that needs another service asks it first, without a transaction; a repeat
gets the stored answer before that. A request whose answer depends on another machine that it asks *after* it created
something (a probe of a bot) commits the claim together with what it creates, and stores its answer last. A repeat finds
the answer, or only the id of what was created: then the first request runs in another process, or its process died.
The use case decides what to answer then. The answer that is stored first is the answer to all of them.

A repeat with another method, query or body is refused. A repeat of a request that is still running is refused at once
and told when to come back: it waits for nothing and holds no connection, so that repeats of a request that hangs take
nothing from others. Keys belong to a caller and a path, and are kept as long as a setting says
(`kit/database/retention.py` deletes them).
"""

import hashlib
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Annotated, Any, Protocol
from uuid import UUID

from fastapi import Depends, Header, Request
from fastapi.dependencies.models import Dependant
from starlette.responses import Response

from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.claims import Claim, Replay, RequestUnderWay
from spotthebot.kit.web.database.sessions import Pool, Writing
from spotthebot.kit.web.database.tables import LONGEST_PATH

_NO_STATE: Mapping[str, Any] = {}


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
                claim: Claim | None = request.scope.get("state", _NO_STATE).get("idempotency")
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


async def _claim(request: Request, database: Pool, principal: Identified, key: str | None) -> Claim:
    state = request.app.state
    identity = None if key is None else identity_of(request, principal, key)
    claim = Claim(
        database, state.idempotency_table, state.clock, identity, await fingerprint_of(request), state.idempotency_kept
    )
    request.state.idempotency = claim
    return claim


def idempotent(principal_dependency: Callable[..., Any]) -> Callable[..., Any]:
    """Make a dependency that claims the header's key first of all, for callers whom `principal_dependency` lets in."""

    async def claim(
        request: Request,
        database: Pool,
        session: Writing,
        principal: Annotated[Identified, Depends(principal_dependency)],
        idempotency_key: IdempotencyKey = None,
    ) -> Identified:
        if idempotency_key is not None:
            await (await _claim(request, database, principal, idempotency_key)).commit_with(session)
        return principal

    return claim


def early_claim(principal_dependency: Callable[..., Any]) -> Callable[..., Any]:
    """Make a dependency that gives callers their claim, which a use case commits with what it creates."""

    async def claim(
        request: Request,
        database: Pool,
        principal: Annotated[Identified, Depends(principal_dependency)],
        idempotency_key: IdempotencyKey = None,
    ) -> Claim:
        return await _claim(request, database, principal, idempotency_key)

    return claim


def asking_first(principal_dependency: Callable[..., Any]) -> Callable[..., Any]:
    """Make a dependency for endpoints that ask other services and then `begin` their transaction.

    A repeat is answered here: nobody is asked again.
    """
    make = early_claim(principal_dependency)

    async def claim(made: Annotated[Claim, Depends(make)]) -> AsyncIterator[Claim]:
        await made.find_created()
        async with made.transactions:
            yield made

    return claim
