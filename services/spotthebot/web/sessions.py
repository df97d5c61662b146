"""Reads the visitor of a page from the sealed cookies of the request."""

from dataclasses import dataclass

from starlette.requests import Request

from spotthebot.kit.serving.connections import network_of
from spotthebot.kit.web.core.rate_limits import RateLimiter
from spotthebot.kit.web.sessions.sealed_cookie import SealedCookie
from spotthebot.web.visitors.domain import Annotator, SignedIn
from spotthebot.web.visitors.errors import TooManyFailedLinks


@dataclass(frozen=True)
class VisitorResources:
    """The sealed cookies of signed-in people, of annotators and of people who chat; and limits on their requests."""

    sessions: SealedCookie
    annotator_sessions: SealedCookie
    chat_sessions: SealedCookie
    sign_ins: SealedCookie
    """Sign-ins at an OpenID provider that have begun."""
    request_limits: RateLimiter
    """Limits the requests of each annotator and of each person who chats."""
    failed_links: RateLimiter
    """Limits the invalid links from each network address."""


def visitors_of(request: Request) -> VisitorResources:
    """Return the application's cookies and limits."""
    visitors: VisitorResources = request.app.state.resources.visitors
    return visitors


def visitor_of(request: Request) -> SignedIn | None:
    """Return the person who signed in; None without a valid cookie. The cookie is opened once for each request."""
    if not hasattr(request.state, "visitor"):
        request.state.visitor = visitors_of(request).sessions.read_as(request, SignedIn.from_session)
    visitor: SignedIn | None = request.state.visitor
    return visitor


def count_request(request: Request, person: str) -> None:
    """Count a request by an annotator or by a person who chats; raises TooMany if the person makes too many.

    A request is counted once. The services can't limit single annotators, since they see one key for all annotators.
    """
    if not hasattr(request.state, "is_counted"):
        request.state.is_counted = True
        visitors_of(request).request_limits.acquire(person).enforce()


def count_failed_link(request: Request) -> None:
    """Count an invalid link; raises TooManyFailedLinks if too many invalid links came from the same network address.

    Valid links are not counted, so that people who share one address do not delay each other.
    """
    wait = visitors_of(request).failed_links.acquire(network_of(address_of(request))).retry_after_seconds
    if wait:
        raise TooManyFailedLinks(retry_after_seconds=wait)


def address_of(request: Request) -> str:
    """Return the network address that sent the request."""
    return request.client.host if request.client else ""


def annotator_of(request: Request) -> Annotator | None:
    """Return the annotator who opened an entry link; None without a valid cookie."""
    return visitors_of(request).annotator_sessions.read_as(request, Annotator.from_session)
