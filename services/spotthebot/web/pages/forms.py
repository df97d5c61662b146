"""Forms as they were sent: their texts, and the key under which a form that is sent twice counts once."""

from collections.abc import Mapping
from uuid import UUID, uuid4

from fastapi import Request


async def typed_in(request: Request) -> dict[str, str]:
    """Return the texts of a form; files are left out."""
    async with request.form() as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


def key_of(typed: Mapping[str, str]) -> str:
    """Return the key under which a form that is sent twice is taken once."""
    once = typed.get("once", "")
    try:
        return UUID(once).hex
    except ValueError:
        return uuid4().hex
