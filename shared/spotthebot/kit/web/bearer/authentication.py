"""Authentication by API key: an endpoint names the roles that may call it with `allow(...)`."""

from typing import Any

from fastapi import Request
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase

from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database.pool_shares import PoolUser, pool_user
from spotthebot.kit.errors import Forbidden, Unauthenticated
from spotthebot.kit.web.bearer.resources import bearer_of
from spotthebot.kit.web.core.resources import core_of

_SERVICE = "service"
"""The role of other services, which call more often than people and outside programs."""
_FRONTEND = "annotation"
"""The role of annotation frontends, each of which calls for hundreds of people."""


class RoleNotAllowed(Forbidden):
    """This API key has the role {role}; this needs one of: {allowed}."""


class Allow(SecurityBase):
    """A dependency that admits API keys with the given roles, within their rate limit.

    It is also the security scheme in OpenAPI. It depends only on the request, since every further dependency would cost
    each request some processor time. `CheckedRoute` calls it before the body is read, and FastAPI calls it again. The
    key is looked up and counted only once.
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
        bearer = bearer_of(request.app)
        try:
            principal = await self.identify(request)
        except Unauthenticated:
            bearer.failed_keys.count(request.client.host if request.client else "")
            raise
        noted["caller"] = caller = str(principal.key_id)
        if principal.role != _SERVICE:
            pool_user.set(PoolUser(caller))
        limiters = {_SERVICE: bearer.service_limiter, _FRONTEND: bearer.frontend_limiter}
        limit = limiters.get(principal.role, bearer.limiter).acquire(caller)
        noted["response_headers"] = limit.headers
        limit.enforce()
        return principal

    def admits(self, principal: Principal) -> bool:
        """Return whether a caller may continue. A subclass may also admit callers without a key."""
        return principal.role in self.roles

    async def identify(self, request: Request) -> Principal:
        """Return the caller whose key is in the request; raises Unauthenticated.

        A subclass may accept other kinds of keys.
        """
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not key:
            raise Unauthenticated
        app = request.app
        return await bearer_of(app).authenticator.authenticate(key, core_of(app).clock())


def allow(*roles: str) -> Allow:
    """Return a dependency that admits the given roles to an endpoint. No role is admitted everywhere."""
    return Allow(*roles)
