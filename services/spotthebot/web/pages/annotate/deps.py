"""What the pages of annotators share: the annotation service with the frontend's key, and whose packages are."""

from typing import Annotated, Any

from fastapi import Depends, Request

from spotthebot.clients import AsyncAnnotation
from spotthebot.web.ownership import PackageOwners
from spotthebot.web.pages.deps import ServicesOfFrontend
from spotthebot.web.rendering import Renderer


async def _annotation(services: ServicesOfFrontend) -> AsyncAnnotation:
    return await services.annotation()


async def _owners(request: Request) -> PackageOwners:
    owners: PackageOwners = request.app.state.package_owners
    return owners


AnnotationService = Annotated[AsyncAnnotation, Depends(_annotation)]
Owners = Annotated[PackageOwners, Depends(_owners)]


def script_texts(request: Request, pages: Renderer) -> dict[str, Any]:
    """Return the texts of the scripts in the visitor's language."""
    return pages.texts_for(request).group("annotate_scripts")
