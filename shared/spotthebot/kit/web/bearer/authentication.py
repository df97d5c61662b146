"""Authentication by API key: an endpoint names the roles that may call it with `allow(...)`."""

from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from spotthebot.kit.access.keys import Principal
from spotthebot.kit.access.store import authenticate
from spotthebot.kit.database import Database
from spotthebot.kit.errors import Forbidden, Unauthenticated
from spotthebot.kit.web.bearer.rate_limits import RateLimiter
from spotthebot.kit.web.core.times import Now
from spotthebot.kit.web.database.sessions import get_database

_SERVICE = "service"
"""The role of other services, which call more often than people and programs outside."""
_bearer = HTTPBearer(auto_error=False, scheme_name="API key", description="Made by `./stb keys create`.")


class RoleNotAllowed(Forbidden):
    """This API key has the role {role}; this needs one of: {allowed}."""


class Allow:
    """A dependency that lets in keys of the given roles, within their rate limit."""

    def __init__(self, *roles: str) -> None:
        self.roles = frozenset(roles)

    async def __call__(
        self,
        request: Request,
        credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
        database: Annotated[Database, Depends(get_database)],
        now: Now,
    ) -> Principal:
        if credentials is None:
            raise Unauthenticated
        async with database.read() as session:
            principal = await authenticate(session, credentials.credentials, now)
        request.state.caller = str(principal.key_id)
        state = request.app.state
        limiter: RateLimiter = state.service_rate_limiter if principal.role == _SERVICE else state.rate_limiter
        limit = limiter.acquire(request.state.caller)
        request.state.response_headers = limit.headers
        limit.enforce()
        if principal.role not in self.roles:
            raise RoleNotAllowed(role=principal.role, allowed=", ".join(sorted(self.roles)))
        return principal


def allow(*roles: str) -> Allow:
    """Name the roles that may call an endpoint; there is no role that may do everything."""
    return Allow(*roles)
