"""What the pages of annotators share: their own packages, and texts in their language."""

from typing import Any
from uuid import UUID

from fastapi import Request

from spotthebot.clients import AsyncAnnotation
from spotthebot.contracts.annotation.assignments import AssignmentOut
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.web.domain.errors import NotYourPackage
from spotthebot.web.domain.protocols import worded
from spotthebot.web.domain.visitors import Annotator
from spotthebot.web.rendering import Renderer


async def get_own_package(service: AsyncAnnotation, assignment_id: UUID, annotator: Annotator) -> AssignmentOut:
    """Return a package of this annotator; raises NotYourPackage."""
    found = await service.get_assignment(assignment_id)
    if (found.campaign_id, found.annotator) != (annotator.campaign_id, annotator.annotator):
        raise NotYourPackage
    return found


def worded_for(request: Request, pages: Renderer, protocol: AnnotationProtocol) -> AnnotationProtocol:
    """Return a protocol in the visitor's language, where it is a built-in one."""
    texts = pages.texts_for(request)
    return worded(protocol, lambda sentence: texts.of_service("protocols", sentence, sentence))


def script_texts(request: Request, pages: Renderer) -> dict[str, Any]:
    """Return the texts of the scripts in the visitor's language."""
    return pages.texts_for(request).group("annotate_scripts")
