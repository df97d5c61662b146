"""The route class of every router: it checks the head of a request before the body is read, then the body.

FastAPI reads and parses a body before it resolves dependencies: a stranger's body would be kept in memory and parsed
before the API key is checked. Here the security dependencies of a route come first, then its parameters, then its body,
within limits (`bodies`).
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, suppress
from typing import Any, ClassVar, cast

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from fastapi.security.base import SecurityBase
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from spotthebot.kit.web.core.bodies import BodyLimits, LimitedRequest, has_body
from spotthebot.kit.web.core.bytes_under_way import BytesUnderWay, HeldBytes
from spotthebot.kit.web.core.parameters import check_parameters, query_names
from spotthebot.kit.web.core.resources import core_of

_SERVICE = "service"
"""The role of other services of the suite."""
Guard = Callable[[Request], Awaitable[object]]


class CheckedRoute(APIRoute):
    """Authenticates the caller, then checks the parameters, then reads the body within the route's declared limits.

    A security dependency runs here, and again when FastAPI resolves it. It stores its result in the request.
    """

    refuses_unknown_parameters: ClassVar[bool] = True

    def admit(self, request: Request) -> None:
        """Refuse requests whose body must not be read. Subclasses override this."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        guards = tuple(_guards(self.dependant))
        known = query_names(self.dependant)
        limits = BodyLimits.declared(self.openapi_extra)
        takes_json = self.body_field is not None

        async def checked(request: Request) -> Response:
            for guard in guards:
                await guard(request)
            check_parameters(request, known if self.refuses_unknown_parameters else None)
            self.admit(request)
            if not has_body(request):
                return await handle(request)
            limited = LimitedRequest(request, limits)
            if not takes_json:
                return await handle(limited)
            under_way = core_of(request.app).bytes_under_way
            with _held(under_way, limited) as held:
                held.add_values(body := await limited.body())
                async with under_way.parsing(body):
                    with suppress(ValueError):  # FastAPI parses it again, and answers that it is malformed
                        await limited.json()
                return await handle(limited)

        async def handler(request: Request) -> Response:
            try:
                return await checked(request)
            except ClientDisconnect:  # nobody reads the answer, and it should not be logged as our error
                raise HTTPException(400, "The body broke off") from None

        return handler


class PageRoute(CheckedRoute):
    """A route of a page. It accepts unknown query parameters, since other sites add parameters to links."""

    refuses_unknown_parameters = False


def _held(under_way: BytesUnderWay, request: LimitedRequest) -> AbstractContextManager[HeldBytes]:
    state = request.scope.get("state", {})
    caller = state.get("caller") or (request.client.host if request.client else "")
    is_ours = getattr(state.get("principal"), "role", None) == _SERVICE
    return under_way.held(caller, request.bytes_announced, is_ours=is_ours)


def _guards(dependant: Dependant) -> Iterator[Guard]:
    for each in dependant.dependencies:
        call: Any = each.call
        if isinstance(call, SecurityBase):
            yield cast("Guard", call)  # the base class does not say that its subclasses can be called
        yield from _guards(each)
