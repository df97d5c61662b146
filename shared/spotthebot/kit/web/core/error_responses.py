"""How an application answers errors: as problem documents (`problems`), or in a form of its own, such as HTML pages."""

from collections.abc import Mapping
from typing import Any, Protocol

from fastapi import FastAPI, Request
from starlette.responses import Response

from spotthebot.kit.errors import Error


class ErrorResponses(Protocol):
    """Turns errors into responses; an application has exactly one."""

    def document(self, descriptions: Mapping[int, str]) -> dict[int | str, dict[str, Any]]:
        """Return the OpenAPI responses of every endpoint, given descriptions by status."""

    def mount(self, app: FastAPI) -> None:
        """Register exception handlers for our errors, FastAPI's validation errors and Starlette's HTTP exceptions."""

    def respond(self, request: Request, error: Error) -> Response:
        """Answer one of our errors."""

    def respond_unexpected(self, request: Request) -> Response:
        """Answer an exception that nothing handles; it is logged already and its text must not be shown."""
