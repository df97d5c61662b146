"""A cookie whose content only this application can read or write."""

import json
from collections.abc import Callable, Mapping
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from spotthebot.kit.crypto.vault import Unreadable, Vault

T = TypeVar("T")
_LONGEST = 3800
"""Browsers drop cookies of more than 4,096 bytes."""


class SealedCookie:
    """A cookie that is encrypted and authenticated (Fernet), HttpOnly and SameSite=Lax, and that expires.

    It is Lax, not Strict, since people come by links from panels and other people. Browsers do not send strict cookies
    when somebody follows such a link.
    """

    def __init__(self, name: str, vault: Vault, *, lasts_seconds: int, secure: bool) -> None:
        self._name = f"__Host-{name}" if secure else name
        self._vault = vault
        self._lasts_seconds = lasts_seconds
        self._secure = secure

    def read(self, request: Request) -> dict[str, str] | None:
        """Return the content of the cookie.

        Return None if there is no cookie, or if it is too old or was made for another purpose.
        """
        sealed = request.cookies.get(self._name)
        if not sealed or len(sealed) > _LONGEST:
            return None
        try:
            held = json.loads(self._vault.open(sealed.encode(), max_age_seconds=self._lasts_seconds))
        except Unreadable:
            return None
        if not isinstance(held, list) or held[0] != self._name:  # sealed with our key, for another purpose
            return None
        content: dict[str, str] = held[1]
        return content

    def read_as(self, request: Request, form: Callable[[Mapping[str, str]], T]) -> T | None:
        """Return the content, converted by `form`; None if there is no cookie, or if a field is missing or wrong.

        A cookie from an earlier release may have fewer fields.
        """
        content = self.read(request)
        try:
            return None if content is None else form(content)
        except (KeyError, ValueError):
            return None

    def write(self, response: Response, content: Mapping[str, str]) -> None:
        """Add the cookie to a response."""
        response.set_cookie(
            self._name,
            self._vault.seal(json.dumps([self._name, dict(content)], ensure_ascii=False)).decode(),
            max_age=self._lasts_seconds,
            path="/",
            secure=self._secure,
            httponly=True,
            samesite="lax",
        )

    def clear(self, response: Response) -> None:
        """Add a header to a response that makes the browser delete the cookie."""
        response.delete_cookie(self._name, path="/", secure=self._secure, httponly=True, samesite="lax")
