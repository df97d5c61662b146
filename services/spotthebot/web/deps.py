"""Dependencies of pages: the visitor, the services with the visitor's key, and the renderer."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request
from fastapi.openapi.models import APIKey, APIKeyIn
from fastapi.security.base import SecurityBase

from spotthebot.clients import AsyncAnnotation
from spotthebot.contracts.access import Role
from spotthebot.kit.web.sessions.sealed_cookie import SealedCookie
from spotthebot.web.clients import Services, services_with
from spotthebot.web.rendering import Renderer
from spotthebot.web.resources import resources_of
from spotthebot.web.sessions import annotator_of, count_request, visitor_of, visitors_of
from spotthebot.web.visitors.domain import Annotator, SignedIn
from spotthebot.web.visitors.errors import EntryLinkNeeded, NoAnnotationKey, NotForThisRole, SignInNeeded


async def _renderer(request: Request) -> Renderer:
    return resources_of(request).renderer


async def _sessions(request: Request) -> SealedCookie:
    return visitors_of(request).sessions


async def _annotator_sessions(request: Request) -> SealedCookie:
    return visitors_of(request).annotator_sessions


Pages = Annotated[Renderer, Depends(_renderer)]
Sessions = Annotated[SealedCookie, Depends(_sessions)]
AnnotatorSessions = Annotated[SealedCookie, Depends(_annotator_sessions)]


class SignedInAs(SecurityBase):
    """A dependency that admits people who signed in with a key of one of these roles.

    Like `Allow`, it runs before the request's body is read. The services check the key again at every request.
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
    """A dependency that admits an annotator who opened an entry link of the campaign `campaign_id` of the path."""

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
"""The person who signed in, or None. The header of the page shows the person."""
Visitor = Annotated[SignedIn, Depends(SignedInAs(Role.ADMIN, Role.ANALYST, Role.TEAM))]
Reader = Annotated[SignedIn, Depends(SignedInAs(Role.ADMIN, Role.ANALYST))]
Admin = Annotated[SignedIn, Depends(SignedInAs(Role.ADMIN))]
Team = Annotated[SignedIn, Depends(SignedInAs(Role.TEAM, Role.ADMIN))]
AnnotatorOfCampaign = Annotated[Annotator, Depends(EnteredCampaign())]


async def _own_services(request: Request, visitor: Visitor) -> AsyncIterator[Services]:
    async with services_with(resources_of(request).settings, visitor.key) as services:
        yield services


ServicesOfVisitor = Annotated[Services, Depends(_own_services)]
"""Clients of the services with the key of the person who signed in."""


async def _anyones_services(request: Request) -> Services:
    return resources_of(request).anyone


ServicesOfAnyone = Annotated[Services, Depends(_anyones_services)]
"""Clients of the services without a key, for public data."""


async def _frontend_services(request: Request) -> Services:
    services = resources_of(request).frontend
    if services is None:
        raise NoAnnotationKey
    return services


ServicesOfFrontend = Annotated[Services, Depends(_frontend_services)]
"""Clients of the services with the key of this annotation frontend."""


async def _annotation(services: ServicesOfFrontend) -> AsyncAnnotation:
    return await services.annotation()


AnnotationService = Annotated[AsyncAnnotation, Depends(_annotation)]
"""The client of `annotation` with the key of this annotation frontend."""
