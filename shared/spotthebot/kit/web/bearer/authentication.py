"""Authentication by API key: an endpoint names the roles that may call it with `allow(...)`."""

from fastapi import Request
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase

from spotthebot.kit.access.keys import Principal
from spotthebot.kit.access.store import Authenticator
from spotthebot.kit.errors import Forbidden, Unauthenticated
from spotthebot.kit.web.bearer.rate_limits import RateLimiter

_SERVICE = "service"
"""The role of other services, which call more often than people and programs outside."""


class RoleNotAllowed(Forbidden):
    """This API key has the role {role}; this needs one of: {allowed}."""


class Allow(SecurityBase):
    """A dependency that lets in keys of the given roles, within their rate limit.

    It is the security scheme of OpenAPI as well, and needs nothing but the request: every further dependency would cost
    each request some processor time.
    """

    def __init__(self, *roles: str) -> None:
        self.model = HTTPBearer(description="Made by `./stb keys create`.")
        self.scheme_name = "API key"
        self.roles = frozenset(roles)

    async def __call__(self, request: Request) -> Principal:
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not key:
            raise Unauthenticated
        state = request.app.state
        authenticator: Authenticator = state.authenticator
        principal = await authenticator.authenticate(key, state.clock())
        noted = request.scope.setdefault("state", {})  # `request.state`, without the objects around it
        noted["caller"] = caller = str(principal.key_id)
        limiter: RateLimiter = state.service_rate_limiter if principal.role == _SERVICE else state.rate_limiter
        limit = limiter.acquire(caller)
        noted["response_headers"] = limit.headers
        limit.enforce()
        if principal.role not in self.roles:
            raise RoleNotAllowed(role=principal.role, allowed=", ".join(sorted(self.roles)))
        return principal


def allow(*roles: str) -> Allow:
    """Name the roles that may call an endpoint; there is no role that may do everything."""
    return Allow(*roles)
