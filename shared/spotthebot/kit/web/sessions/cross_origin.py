"""Refuses requests that a page of another site makes in a visitor's name (cross-site request forgery).

Browsers state the origin of a request: in `Sec-Fetch-Site` since 2023 (Fetch Metadata, W3C), earlier in `Origin`. A
request with neither header does not come from a browser, so it carries no visitor's cookie. So pages need no tokens.
"""

from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from spotthebot.kit.errors import Forbidden
from spotthebot.kit.web.core.error_responses import ErrorResponses

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class CrossOriginRequest(Forbidden):
    """This request was made by a page of another site: open the page here and try again."""

    title = "Request of another site"


class CrossOriginGuard:
    """The middleware that accepts changes only from pages of this application's own origin."""

    def __init__(self, app: ASGIApp, *, error_responses: ErrorResponses, own_hosts: Iterable[str] = ()) -> None:
        """Set the application's own hosts: the `Host` of each request, and `own_hosts`, such as the host of a proxy."""
        self._app = app
        self._error_responses = error_responses
        self._own_hosts = frozenset(own_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in _SAFE_METHODS and self._is_foreign(Headers(scope=scope)):
            respond = self._error_responses.respond(Request(scope), CrossOriginRequest())
            await respond(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_foreign(self, headers: Headers) -> bool:
        site = headers.get("sec-fetch-site")
        if site is not None:
            return site not in {"same-origin", "none"}
        origin = headers.get("origin")
        if origin is None:
            return False
        host = host_of(origin)
        return host != headers.get("host") and host not in self._own_hosts


def host_of(address: str) -> str:
    """Return the host of an origin or a URL, with its port. For another text the result is useless, but never an error.

    >>> host_of("https://spot.example.org:8100/pages"), host_of("http://["), host_of("null")
    ('spot.example.org:8100', '[', '')
    """
    return address.partition("://")[2].partition("/")[0]
