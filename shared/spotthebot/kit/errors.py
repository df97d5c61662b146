"""The families of errors, and how an error gets its message.

    Error
    ├── Invalid          the request contradicts itself or the rules
    ├── Unauthenticated  the caller has no valid API key
    ├── Forbidden        the caller is known, but may not do this
    ├── NotFound         the thing does not exist, or the caller may not see it
    ├── Conflict         right request, wrong state
    ├── TooMany          too many requests
    ├── UpstreamFailed   another service answered with an error
    └── Unavailable      another service or the database does not answer

A concrete error is a subclass of a family; its docstring is its message, with the constructor's keyword arguments
filled in. Errors know no HTTP numbers: `kit.web.core.problems` maps families to status codes.
"""

from dataclasses import dataclass
from inspect import cleandoc


@dataclass(frozen=True)
class FieldError:
    """One fault in a request body: its place as a JSON pointer (RFC 6901), and its description."""

    pointer: str
    detail: str


class Error(Exception):
    """Something went wrong."""

    title: str = "Error"
    problem_name: str | None = None
    """The last part of the problem's type, for this class and its subclasses; None: the name of the class."""

    def __init__(self, *, fields: tuple[FieldError, ...] = (), **facts: object) -> None:
        self.facts = facts
        self.fields = fields
        super().__init__(cleandoc(type(self).__doc__ or "").replace("\n", " ").format(**facts))

    @property
    def detail(self) -> str:
        """Return the message for the caller. `str(error)`, for logs and operators, may contain more."""
        return str(self)


class Invalid(Error):
    """The request is invalid."""

    title = "Invalid request"


class Unauthenticated(Error):
    """An API key is needed: send it as 'Authorization: Bearer KEY'."""

    title = "Not authenticated"


class Forbidden(Error):
    """This API key may not do that."""

    title = "Forbidden"


class NotFound(Error):
    """There is no such thing here."""

    title = "Not found"


class Conflict(Error):
    """The request does not fit the present state."""

    title = "Conflict"


class TooMany(Error):
    """Too many requests: try again in {retry_after_seconds} s."""

    title = "Too many requests"


class UpstreamFailed(Error):
    """A service that is needed for this answered with an error."""

    title = "Upstream failed"


class Unavailable(Error):
    """Something that is needed does not answer at the moment: try again."""

    title = "Unavailable"
