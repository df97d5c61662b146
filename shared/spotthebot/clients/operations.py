"""Operations of a service. One method describes each operation: it returns the request and the type of the answer.

`@operation` makes the method usable on two kinds of clients. On a `Client` the method sends the request and returns the
answer. On an `AsyncClient` the method returns an object for `await` or `async for`. Both clients run the same
coroutines (`Operation.asynchronous`). With a blocking channel the coroutines never wait for an event loop, so `drive`
and `drive_each` run them to their end without an event loop.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from dataclasses import replace
from functools import cache, update_wrapper
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    Self,
    TypedDict,
    TypeVar,
    cast,
    overload,
)

from pydantic import BaseModel, TypeAdapter, ValidationError

from spotthebot.clients.errors import UnexpectedAnswer
from spotthebot.clients.requests import Content, Request
from spotthebot.kit.text.validation import faults_of

if TYPE_CHECKING:
    from spotthebot.clients.channel import Channel

P = ParamSpec("P")
R = TypeVar("R")
Item = TypeVar("Item")
Sync = TypeVar("Sync")
Async = TypeVar("Async")

_PAGE_SIZE = 1000
ListOrder = Literal["oldest_first", "newest_first"]


class Operation(ABC, Generic[Sync, Async]):
    """A request, and the type of its result: `Sync` on a blocking client, `Async` on an asynchronous client."""

    request: Request

    @abstractmethod
    def synchronous(self, channel: "Channel") -> Sync: ...

    @abstractmethod
    def asynchronous(self, channel: "Channel") -> Async: ...


class BlockingFace:
    """Sends the requests of operations and returns their answers."""

    _channel: "Channel"

    def carry_out(self, described: Operation[Sync, Async]) -> Sync:
        """Send the request that an operation describes, and return its answer."""
        return described.synchronous(self._channel)


class AsyncFace:
    """Sends the requests of operations on an event loop: returns objects for `await` or `async for`."""

    _channel: "Channel"

    def carry_out(self, described: Operation[Sync, Async]) -> Async:
        """Return an object for `await` or `async for` that sends the request that an operation describes."""
        return described.asynchronous(self._channel)


class operation(Generic[P, Sync, Async]):  # noqa: N801 - a decorator
    """Turn a method that describes an operation into a method that sends its request."""

    def __init__(self, describe: Callable[Concatenate[Any, P], Operation[Sync, Async]]) -> None:
        self.describe = describe
        self.__doc__ = describe.__doc__

    @overload
    def __get__(self, client: None, owner: type) -> Self: ...

    @overload
    def __get__(self, client: BlockingFace, owner: type) -> Callable[P, Sync]: ...

    @overload
    def __get__(self, client: AsyncFace, owner: type) -> Callable[P, Async]: ...

    def __get__(self, client: Any, owner: type) -> Any:
        if client is None:
            return self

        def call(*args: P.args, **kwargs: P.kwargs) -> object:
            return client.carry_out(self.describe(client, *args, **kwargs))

        return update_wrapper(call, self.describe)


class IdempotencyKey(TypedDict, total=False):
    """The key of a change. A service makes the changes with one key once."""

    idempotency_key: str | None


class Call(Operation[R, Coroutine[Any, Any, R]]):
    """One request with one answer of the type `returns`.

    `bytes` and `str` are returned raw; None expects no content.
    """

    def __init__(
        self,
        returns: type[R],
        method: str,
        path: str,
        *,
        params: Mapping[str, object] | None = None,
        body: BaseModel | Mapping[str, Any] | None = None,
        content: Content | None = None,
        idempotency_key: str | None = None,
        accept: str | None = None,
    ) -> None:
        asked = {"Idempotency-Key": idempotency_key, "Accept": accept}
        headers = {name: value for name, value in asked.items() if value is not None}
        self.returns = returns
        self.request = Request(
            method=method, path=path, params=params or {}, headers=headers, body=body, content=content
        )

    def changing_once(self) -> Self:
        """Mark the request as safe to repeat: a repetition changes nothing.

        If no answer arrives, the request is sent again.
        """
        self.request = replace(self.request, changes_once=True)
        return self

    def synchronous(self, channel: "Channel") -> R:
        return drive(self.asynchronous(channel))

    async def asynchronous(self, channel: "Channel") -> R:
        answer = await channel.call(self.request)
        return decoded(self.returns, answer, self.request, channel)


class Paging(TypedDict, total=False):
    """A part of a list: the page at `cursor`, which the page before it contains as `next_cursor`.

    `page_size` is the number of items of a page (1 to 1000).
    """

    cursor: str | None
    page_size: int


class Page(BaseModel, Generic[Item]):
    """One page of a list; `next_cursor` is None on the last page."""

    items: list[Item]
    next_cursor: str | None


class Listing(Operation["Pages[Item]", "AsyncPages[Item]"], Generic[Item]):
    """A list that is fetched page by page."""

    def __init__(
        self, items: type[Item], path: str, paging: Paging, *, params: Mapping[str, object] | None = None
    ) -> None:
        own = {"limit": paging.get("page_size", _PAGE_SIZE), "cursor": paging.get("cursor")}
        self.items = items
        self.request = Request(method="GET", path=path, params={**(params or {}), **own})

    def synchronous(self, channel: "Channel") -> "Pages[Item]":
        return Pages(self, channel)

    def asynchronous(self, channel: "Channel") -> "AsyncPages[Item]":
        return AsyncPages(self, channel)

    async def page(self, channel: "Channel", cursor: str | None = None) -> Page[Item]:
        """Fetch the page at `cursor`. Without a cursor, fetch the page that the caller of the operation requested."""
        params = dict(self.request.params) if cursor is None else {**self.request.params, "cursor": cursor}
        request = Request(method="GET", path=self.request.path, params=params)
        kind = cast("type[Page[Item]]", Page.__class_getitem__(self.items))
        return decoded(kind, await channel.call(request), request, channel)

    async def each(self, channel: "Channel") -> AsyncGenerator[Item, None]:
        """Yield the items of this page and of all following pages."""
        page = await self.page(channel)
        while True:
            for item in page.items:
                yield item
            if page.next_cursor is None:
                return
            page = await self.page(channel, page.next_cursor)


class Pages(Generic[Item]):
    """A list whose pages are fetched while it is read; `page()` fetches one page only."""

    def __init__(self, listing: Listing[Item], channel: "Channel") -> None:
        self._listing, self._channel = listing, channel

    def __iter__(self) -> Iterator[Item]:
        return drive_each(self._listing.each(self._channel))

    def page(self) -> Page[Item]:
        return drive(self._listing.page(self._channel))


class AsyncPages(Generic[Item]):
    """A list whose pages are fetched while it is read; `page()` fetches one page only."""

    def __init__(self, listing: Listing[Item], channel: "Channel") -> None:
        self._listing, self._channel = listing, channel

    def __aiter__(self) -> AsyncIterator[Item]:
        return self._listing.each(self._channel)

    async def page(self) -> Page[Item]:
        return await self._listing.page(self._channel)


def drive(awaitable: Awaitable[R]) -> R:
    """Return the result of a coroutine that never waits for an event loop."""
    try:
        next(awaitable.__await__())
    except StopIteration as done:
        result: R = done.value
        return result
    message = "a coroutine of a blocking client waits for an event loop"
    raise RuntimeError(message)


def drive_each(items: AsyncGenerator[Item, None]) -> Iterator[Item]:
    """Yield the items of an asynchronous generator that never waits for an event loop."""
    try:
        while True:
            try:
                item = drive(anext(items))
            except StopAsyncIteration:
                return
            yield item
    finally:
        drive(items.aclose())


def decoded(kind: type[R], content: bytes, request: Request, channel: "Channel") -> R:
    """Return an answer's content as a type; raises UnexpectedAnswer, which names the request and the peer."""
    if kind is bytes:
        return cast("R", content)
    if kind is str:
        return cast("R", content.decode())
    try:
        # A newer service may send fields that this client does not know.
        found: R = _adapter(cast("Any", kind)).validate_json(content or b"null", extra="ignore")
    except ValidationError as error:
        reason = faults_of(error)[0]
        raise UnexpectedAnswer(peer=channel.peer, method=request.method, path=request.path, reason=reason) from error
    return found


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - a type, which mypy takes for unhashable
    return TypeAdapter(kind)
