"""The errors that a call of a service can raise.

PeerUnavailable no answer: nothing listens, the time is up, or the answer breaks off UnexpectedAnswer an answer that
does not fit this client: another release, or another server PeerRefused an error as answer, with the service's problem
document (RFC 9457) ├── Invalid 400, 413, 422: `problem.errors` names each fault ├── Unauthenticated 401: the key is
missing, unknown, expired or revoked ├── Forbidden 403: the key's role may not do this ├── NotFound 404: the thing does
not exist, or the key may not see it ├── Conflict 409: the right request in the wrong state ├── RateLimited 429:
`retry_after_seconds` says when to try again └── PeerFailed 500 and above: the service's own trouble
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, ClassVar

from spotthebot.kit.errors import Unavailable, UpstreamFailed

_MAX_TEXT = 200


@dataclass(frozen=True)
class ProblemField:
    """One fault of a request: `pointer` into the body (RFC 6901), or the `parameter`'s name."""

    pointer: str | None
    parameter: str | None
    detail: str

    def __str__(self) -> str:
        return f"{self.pointer or self.parameter or 'body'}: {self.detail}"


@dataclass(frozen=True)
class Problem:
    """The service's description of an error; `type` names the kind, such as `urn:spotthebot:problem:not-found`."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: tuple[ProblemField, ...]


class PeerUnavailable(Unavailable):
    """{peer} does not answer: {reason}."""

    title = "Peer unavailable"


class UnexpectedAnswer(UpstreamFailed):
    """This client does not understand the answer of {peer} to {method} {path}: {reason}."""

    title = "Unexpected answer"


class PeerRefused(UpstreamFailed):
    """A service answered with an error; `str()` holds its own message."""

    title = "Refused by a peer"
    problem_name = "PeerRefused"
    statuses: ClassVar[tuple[int, ...]] = ()

    def __init__(  # the parts of one exchange
        self, *, peer: str, method: str, path: str, problem: Problem, retry_after_seconds: int | None = None
    ) -> None:
        detail = "; ".join([problem.detail, *map(str, problem.errors)])
        super().__init__(peer=peer, status=problem.status, method=method, path=path, detail=detail)
        self.args = (f"{peer} answered {problem.status} to {method} {path}: {detail}",)
        self.peer = peer
        self.status = problem.status
        self.problem = problem
        self.retry_after_seconds = retry_after_seconds

    @property
    def detail(self) -> str:
        """Return a message with only the peer and its status.

        It leaves out the peer's text, which was for the calling service.
        """
        return f"This needs the service {self.peer}, which refused our request ({self.status})."


class Invalid(PeerRefused):
    """The request contradicts itself or the rules."""

    statuses = (400, 413, 422)


class Unauthenticated(PeerRefused):
    """The API key is missing, unknown, expired or revoked."""

    statuses = (401,)


class Forbidden(PeerRefused):
    """The API key's role may not do this."""

    statuses = (403,)


class NotFound(PeerRefused):
    """There is no such thing, or none that the API key may see."""

    statuses = (404,)


class Conflict(PeerRefused):
    """The right request in the wrong state."""

    statuses = (409,)


class RateLimited(PeerRefused):
    """Too many requests with this API key."""

    statuses = (429,)


class PeerFailed(PeerRefused):
    """The service could not do what it was asked for."""

    statuses = tuple(range(500, 600))


PEER_TROUBLE = (PeerUnavailable, PeerRefused, UnexpectedAnswer)
"""Every error of a call, for callers that can continue without an answer or try again later."""


def refusal(peer: str, method: str, path: str, status: int, headers: Mapping[str, str], content: bytes) -> PeerRefused:
    """Return the error for an answer. If the answer has no problem document, the error quotes the answer's text."""
    kind = next((kind for kind in PeerRefused.__subclasses__() if status in kind.statuses), PeerRefused)
    problem = _problem(status, path, content)
    return kind(
        peer=peer,
        method=method,
        path=path,
        problem=problem,
        retry_after_seconds=retry_after(headers.get("Retry-After")),
    )


def retry_after(header: str | None) -> int | None:
    """Return the seconds in a `Retry-After` header; None if the header is absent or holds a date."""
    return int(header) if header is not None and header.isdecimal() else None


def _problem(status: int, path: str, content: bytes) -> Problem:
    try:
        found: dict[str, Any] = json.loads(content)
        return Problem(
            type=str(found.get("type", "about:blank")),
            title=str(found.get("title", "")),
            status=status,
            detail=str(found["detail"]),
            instance=str(found.get("instance", path)),
            errors=tuple(_field(each) for each in found.get("errors", ())),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        text = content.decode(errors="replace")[:_MAX_TEXT] or _phrase(status)
        return Problem("about:blank", _phrase(status), status, text, path, ())


def _field(fault: dict[str, Any]) -> ProblemField:
    return ProblemField(fault.get("pointer"), fault.get("parameter"), str(fault["detail"]))


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return f"Status {status}"
