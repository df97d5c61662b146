"""A real browser: Chromium, driven by its DevTools protocol."""

import asyncio
import itertools
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
_OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")


@asynccontextmanager
async def browser(url: str, profile: Path, *more: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Show a page while the block lasts."""
    process = await asyncio.create_subprocess_exec(
        str(BROWSER),
        *_OPTIONS,
        *more,
        f"--user-data-dir={profile}",
        url,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        await process.wait()


class Page:
    """A page of a browser: what it loads (`requested`), what the browser complains of, and its document."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.requested: list[str] = []
        self.complaints: list[str] = []
        self._socket = socket
        self._numbers = itertools.count(1)

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol, and take down what happens until it answers."""
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        while True:
            message = await self._socket.receive_json()
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            self._take_down(message.get("method"), message.get("params", {}))

    async def value_of(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; waits for a promise."""
        found = await self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return found["result"].get("value")

    async def wait_for(self, expression: str) -> None:
        """Return when an expression is true."""
        async with asyncio.timeout(30):
            while not await self.value_of(f"!!({expression})"):
                await asyncio.sleep(0.05)

    def _take_down(self, method: str | None, said: dict[str, Any]) -> None:
        match method:
            case "Network.requestWillBeSent":
                self.requested.append(said["request"]["url"])
            case "Log.entryAdded":
                self.complaints.append(said["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.complaints.append(str(said["exceptionDetails"]))


@asynccontextmanager
async def opened_page(url: str, profile: Path) -> AsyncIterator[Page]:
    """Open a page in a browser of its own; all that it loads is taken down."""
    async with browser("about:blank", profile, "--remote-debugging-port=0"), aiohttp.ClientSession() as session:
        file = profile / "DevToolsActivePort"
        async with asyncio.timeout(30):
            while not (file.exists() and "\n" in file.read_text()):
                await asyncio.sleep(0.05)
            port = file.read_text().splitlines()[0]
            async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                (target,) = [each for each in await answer.json() if each["type"] == "page"]
        async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
            page = Page(socket)
            for domain in ("Network", "Log", "Runtime", "Page"):
                await page.call(f"{domain}.enable")
            await page.call("Page.navigate", url=url)
            yield page
