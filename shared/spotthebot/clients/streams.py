"""Operations whose answers arrive in pieces: files, rows and events."""

from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from spotthebot.clients.operations import Item, Operation, decoded, drive_each
from spotthebot.clients.requests import Request

if TYPE_CHECKING:
    from spotthebot.clients.channel import Channel


class _Stream(Operation[Iterator[Item], AsyncIterator[Item]]):
    """An answer that arrives in pieces. If it breaks off, it raises PeerUnavailable."""

    def synchronous(self, channel: "Channel") -> Iterator[Item]:
        return drive_each(self.asynchronous(channel))

    @abstractmethod
    def asynchronous(self, channel: "Channel") -> AsyncGenerator[Item, None]: ...


class Download(_Stream[bytes]):
    """A file, piece by piece as it arrives."""

    def __init__(self, path: str, *, params: Mapping[str, object] | None = None) -> None:
        self.request = Request(method="GET", path=path, params=params or {})

    async def asynchronous(self, channel: "Channel") -> AsyncGenerator[bytes, None]:
        async with channel.open(self.request) as pieces:
            async for piece in pieces:
                yield piece


class Ndjson(_Stream[Item]):
    """A whole list as NDJSON, one item a line."""

    def __init__(self, items: type[Item], path: str, *, params: Mapping[str, object] | None = None) -> None:
        self.items = items
        self.request = Request(method="GET", path=path, params=params or {})

    async def asynchronous(self, channel: "Channel") -> AsyncGenerator[Item, None]:
        async with channel.open(self.request) as pieces, aclosing(_lines(pieces)) as lines:
            async for line in lines:
                yield decoded(self.items, line, self.request, channel)


@dataclass(frozen=True)
class ServerSentEvent(Generic[Item]):
    """An event of a stream: its name, its data, and its id if the service numbers its events."""

    event: str
    data: Item
    id: str | None


class Events(_Stream[ServerSentEvent[Item]]):
    """Server-sent events, until the service ends the stream; `data` is the type of every event's data."""

    def __init__(
        self,
        data: type[Item],
        path: str,
        *,
        params: Mapping[str, object] | None = None,
        last_event_id: int | str | None = None,
    ) -> None:
        headers = {} if last_event_id is None else {"Last-Event-ID": str(last_event_id)}
        self.data = data
        self.request = Request(method="GET", path=path, params=params or {}, headers=headers)

    async def asynchronous(self, channel: "Channel") -> AsyncGenerator[ServerSentEvent[Item], None]:
        fields: dict[str, str] = {}
        async with channel.open(self.request) as pieces, aclosing(_lines(pieces)) as lines:
            async for line in lines:
                text = line.decode().removesuffix("\r")
                if text:
                    name, _, value = text.partition(":")
                    value = value.removeprefix(" ")
                    fields[name] = f"{fields[name]}\n{value}" if name == "data" and name in fields else value
                    continue
                if "data" in fields:
                    data = decoded(self.data, fields["data"].encode(), self.request, channel)
                    yield ServerSentEvent(fields.get("event", "message"), data, fields.get("id"))
                fields = {}


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """Split bytes at line feeds only: JSON may hold characters that Unicode treats as line separators."""
    rest = b""
    async for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line
    if rest:
        yield rest
