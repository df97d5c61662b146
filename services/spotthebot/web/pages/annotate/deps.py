"""What the pages of annotators share: the annotation service with the frontend's key, and whose packages are."""

from typing import Annotated, Any

from fastapi import Depends, Request

from spotthebot.clients import AsyncAnnotation
from spotthebot.contracts.protocols import AnnotationProtocol
from spotthebot.web.domain.protocols import worded
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


def worded_for(request: Request, pages: Renderer, protocol: AnnotationProtocol) -> AnnotationProtocol:
    """Return a protocol in the visitor's language, where it is a built-in one."""
    texts = pages.texts_for(request)
    return worded(protocol, lambda sentence: texts.of_service("protocols", sentence, sentence))


def script_texts(request: Request, pages: Renderer) -> dict[str, Any]:
    """Return the texts of the scripts in the visitor's language."""
    return pages.texts_for(request).group("annotate_scripts")
