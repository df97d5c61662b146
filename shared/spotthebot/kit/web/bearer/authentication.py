"""Authentication by API key: an endpoint names the roles that may call it with `allow(...)`."""

from typing import Any

from fastapi import Request
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase

from spotthebot.kit.access.keys import Principal
from spotthebot.kit.access.store import Authenticator
from spotthebot.kit.database.pool_shares import PoolUser, pool_user
from spotthebot.kit.errors import Forbidden, Unauthenticated
from spotthebot.kit.web.bearer.failed_keys import FailedKeys
from spotthebot.kit.web.core.rate_limits import RateLimiter

_SERVICE = "service"
"""The role of other services, which call more often than people and programs outside."""
_FRONTEND = "annotation"
"""The role of frontends, one of which calls for hundreds of people."""


class RoleNotAllowed(Forbidden):
    """This API key has the role {role}; this needs one of: {allowed}."""


class Allow(SecurityBase):
    """A dependency that lets in keys of the given roles, within their rate limit.

    It is the security scheme of OpenAPI as well, and needs nothing but the request: every further dependency would cost
    each request some processor time. `CheckedRoute` calls it before the body is read, FastAPI once more; the key is
    looked up and counted once.
    """

    def __init__(self, *roles: str) -> None:
        self.model = HTTPBearer(description="Made by `./stb keys create`.")
        self.scheme_name = "API key"
        self.roles = frozenset(roles)

    async def __call__(self, request: Request) -> Principal:
        noted = request.scope.setdefault("state", {})  # `request.state`, without the objects around it
        principal: Principal | None = noted.get("principal")
        if principal is None:
            principal = noted["principal"] = await self._authenticate(request, noted)
        if not self.admits(principal):
            raise RoleNotAllowed(role=principal.role, allowed=", ".join(sorted(self.roles)))
        return principal

    async def _authenticate(self, request: Request, noted: dict[str, Any]) -> Principal:
        state = request.app.state
        try:
            principal = await self.identify(request)
        except Unauthenticated:
            failed: FailedKeys = state.failed_keys
            failed.count(request.client.host if request.client else "")
            raise
        noted["caller"] = caller = str(principal.key_id)
        if principal.role != _SERVICE:
            pool_user.set(PoolUser(caller))
        limiters = {_SERVICE: state.service_rate_limiter, _FRONTEND: state.frontend_rate_limiter}
        limiter: RateLimiter = limiters.get(principal.role, state.rate_limiter)
        limit = limiter.acquire(caller)
        noted["response_headers"] = limit.headers
        limit.enforce()
        return principal

    def admits(self, principal: Principal) -> bool:
        """Say whether a caller may go on; a subclass may admit callers who have no key."""
        return principal.role in self.roles

    async def identify(self, request: Request) -> Principal:
        """Return the caller whose key a request carries; raises Unauthenticated. A subclass may know other keys."""
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not key:
            raise Unauthenticated
        authenticator: Authenticator = request.app.state.authenticator
        return await authenticator.authenticate(key, request.app.state.clock())


def allow(*roles: str) -> Allow:
    """Name the roles that may call an endpoint; there is no role that may do everything."""
    return Allow(*roles)
