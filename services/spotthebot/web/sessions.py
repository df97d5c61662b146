"""Who looks at a page, as the sealed cookies of the request say."""

from starlette.requests import Request

from spotthebot.kit.serving.connections import network_of
from spotthebot.kit.web.core.rate_limits import RateLimiter
from spotthebot.kit.web.sessions.sealed_cookie import SealedCookie
from spotthebot.web.domain.errors import TooManyFailedLinks
from spotthebot.web.domain.visitors import Annotator, SignedIn


def visitor_of(request: Request) -> SignedIn | None:
    """Return the person who signed in, if anybody did; opens the cookie once for each request."""
    if not hasattr(request.state, "visitor"):
        cookie: SealedCookie = request.app.state.sessions
        request.state.visitor = cookie.read_as(request, SignedIn.from_session)
    visitor: SignedIn | None = request.state.visitor
    return visitor


def count_request(request: Request, person: str) -> None:
    """Count a request of an annotator, or of a person who chats, once; raises TooMany where they make too many.

    The services see one key for all of them.
    """
    if not hasattr(request.state, "is_counted"):
        request.state.is_counted = True
        limits: RateLimiter = request.app.state.annotator_limits
        limits.acquire(person).enforce()


def count_failed_link(request: Request) -> None:
    """Count a link that opened nothing; raises TooManyFailedLinks where too many came from its address.

    Links that open something are not counted: people behind one address do not wait for each other.
    """
    limits: RateLimiter = request.app.state.failed_links
    wait = limits.acquire(network_of(address_of(request))).retry_after_seconds
    if wait:
        raise TooManyFailedLinks(retry_after_seconds=wait)


def address_of(request: Request) -> str:
    """Return the network address that a request came from."""
    return request.client.host if request.client else ""


def annotator_of(request: Request) -> Annotator | None:
    """Return the person who came by an entry link, if anybody did."""
    cookie: SealedCookie = request.app.state.annotator_sessions
    return cookie.read_as(request, Annotator.from_session)
