"""Who looks at a page, as the sealed cookies of the request say."""

from starlette.requests import Request

from spotthebot.kit.web.sessions.sealed_cookie import SealedCookie
from spotthebot.web.domain.visitors import Annotator, SignedIn


def visitor_of(request: Request) -> SignedIn | None:
    """Return the person who signed in, if anybody did; opens the cookie once for each request."""
    if not hasattr(request.state, "visitor"):
        cookie: SealedCookie = request.app.state.sessions
        content = cookie.read(request)
        request.state.visitor = None if content is None else SignedIn.from_session(content)
    visitor: SignedIn | None = request.state.visitor
    return visitor


def annotator_of(request: Request) -> Annotator | None:
    """Return the person who came by an entry link, if anybody did."""
    cookie: SealedCookie = request.app.state.annotator_sessions
    content = cookie.read(request)
    return None if content is None else Annotator.from_session(content)
