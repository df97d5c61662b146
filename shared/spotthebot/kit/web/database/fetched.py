"""What an endpoint needs from another service, fetched before its transaction begins.

FastAPI resolves the dependencies of an endpoint in the order of its parameters. So an endpoint names a fetched one
first: the other service is asked before the claim of an `Idempotency-Key`, which is the first statement of the
transaction. An error of the other service is raised only when the endpoint asks for the result: a request that is
repeated with its key gets the stored answer, whatever the other service answers meanwhile.
"""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Generic, TypeVar

from spotthebot.kit.errors import Error

Result = TypeVar("Result")


@dataclass(frozen=True)
class Fetched(Generic[Result]):
    """A result, or the error in its place."""

    outcome: Result | Error

    def result(self) -> Result:
        """Return the result; raises the error."""
        if isinstance(self.outcome, Error):
            raise self.outcome
        return self.outcome


async def fetched(call: Awaitable[Result]) -> Fetched[Result]:
    """Await a call and keep its result or its error."""
    try:
        return Fetched(await call)
    except Error as error:
        return Fetched(error)
