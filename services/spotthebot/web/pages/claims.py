"""Phrases of claims in the visitor's language."""

from collections.abc import Callable

from fastapi import Request

from spotthebot.web.domain.claims import Phrase, written
from spotthebot.web.domain.numbers import Numbers
from spotthebot.web.rendering import Renderer


def writer_of_claims(pages: Renderer, request: Request) -> Callable[[Phrase], str]:
    """Return what writes a phrase for a template."""
    texts = pages.texts_for(request)
    number = Numbers(texts.language)
    return lambda phrase: written(phrase, texts, number)
