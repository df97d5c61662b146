"""The five services, called with a visitor's own key or, for annotators, with that of this frontend."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar

from spotthebot.clients import AsyncAnalytics, AsyncAnnotation, AsyncBots, AsyncConversations, AsyncFed
from spotthebot.clients.channel import Retries
from spotthebot.web.settings import WebSettings

_TypedClient = TypeVar("_TypedClient", AsyncAnalytics, AsyncAnnotation, AsyncBots, AsyncConversations, AsyncFed)
_PATIENCE_SECONDS = 8.0
"""A person waits: rather a page that says what is wrong."""


class Services:
    """Typed clients of the services with one key, each opened when it is first used."""

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
    """Yield the services, to be called with this key while the block lasts; they are waited for as the settings say."""
    async with AsyncExitStack() as stack:
        yield Services(settings, key, stack, timeout_seconds or settings.service_seconds)
