"""Each page's first view in Chromium, nothing cached: bytes, first contentful paint, blocking, layout shift.

What Google calls good is the goal (web.dev/vitals: largest contentful paint 2.5 s, cumulative layout shift .1;
Lighthouse: total blocking time 200 ms). The connection is shaped as in Lighthouse's mobile profile (1.6 Mbit/s, 150
ms), and the processor is slowed four times, as there.
"""

import asyncio
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from benchmarks.bots.measurement import Measurement
from benchmarks.web.running import DemoSuite, demo_suite
from tests.factories.browser import BROWSER

_ROUNDS = 3
_MAX_KIB: Final = 200
_MAX_PAINT_MS: Final = 2500
_MAX_BLOCKING_MS: Final = 200
_MAX_SHIFT: Final = 0.1
_SLOW_NETWORK = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 1.6 * 1024 * 1024 / 8,
    "uploadThroughput": 750 * 1024 / 8,
}
_SLOWDOWN = 4
_VIEWED = slice(None)
_TOY_NETWORK = _SLOW_NETWORK | {"latency": 0, "downloadThroughput": -1}
TOY = {"_ROUNDS": 1, "_SLOW_NETWORK": _TOY_NETWORK, "_SLOWDOWN": 1, "_VIEWED": slice(3, 5)}
"""The list of campaigns, and a campaign, whose page has charts."""
_OBSERVE: Final = """
window.found = {largest: 0, shift: 0, blocking: 0};
new PerformanceObserver(list => { for (const e of list.getEntries()) found.largest = e.startTime; })
  .observe({type: "largest-contentful-paint", buffered: true});
new PerformanceObserver(list => { for (const e of list.getEntries()) if (!e.hadRecentInput) found.shift += e.value; })
  .observe({type: "layout-shift", buffered: true});
new PerformanceObserver(list => { for (const e of list.getEntries()) found.blocking += Math.max(0, e.duration - 50); })
  .observe({type: "longtask", buffered: true});
"""


@dataclass
class _View:
    """One page, and what each view of it took."""

    name: str
    path: str
    role: str | None
    kibibytes: list[float] = field(default_factory=list)
    charts: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    largest: list[float] = field(default_factory=list)
    blocking: list[float] = field(default_factory=list)
    shift: list[float] = field(default_factory=list)

    def measurement(self) -> Measurement:
        weight, charts = statistics.median(self.kibibytes), statistics.median(self.charts)
        largest, blocking = statistics.median(self.largest), statistics.median(self.blocking)
        shift = statistics.median(self.shift)
        return Measurement(
            self.name,
            f"{weight:.0f} KiB, charts {charts:.0f} KiB",
            f"first paint {statistics.median(self.first):.0f} ms, largest {largest:.0f} ms",
            f"blocked {blocking:.0f} ms, shift {shift:.3f}",
            f"< {_MAX_KIB} KiB, largest < {_MAX_PAINT_MS} ms, blocked < {_MAX_BLOCKING_MS} ms, shift < {_MAX_SHIFT}",
            weight < _MAX_KIB and largest < _MAX_PAINT_MS and blocking < _MAX_BLOCKING_MS and shift < _MAX_SHIFT,
        )


def missing() -> str | None:
    """Return what is not installed."""
    return None if BROWSER else "Chromium"


def measure() -> list[Measurement]:
    """View every page several times, each time as a new person."""
    with demo_suite() as suite:
        views = _views(suite)[_VIEWED]
        asyncio.run(_measure(suite, views))
    return [view.measurement() for view in views]


def _views(suite: DemoSuite) -> list[_View]:
    campaign, collection = f"/campaigns/{suite.campaign_id}", f"/conversations/{suite.collection_id}"
    return [
        _View("`/`", "/", None),
        _View("`/sign-in`", "/sign-in", None),
        _View("`/leaderboard`", "/leaderboard", None),
        _View("`/campaigns`", "/campaigns", "analyst"),
        _View("`/campaigns/{id}`", campaign, "analyst"),
        _View("`/conversations/{id}`", collection, "analyst"),
        _View("`/bots`", "/bots", "team"),
        _View("`/admin`", "/admin", "admin"),
    ]


async def _measure(suite: DemoSuite, views: Sequence[_View]) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        for _ in range(_ROUNDS):
            for view in views:
                await _look(browser, suite, view)
        await browser.close()


async def _look(browser: Browser, suite: DemoSuite, view: _View) -> None:
    context = await browser.new_context(viewport={"width": 412, "height": 823})
    if view.role is not None:
        await sign_in(context, suite, view.role)
    page = await context.new_page()
    await page.add_init_script(_OBSERVE)
    sizes = _Sizes()
    protocol = await context.new_cdp_session(page)
    protocol.on("Network.responseReceived", sizes.take_response)
    protocol.on("Network.loadingFinished", sizes.take_end)
    await protocol.send("Network.enable")
    await protocol.send("Network.setCacheDisabled", {"cacheDisabled": True})
    await protocol.send("Network.emulateNetworkConditions", _SLOW_NETWORK)
    await protocol.send("Emulation.setCPUThrottlingRate", {"rate": _SLOWDOWN})
    answer = await page.goto(f"{suite.pages_url}{view.path}", wait_until="networkidle")
    if answer is None or not answer.ok:
        message = f"{view.path} answered {answer.status if answer else 'nothing'}"
        raise RuntimeError(message)
    await _note(page, view, sizes)
    await context.close()


class _Sizes:
    """Bytes that came over the network, charts apart."""

    def __init__(self) -> None:
        self.charts = self.others = 0.0
        self._charts: set[str] = set()

    def take_response(self, said: dict[str, Any]) -> None:
        if "/figures/" in said["response"]["url"]:
            self._charts.add(said["requestId"])

    def take_end(self, said: dict[str, Any]) -> None:
        if said["requestId"] in self._charts:
            self.charts += said["encodedDataLength"]
        else:
            self.others += said["encodedDataLength"]


async def sign_in(context: BrowserContext, suite: DemoSuite, role: str) -> None:
    """Sign in as the form does."""
    answer = await context.request.post(
        f"{suite.pages_url}/sign-in", form={"key": suite.keys[role], "after": "/sign-in"}
    )
    if not answer.ok:
        message = f"a key of the role {role} was not accepted: {answer.status}"
        raise RuntimeError(message)


async def _note(page: Page, view: _View, sizes: _Sizes) -> None:
    paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    found = await page.evaluate(f"({{...window.found, first: {paint}}})")
    view.kibibytes.append(sizes.others / 1024)
    view.charts.append(sizes.charts / 1024)
    view.first.append(found["first"])
    view.largest.append(found["largest"])
    view.blocking.append(found["blocking"])
    view.shift.append(found["shift"])
