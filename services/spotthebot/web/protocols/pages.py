"""Translates protocols and the texts of scripts to the visitor's language."""

from typing import Any

from fastapi import Request

from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.web.protocols.domain import worded
from spotthebot.web.rendering import Renderer


def worded_for(request: Request, pages: Renderer, protocol: AnnotationProtocol) -> AnnotationProtocol:
    """Return a built-in protocol in the visitor's language. Other protocols are returned unchanged."""
    texts = pages.texts_for(request)
    return worded(protocol, lambda sentence: texts.of_service("protocols", sentence, sentence))


def script_texts(request: Request, pages: Renderer) -> dict[str, Any]:
    """Return the texts of the scripts in the visitor's language."""
    return pages.texts_for(request).group("annotate_scripts")
