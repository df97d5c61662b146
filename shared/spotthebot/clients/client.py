"""The common part of all services' clients: how they are opened and closed, and the operations of every service."""

from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import BaseModel

from spotthebot.clients.operations import AsyncFace, BlockingFace, Call, drive, operation

if TYPE_CHECKING:
    from spotthebot.clients.channel import AsyncChannel, BlockingChannel, Retries

_TIMEOUT_SECONDS = 60.0


class Client(BlockingFace):
    """Calls a service and waits for the answer. It is a context manager, and threads may share it."""

    peer: ClassVar[str]

    def __init__(
        self, base_url: str, key: str, *, timeout_seconds: float = _TIMEOUT_SECONDS, retries: "Retries | None" = None
    ) -> None:
        """Set the service's address, such as http://127.0.0.1:8101, and an API key.

        `timeout_seconds` limits each step of an attempt: connecting (5 s at most), sending, and each wait for bytes.
        """
        from spotthebot.clients import channel  # noqa: PLC0415 - httpx takes its time

        self.base_url = base_url.rstrip("/")
        self._channel: BlockingChannel = channel.BlockingChannel(
            self.peer, base_url, key, timeout_seconds, retries or channel.Retries()
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        drive(self._channel.close())


class AsyncClient(AsyncFace):
    """Calls a service on an event loop. It is an asynchronous context manager."""

    peer: ClassVar[str]

    def __init__(
        self, base_url: str, key: str, *, timeout_seconds: float = _TIMEOUT_SECONDS, retries: "Retries | None" = None
    ) -> None:
        """Set the service's address, such as http://127.0.0.1:8101, and an API key.

        `timeout_seconds` limits each step of an attempt: connecting (5 s at most), sending, and each wait for bytes.
        """
        from spotthebot.clients import channel  # noqa: PLC0415 - httpx takes its time

        self.base_url = base_url.rstrip("/")
        self._channel: AsyncChannel = channel.AsyncChannel(
            self.peer, base_url, key, timeout_seconds, retries or channel.Retries()
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._channel.close()


class Health(BaseModel):
    """The health of a service."""

    status: str


class ServiceOperations:
    """The operations of every service."""

    peer: ClassVar[str]

    @operation
    def health(self) -> Call[Health]:
        """Return an answer as long as the process is alive."""
        return Call(Health, "GET", "/healthz")

    @operation
    def readiness(self) -> Call[Health]:
        """Return an answer if the service can serve requests; raises PeerFailed with the reason if it can't."""
        return Call(Health, "GET", "/readyz")

    @operation
    def metrics(self) -> Call[str]:
        """Return the service's metrics in Prometheus' text format."""
        return Call(str, "GET", "/metrics")
