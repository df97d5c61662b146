"""ETags: if the caller already has an answer, it is not sent again."""

import hashlib

from starlette.requests import Request
from starlette.responses import Response


def etag_of(body: bytes) -> str:
    """Return the ETag of a body, including the quotes."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def revalidated(request: Request, body: bytes, media_type: str, *, etag: str | None = None) -> Response:
    """Answer with the body and its ETag.

    If `If-None-Match` has this ETag, answer 304 without a body (RFC 9110, 13.1.2).
    """
    etag = etag or etag_of(body)
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    named = {each.strip().removeprefix("W/") for each in request.headers.get("If-None-Match", "").split(",")}
    if etag in named or "*" in named:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=media_type, headers=headers)
