"""Content negotiation (RFC 9110, 12.5.1): finds the offered media type that a caller prefers."""

from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request

_MAX_RANGES = 50


def negotiated(request: Request, offered: Sequence[str]) -> str:
    """Return the media type of `offered` that the header `Accept` prefers. The first one wins a tie.

    Without the header, the first type is returned. Raises HTTPException 406, which lists the offered types, if the
    header accepts none of them.
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
    """Return the quality that `Accept` gives a media type: the quality of the most specific range with this type.

    0 without one.
    """
    for media_range in (form, f"{form.partition('/')[0]}/*", "*/*"):
        found = [quality for media_type, quality in ranges if media_type == media_range]
        if found:
            return max(found)
    return 0.0
