"""Content negotiation (RFC 9110, 12.5.1): which of the forms that an endpoint offers its caller accepts most."""

from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request

_MAX_RANGES = 50


def negotiated(request: Request, offered: Sequence[str]) -> str:
    """Return the media type of `offered` that `Accept` prefers, the first of several; without `Accept` the first.

    Raises HTTPException 406, which names what is offered, where none is accepted.
    """
    header = ",".join(request.headers.getlist("Accept"))
    ranges = [_range(each) for each in header.split(",")[:_MAX_RANGES] if each.strip()]
    if not ranges:
        return offered[0]
    best = max(offered, key=lambda form: _quality(form, ranges))  # the first of several
    if _quality(best, ranges) <= 0:
        raise HTTPException(406, f"This is served as {', '.join(offered)}: name one of them in `Accept`")
    return best


def _range(text: str) -> tuple[str, float]:
    media_type, *parameters = (each.strip().lower() for each in text.split(";"))
    for each in parameters:
        name, _, value = each.partition("=")
        if name.strip() == "q":
            try:
                return media_type, min(1.0, max(0.0, float(value)))
            except ValueError:
                return media_type, 0.0
    return media_type, 1.0


def _quality(form: str, ranges: Sequence[tuple[str, float]]) -> float:
    """Return the quality of the most specific range that a media type is in; 0 where it is in none."""
    for media_range in (form, f"{form.partition('/')[0]}/*", "*/*"):
        found = [quality for media_type, quality in ranges if media_type == media_range]
        if found:
            return max(found)
    return 0.0
