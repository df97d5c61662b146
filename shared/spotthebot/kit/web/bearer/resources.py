"""The objects on `app.state.bearer`, of an application that authenticates API keys."""

from dataclasses import dataclass

from fastapi import FastAPI

from spotthebot.kit.access.store import Authenticator
from spotthebot.kit.web.bearer.failed_keys import FailedKeys
from spotthebot.kit.web.core.rate_limits import RateLimiter


@dataclass(frozen=True)
class BearerResources:
    """The look-up of keys, the limit of failed keys, and rate limiters for frontends, services and other roles."""

    authenticator: Authenticator
    failed_keys: FailedKeys
    limiter: RateLimiter
    frontend_limiter: RateLimiter
    service_limiter: RateLimiter


def bearer_of(app: FastAPI) -> BearerResources:
    """Return the bearer resources of an application."""
    bearer: BearerResources = app.state.bearer
    return bearer
