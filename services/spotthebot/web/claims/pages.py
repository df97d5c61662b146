"""Writes the phrases of claims in the visitor's language."""

from collections.abc import Callable

from fastapi import Request

from spotthebot.web.claims.domain import Phrase, written
from spotthebot.web.layout.domain import Numbers
from spotthebot.web.rendering import Renderer


def writer_of_claims(pages: Renderer, request: Request) -> Callable[[Phrase], str]:
    """Return the function with which a template writes a phrase."""
    texts = pages.texts_for(request)
    number = Numbers(texts.language)
    return lambda phrase: written(phrase, texts, number)
