"""HTTP requests to bots, by the guarded client. Its failures become faults of the bot."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from aiohttp import ClientWebSocketResponse

from spotthebot.bots.questions.domain.replies import NO_ANSWER, Fault
from spotthebot.contracts.bots.replies import ReplyFailure
from spotthebot.kit.outbound.errors import CallFailed, NothingAnswers
from spotthebot.kit.outbound.http import Answer, GuardedHttp
from spotthebot.kit.outbound.resolver import CheckingResolver


class BotHttp:
    """Connections to bots; only each bot's concurrency limits their number."""

    def __init__(self, resolver: CheckingResolver, *, names_causes: bool = False) -> None:
        self.resolver = resolver
        self.names_causes = names_causes
        self._http = GuardedHttp(resolver, names_causes=names_causes)

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.__aexit__(kind, error, trace)

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Send a POST request and return the complete answer; raises Fault. The caller limits the time."""
        with _faults():
            return await self._http.post(url, body, headers)

    async def open_socket(self, url: str) -> ClientWebSocketResponse:
        """Open a websocket that the caller closes; raises Fault."""
        with _faults():
            return await self._http.open_socket(url)


def json_of(answer: Answer) -> Any:  # noqa: ANN401 - JSON
    """Return an answer's body as JSON; raises Fault if it is not JSON or not declared as JSON."""
    with _faults():
        return answer.json()


@contextmanager
def _faults() -> Iterator[None]:
    try:
        yield
    except NothingAnswers as failed:
        raise Fault(ReplyFailure.UNREACHABLE, NO_ANSWER, transient=True) from failed
    except CallFailed as failed:
        raise Fault(
            ReplyFailure(failed.failure),
            failed.detail,
            transient=failed.transient,
            retry_after_seconds=failed.retry_after_seconds,
        ) from failed
