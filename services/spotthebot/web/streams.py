"""Answers that are sent piece by piece: files of services, and open event streams of chats.

The number of event streams is limited for each person, for each link and for the whole process.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any, Final
from uuid import UUID

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from spotthebot.clients import PEER_TROUBLE
from spotthebot.clients.streams import ServerSentEvent
from spotthebot.web.clients import Services, services_with
from spotthebot.web.settings import WebSettings
from spotthebot.web.visitors.errors import TooManyStreams

_RETRY_SECONDS = 10
_QUIET_SECONDS: Final = 15.0
"""Proxies close a connection after a minute without data."""


async def streamed(pieces: AsyncGenerator[bytes, None], media_type: str, headers: Mapping[str, str]) -> Response:
    """Answer with a file of a service while it arrives.

    The first piece is awaited: a refusal is an error page, as long as nothing was sent.
    """
    first = await anext(pieces, b"")

    async def joined() -> AsyncGenerator[bytes, None]:
        async with aclosing(pieces):
            yield first
            async for piece in pieces:
                yield piece

    return StreamingResponse(joined(), media_type=media_type, headers=headers)


class OpenStreams:
    """Counts the open streams of this process."""

    def __init__(self, settings: WebSettings) -> None:
        self._most = {
            "person": settings.chat_streams_per_person,
            "link": settings.chat_streams_per_link,
            "all": settings.chat_streams,
        }
        self._open: Counter[tuple[str, str]] = Counter()

    def open(self, person: str, link: str) -> Callable[[], None]:
        """Count an open stream, and return the function to call when the stream ends; raises TooManyStreams."""
        counted = [("person", person), ("link", link), ("all", "")]
        if any(self._open[each] >= self._most[each[0]] for each in counted):
            raise TooManyStreams(retry_after_seconds=_RETRY_SECONDS)
        self._open.update(counted)

        def end() -> None:
            self._open.subtract(counted)
            for each in counted:
                if not self._open[each]:
                    del self._open[each]

        return end

    def __len__(self) -> int:
        return self._open["all", ""]


class EventStream(StreamingResponse):
    """Sends events to a browser.

    When the browser leaves, the source of the events is closed, and `on_end` is called.
    """

    def __init__(self, events: AsyncGenerator[str, None], on_end: Callable[[], None]) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(events, media_type="text/event-stream", headers=headers)
        self._events = events
        self._on_end = on_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._on_end()
            await self._events.aclose()


async def events_of(settings: WebSettings, chat_id: UUID, last: int) -> AsyncGenerator[str, None]:
    """Yield a chat's events, and a comment after some seconds without an event.

    If the service fails, the stream ends, and the browser connects again.
    """
    yield "retry: 1000\n\n"
    async with services_with(settings, settings.annotation_key.get_secret_value()) as own:
        coming = await _events(own, chat_id, last)
        async with aclosing(coming):
            while True:
                following = asyncio.ensure_future(anext(coming, None))
                try:
                    while not (await asyncio.wait({following}, timeout=_QUIET_SECONDS))[0]:
                        yield ": quiet\n\n"
                    event = following.result()
                except PEER_TROUBLE:
                    return
                finally:
                    following.cancel()
                    await asyncio.gather(following, return_exceptions=True)
                if event is None:
                    return
                yield f"event: {event.event}\nid: {event.id}\ndata: {json.dumps(event.data)}\n\n"


async def _events(
    services: Services, chat_id: UUID, last: int
) -> AsyncGenerator[ServerSentEvent[dict[str, Any]], None]:
    conversations = await services.conversations()

    async def each() -> AsyncGenerator[ServerSentEvent[dict[str, Any]], None]:
        async for event in conversations.watch_chat(chat_id, last_event_id=last):
            yield event

    return each()
