"""How an application answers errors: with problem documents (`problems`), or in its own form, such as HTML pages."""

from collections.abc import Mapping
from typing import Any, Protocol

from fastapi import FastAPI, Request
from starlette.responses import Response

from spotthebot.kit.errors import Error


class ErrorResponses(Protocol):
    """Turns errors into responses. An application has exactly one such object."""

    def document(self, descriptions: Mapping[int, str]) -> dict[int | str, dict[str, Any]]:
        """Return the error responses of every endpoint, for OpenAPI. `descriptions` has a text for each status."""

    def mount(self, app: FastAPI) -> None:
        """Register exception handlers for our errors, FastAPI's validation errors and Starlette's HTTP exceptions."""

    def respond(self, request: Request, error: Error) -> Response:
        """Return the response for one of our errors."""

    def respond_unexpected(self, request: Request) -> Response:
        """Return the response for an unhandled exception.

        The exception is already logged; its text must not be shown.
        """
