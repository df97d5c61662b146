"""HTTP to bots: the guarded client, whose failures become the bot's faults."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from aiohttp import ClientWebSocketResponse

from spotthebot.bots.questions.domain.replies import NO_ANSWER, Fault
from spotthebot.contracts.bots.replies import ReplyFailure
from spotthebot.kit.outbound import Answer, CallFailed, CheckingResolver, GuardedHttp, NothingAnswers


@dataclass(frozen=True)
class BotAnswer:
    """An answer with a 2xx status."""

    answer: Answer

    @property
    def body(self) -> bytes:
        return self.answer.body

    @property
    def media_type(self) -> str:
        return self.answer.media_type

    @property
    def retry_after_seconds(self) -> float | None:
        return self.answer.retry_after_seconds

    def json(self) -> Any:  # noqa: ANN401 - JSON
        """Return the body as JSON; raises Fault if it is not JSON or not declared as JSON."""
        with _faults():
            return self.answer.json()


class BotHttp:
    """Connections to bots, without a limit of their own: each bot's concurrency limits them."""

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

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> BotAnswer:
        """POST and return the whole answer; raises Fault. The caller limits the time."""
        with _faults():
            return BotAnswer(await self._http.post(url, body, headers))

    async def open_socket(self, url: str) -> ClientWebSocketResponse:
        """Open a websocket, which the caller closes; raises Fault."""
        with _faults():
            return await self._http.open_socket(url)


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
