"""The ways in which a call to somebody else's server can fail."""

from enum import StrEnum

from spotthebot.kit.errors import Invalid
from spotthebot.kit.text.characters import printable


class AddressNotAllowed(Invalid):
    """{host} may not be called: {reason}. It has to be at a public address; an administrator can allow others."""


class UrlNotUsable(Invalid):
    """The URL can't be called: {reason}."""


class Failure(StrEnum):
    """Why a call returned no usable answer."""

    UNREACHABLE = "unreachable"
    HTTP_ERROR = "http_error"
    TOO_LONG = "too_long"
    INVALID = "invalid"
    RATE_LIMITED = "rate_limited"


class CallFailed(Exception):
    """A call returned no usable answer.

    `transient` is true if another attempt may succeed, after `retry_after_seconds` if the server named a wait. `status`
    is the server's HTTP status, if it sent one.
    """

    def __init__(
        self,
        failure: Failure,
        detail: str,
        *,
        transient: bool = False,
        retry_after_seconds: float | None = None,
        status: int | None = None,
    ) -> None:
        self.failure = failure
        self.detail = printable(detail)
        self.transient = transient
        self.retry_after_seconds = retry_after_seconds
        self.status = status
        super().__init__(self.detail)


class NothingAnswers(CallFailed):
    """No server spoke HTTP: no program listens, a firewall blocks the port, TLS failed, or another protocol answered.

    These are one failure: otherwise anybody who may enter a URL could learn which ports of a machine are open.
    """

    def __init__(self) -> None:
        super().__init__(Failure.UNREACHABLE, "No HTTP server answers at this URL.", transient=True)
