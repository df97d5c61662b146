"""The page of a package: the time from a key to the frame that shows its answer, in Chromium.

Every key of whole packages of Spot The Bot is timed in the page itself: from the time stamp of the event to the first
task after the next frame, which the browser's own measure of responsiveness (interaction to next paint) counts, too,
and the part of it that the page's own code takes. The second row is on a processor that is slowed four times, as in
Lighthouse's mobile profile.
"""

import asyncio
import time
from typing import Final
from uuid import UUID

from playwright.async_api import Page, async_playwright

from benchmarks.bots.load import percentile
from benchmarks.bots.measurement import Measurement
from benchmarks.web.running import DemoSuite, demo_suite
from spotthebot.clients import Annotation
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignState
from spotthebot.contracts.annotation.entries import EntryLinkIn
from tests.factories.browser import BROWSER

_MAX_MILLISECONDS: Final = 50
_BUILD_SECONDS: Final = 60
_SLOWDOWNS = (1, 4)
_PACKAGE = 20
TOY = {"_SLOWDOWNS": (1,), "_PACKAGE": 2}
_KEYS: Final = ("1", "9", "ArrowLeft", "ArrowDown", "ArrowRight", "Enter")
_OBSERVE: Final = """
window.took = [];
window.worked = [];
addEventListener("keydown", event => {
  const began = performance.now();
  addEventListener("keydown", () => window.worked.push(performance.now() - began), { once: true });
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => window.took.push(performance.now() - event.timeStamp);
    port2.postMessage(null);
  });
}, { capture: true });
"""


def missing() -> str | None:
    """Return what is not installed."""
    return None if BROWSER else "Chromium"


def measure() -> list[Measurement]:
    """Answer a package by keys, once on this processor and once on one that is four times slower."""
    with demo_suite() as suite, Annotation(suite.annotation_url, suite.keys["admin"]) as annotation:
        campaign = _open_campaign(annotation, suite)
        return [_measurement(annotation, suite, campaign, slowdown) for slowdown in _SLOWDOWNS]


def _open_campaign(annotation: Annotation, suite: DemoSuite) -> UUID:
    request = CampaignIn(
        name="keys", domain="everyday", collections=(UUID(suite.collection_id),), package_size=_PACKAGE
    )
    campaign = annotation.create_campaign(request)
    ends = time.monotonic() + _BUILD_SECONDS
    while campaign.state is CampaignState.BUILDING and time.monotonic() < ends:
        time.sleep(0.1)
        campaign = annotation.get_campaign(campaign.id)
    return campaign.id


def _measurement(annotation: Annotation, suite: DemoSuite, campaign: UUID, slowdown: int) -> Measurement:
    link = annotation.create_entry_link(campaign, EntryLinkIn(annotator=f"keys-{slowdown}"))
    times, own = asyncio.run(_times(f"{suite.pages_url}/annotate/{campaign}?{link.query}", slowdown))
    middle, slow = percentile(times, 0.5), percentile(times, 0.95)
    where = "this processor" if slowdown == 1 else f"a processor {slowdown} times slower"
    return Measurement(
        f"`/annotate/{{campaign}}`: {len(times)} keys, {where}",
        f"median {middle:.0f} ms, 95 % {slow:.0f} ms",
        f"the page's own code: median {percentile(own, 0.5):.1f} ms, 95 % {percentile(own, 0.95):.1f} ms",
        f"slowest {times[-1]:.0f} ms",
        f"95 % < {_MAX_MILLISECONDS} ms" if slowdown == 1 else "-",
        slow < _MAX_MILLISECONDS if slowdown == 1 else None,
    )


async def _times(address: str, slowdown: int) -> tuple[list[float], list[float]]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await page.add_init_script(_OBSERVE)
        protocol = await page.context.new_cdp_session(page)
        await page.goto(address)
        await page.get_by_role("dialog", name="Instructions").wait_for()
        await page.keyboard.press("Escape")
        await page.wait_for_function("window.took.length === 1")
        await page.evaluate("window.took = []; window.worked = []")
        await protocol.send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
        await _answer(page)
        times, own = await page.evaluate("[window.took, window.worked]")
        await browser.close()
    return sorted(times), sorted(own)


async def _answer(page: Page) -> None:
    """Answer every conversation of the package; each key is pressed after the frame of the one before."""
    items = await page.locator("#progress i").count()
    pressed = 0
    for _ in range(items):
        for key in _KEYS:
            await page.keyboard.press(key)
            pressed += 1
            await page.wait_for_function("count => window.took.length === count", arg=pressed)
