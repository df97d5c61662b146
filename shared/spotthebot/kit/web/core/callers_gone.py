"""Ends requests whose caller has disconnected, so that nothing is computed for nobody."""

import asyncio
import contextlib

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class EndWithCaller:
    """Cancels a GET when its connection is closed.

    Requests with other methods run to their end, as they may have written.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        received: asyncio.Queue[Message] = asyncio.Queue()
        work = asyncio.ensure_future(self._app(scope, received.get, send))

        async def watch() -> None:
            message: Message = {}
            while message.get("type") != "http.disconnect":
                message = await receive()
                received.put_nowait(message)
            work.cancel()

        watching = asyncio.create_task(watch())
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await work
            if work.cancelled() and not watching.done():
                raise asyncio.CancelledError  # the server stops
        finally:
            work.cancel()
            watching.cancel()
