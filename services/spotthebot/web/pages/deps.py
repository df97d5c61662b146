"""Dependencies of pages: who looks at them, the services with the visitor's key, the renderer."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request
from fastapi.openapi.models import APIKey, APIKeyIn
from fastapi.security.base import SecurityBase

from spotthebot.clients import AsyncAnnotation
from spotthebot.contracts.access import Role
from spotthebot.kit.web.sessions.sealed_cookie import SealedCookie
from spotthebot.web.clients import Services, services_with
from spotthebot.web.domain.errors import EntryLinkNeeded, NoAnnotationKey, NotForThisRole, SignInNeeded
from spotthebot.web.domain.visitors import Annotator, SignedIn
from spotthebot.web.rendering import Renderer
from spotthebot.web.sessions import annotator_of, count_request, visitor_of


async def _renderer(request: Request) -> Renderer:
    renderer: Renderer = request.app.state.renderer
    return renderer


async def _sessions(request: Request) -> SealedCookie:
    sessions: SealedCookie = request.app.state.sessions
    return sessions


async def _annotator_sessions(request: Request) -> SealedCookie:
    sessions: SealedCookie = request.app.state.annotator_sessions
    return sessions


Pages = Annotated[Renderer, Depends(_renderer)]
Sessions = Annotated[SealedCookie, Depends(_sessions)]
AnnotatorSessions = Annotated[SealedCookie, Depends(_annotator_sessions)]


class SignedInAs(SecurityBase):
    """A dependency that lets in people who signed in with a key of one of these roles.

    Like `Allow`, it is called before a body is read. The services check the key at every request.
    """

    def __init__(self, *roles: Role) -> None:
        self.model = APIKey(**{"in": APIKeyIn.cookie, "name": "session"})
        self.scheme_name = "session"
        self.roles = frozenset(roles)

    async def __call__(self, request: Request) -> SignedIn:
        visitor = visitor_of(request)
        if visitor is None:
            raise SignInNeeded
        if visitor.role not in self.roles:
            raise NotForThisRole(role=visitor.role, allowed=", ".join(sorted(self.roles)))
        return visitor


class EnteredCampaign(SecurityBase):
    """A dependency that lets in the annotator who came into the campaign of the path (`campaign_id`) by a link."""

    def __init__(self) -> None:
        self.model = APIKey(**{"in": APIKeyIn.cookie, "name": "annotator"})
        self.scheme_name = "annotator"

    async def __call__(self, request: Request) -> Annotator:
        annotator = annotator_of(request)
        if annotator is None or str(annotator.campaign_id) != request.path_params["campaign_id"]:
            raise EntryLinkNeeded
        count_request(request, f"{annotator.campaign_id} {annotator.annotator}")
        return annotator


async def _visitor(request: Request) -> SignedIn | None:
    return visitor_of(request)


MaybeVisitor = Annotated[SignedIn | None, Depends(_visitor)]
"""Who signed in, if anybody did; the header of the page shows it."""
Visitor = Annotated[SignedIn, Depends(SignedInAs(Role.ADMIN, Role.ANALYST, Role.TEAM))]
Reader = Annotated[SignedIn, Depends(SignedInAs(Role.ADMIN, Role.ANALYST))]
Admin = Annotated[SignedIn, Depends(SignedInAs(Role.ADMIN))]
Team = Annotated[SignedIn, Depends(SignedInAs(Role.TEAM, Role.ADMIN))]
AnnotatorOfCampaign = Annotated[Annotator, Depends(EnteredCampaign())]


async def _own_services(request: Request, visitor: Visitor) -> AsyncIterator[Services]:
    async with services_with(request.app.state.settings, visitor.key) as services:
        yield services


ServicesOfVisitor = Annotated[Services, Depends(_own_services)]
"""The services, called with the key of the person who signed in."""


async def _anyones_services(request: Request) -> Services:
    services: Services = request.app.state.anyone
    return services


ServicesOfAnyone = Annotated[Services, Depends(_anyones_services)]
"""The services, called without a key: what they say to everybody."""


async def _frontend_services(request: Request) -> Services:
    services: Services | None = request.app.state.frontend
    if services is None:
        raise NoAnnotationKey
    return services


ServicesOfFrontend = Annotated[Services, Depends(_frontend_services)]
"""The services, called with the key of this annotation frontend."""


async def _annotation(services: ServicesOfFrontend) -> AsyncAnnotation:
    return await services.annotation()


AnnotationService = Annotated[AsyncAnnotation, Depends(_annotation)]
"""The service `annotation`, called with the key of this annotation frontend."""
