"""Clients of the five services. They send the visitor's own key, or this frontend's key for annotators."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar

from spotthebot.clients import AsyncAnalytics, AsyncAnnotation, AsyncBots, AsyncConversations, AsyncFed
from spotthebot.clients.channel import Retries
from spotthebot.web.settings import WebSettings

_TypedClient = TypeVar("_TypedClient", AsyncAnalytics, AsyncAnnotation, AsyncBots, AsyncConversations, AsyncFed)
_PATIENCE_SECONDS = 8.0
"""The time limit for retries. A person waits for the page, so an early error page is better than a long wait."""


class Services:
    """Typed clients of the services with one key. Each client is opened at its first use."""

    def __init__(self, settings: WebSettings, key: str, stack: AsyncExitStack, timeout_seconds: float) -> None:
        self._settings = settings
        self.timeout_seconds = timeout_seconds
        self._key = key
        self._stack = stack
        self._open: dict[type, object] = {}

    async def bots(self) -> AsyncBots:
        return await self._client(AsyncBots, self._settings.bots_url)

    async def conversations(self) -> AsyncConversations:
        return await self._client(AsyncConversations, self._settings.conversations_url)

    async def annotation(self) -> AsyncAnnotation:
        return await self._client(AsyncAnnotation, self._settings.annotation_url)

    async def analytics(self) -> AsyncAnalytics:
        return await self._client(AsyncAnalytics, self._settings.analytics_url)

    async def fed(self) -> AsyncFed:
        return await self._client(AsyncFed, self._settings.fed_url)

    async def _client(self, kind: type[_TypedClient], url: str) -> _TypedClient:
        known = self._open.get(kind)
        if isinstance(known, kind):
            return known
        retries = Retries(attempts=3, max_seconds=min(_PATIENCE_SECONDS, self.timeout_seconds))
        made = kind(url, self._key, timeout_seconds=self.timeout_seconds, retries=retries)
        self._open[kind] = made
        return await self._stack.enter_async_context(made)


@asynccontextmanager
async def services_with(
    settings: WebSettings, key: str, *, timeout_seconds: float | None = None
) -> AsyncIterator[Services]:
    """Yield clients of the services with this key, open during the block.

    Without `timeout_seconds`, requests have the time limit of the settings.
    """
    async with AsyncExitStack() as stack:
        yield Services(settings, key, stack, timeout_seconds or settings.service_seconds)
