"""`Idempotency-Key`: a POST that creates something can be repeated without creating it twice.

A request claims the key in the transaction of its effect, so that both are stored or neither is. Its answer is stored
in the same transaction. A request that needs another service asks this service first, without a transaction. A repeat
gets the stored answer, and does not ask the other service. Some requests ask another machine *after* they created
something: the registration of a bot probes it. They commit the claim together with the created thing, and store their
answer last. A repeat may find only the id of the created thing, without an answer: the first request still runs in
another process, or its process died. In this case the use case decides how to answer. The first stored answer is the
answer to all repeats.

A repeat with another method, query or body is refused. A repeat of a running request is refused at once, with the time
to try again. It neither waits nor holds a connection, so repeats of a hanging request do not slow down other requests.
Keys belong to a caller and a path, and are kept as long as a setting says (`kit/database/retention.py` deletes them).
"""

import hashlib
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Annotated, Any, Protocol
from uuid import UUID

from fastapi import Depends, Header, Request
from fastapi.dependencies.models import Dependant
from starlette.responses import Response

from spotthebot.kit.web.core.resources import core_of
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.claims import Claim, Replay
from spotthebot.kit.web.database.resources import database_of
from spotthebot.kit.web.database.sessions import Pool, Writing
from spotthebot.kit.web.database.tables import LONGEST_PATH

_NO_STATE: Mapping[str, Any] = {}


class Identified(Protocol):
    """A caller that can own idempotency keys."""

    @property
    def key_id(self) -> UUID: ...


IdempotencyKey = Annotated[
    str | None,
    Header(min_length=1, max_length=200, pattern=r"^[\x21-\x7e]+$", description="Makes a repeat harmless."),
]


def identity_of(request: Request, principal: Identified, key: str) -> dict[str, Any]:
    """Return the columns that identify a stored answer: caller, path and key."""
    path = request.scope["path"]
    if len(path) > LONGEST_PATH:
        path = hashlib.sha256(path.encode()).hexdigest()
    return {"principal": principal.key_id, "path": path, "key": key}


async def fingerprint_of(request: Request) -> bytes:
    """Return a hash of the parts of a request that a repeat must not change: method, query and body."""
    digest = hashlib.sha256()
    for part in (request.method.encode(), request.scope["query_string"], await request.body()):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()


class IdempotentRoute(CheckedRoute):
    """The route class of routers whose POSTs create something. It stores the response before the transaction commits.

    If this process is still answering the first request, a repeat is refused here, before it takes a connection.
    """

    def admit(self, request: Request) -> None:
        key = request.headers.get("Idempotency-Key")
        principal: Identified | None = request.scope.get("state", _NO_STATE).get("principal")
        if key is not None and principal is not None and self._honours_keys:
            running = database_of(request.app).running_requests
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
                database_of(request.app).running_requests.end(request)
            return response

        return handler


def _honours_keys(dependant: Dependant) -> bool:
    return any(header.alias == "idempotency-key" for header in dependant.header_params) or any(
        map(_honours_keys, dependant.dependencies)
    )


async def _claim(request: Request, database: Pool, principal: Identified, key: str | None) -> Claim:
    held = database_of(request.app)
    if held.idempotency_table is None:
        message = "this application has no table of idempotency keys"
        raise LookupError(message)
    identity = None if key is None else identity_of(request, principal, key)
    claim = Claim(
        database,
        held.idempotency_table,
        core_of(request.app).clock,
        identity,
        await fingerprint_of(request),
        held.idempotency_kept,
    )
    request.state.idempotency = claim
    return claim


def idempotent(principal_dependency: Callable[..., Any]) -> Callable[..., Any]:
    """Return a dependency that first claims the key in the header.

    `principal_dependency` admits and returns the caller.
    """

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
    """Return a dependency that yields the caller's claim.

    A use case commits the claim together with the created thing.
    """

    async def claim(
        request: Request,
        database: Pool,
        principal: Annotated[Identified, Depends(principal_dependency)],
        idempotency_key: IdempotencyKey = None,
    ) -> Claim:
        return await _claim(request, database, principal, idempotency_key)

    return claim


def asking_first(principal_dependency: Callable[..., Any]) -> Callable[..., Any]:
    """Return a dependency for endpoints that first ask other services and `begin` their transaction afterwards.

    A repeat is answered here, so that no other service is asked again.
    """
    make = early_claim(principal_dependency)

    async def claim(made: Annotated[Claim, Depends(make)]) -> AsyncIterator[Claim]:
        await made.find_created()
        async with made.transactions:
            yield made

    return claim
