"""A browser for tests of pages: Chromium, driven by Playwright, one for all tests of a process.

`Visit` opens pages as one person sees them, and takes down what the browser complains of: scripts that fail, what the
Content-Security-Policy blocks, files that are missing.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from tests.factories.browser import BROWSER
from tests.factories.running_suite import RunningSuite

Scheme = Literal["light", "dark"]
DESKTOP: Final = (1440, 900)
PHONE: Final = (390, 844)
SMALLEST: Final = (360, 640)
SCREENS: Final[tuple[tuple[tuple[int, int], Scheme], ...]] = ((DESKTOP, "light"), (SMALLEST, "dark"))
OF_LOOKS: Final = ("color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size")
"""Rules of axe-core that depend on the colours and the width of a page."""
_AXE: Final[str] = Axe().axe_script
_OPTIONS: Final = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--in-process-gpu")
"""The last spares a process, whose work is a twentieth of the browser's: no graphics card draws here."""
_PATIENCE: Final = 60_000
"""Milliseconds until a page or an element is there: a busy machine takes longer than Playwright expects."""
expect.set_options(timeout=_PATIENCE)


@asynccontextmanager
async def running_browser() -> AsyncIterator[Browser]:
    """Run a browser while the block lasts; skips the test where none is installed."""
    if BROWSER is None:
        pytest.skip("no Chromium is installed: apt-get install chromium-headless-shell")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=BROWSER, args=_OPTIONS)
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class Visit:
    """One person's browser: its cookies, its windows, and all that it complained of."""

    suite: RunningSuite
    context: BrowserContext
    complaints: list[str] = field(default_factory=list)

    def address(self, path: str) -> str:
        return f"{self.suite.urls['web']}{path}"

    async def open(self, path: str, *, size: tuple[int, int] = DESKTOP, scheme: Scheme = "light") -> Page:
        """Open a window on a page of ours."""
        page = await self.context.new_page()
        page.on(
            "console", lambda said: self.complaints.append(said.text) if said.type in {"error", "warning"} else None
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        await page.set_viewport_size({"width": size[0], "height": size[1]})
        await page.emulate_media(color_scheme=scheme)
        await page.goto(self.address(path))
        return page

    async def sign_in(self, role: str, *, team: str | None = None, after: str = "/") -> Page:
        """Sign in with a new key, as the form does; returns the page that follows."""
        key = await self.suite.keys.make(role, team=team)
        await self.context.request.post(self.address("/sign-in"), form={"key": key}, max_redirects=0)
        return await self.open(after)


@asynccontextmanager
async def visiting(browser: Browser, suite: RunningSuite, **options: Any) -> AsyncIterator[Visit]:
    """Give a new person's browser; what it complains of at the end fails the test."""
    context = await browser.new_context(**options)
    context.set_default_timeout(_PATIENCE)
    visit = Visit(suite, context)
    try:
        yield visit
        assert visit.complaints == []
    finally:
        await context.close()


async def violations(page: Page, *rules: str) -> list[str]:
    """Return what axe-core finds against WCAG 2.2 AA and best practices, or these rules alone, with the elements."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(_AXE)
    options = {"resultTypes": ["violations"], "preload": False} | ({"runOnly": [*rules]} if rules else {})
    found: list[dict[str, Any]] = await page.evaluate(
        "options => axe.run(options).then(({violations}) => violations)", options
    )
    return [
        f"{each['id']}: {node['html'][:200]} ({node['failureSummary'][:300]})"
        for each in found
        for node in each["nodes"]
    ]


async def barriers(page: Page) -> list[str]:
    """Return what keeps people from using a page: at a desk in light colours, on the smallest phone in dark ones.

    The page is loaded once: its window changes, and what depends on its colours and its width is looked at again.
    """
    found = []
    for ((width, height), scheme), rules in zip(SCREENS, ((), OF_LOOKS), strict=True):
        await page.set_viewport_size({"width": width, "height": height})
        await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # no colour is half-way to another
        found += [f"{scheme}: {each}" for each in await violations(page, *rules)]
        if wide := await overflow(page):
            found.append(f"{scheme}: {wide} px wider than the window")
    return found


async def overflow(page: Page) -> int:
    """Return by how many pixels the page is wider than its window."""
    wide: int = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return wide


async def is_in_view(page: Page, selector: str) -> bool:
    """Whether all shown elements lie in the window, and are not scrolled away in their pane."""
    found: bool = await page.evaluate(
        """selector => [...document.querySelectorAll(selector)].filter(each => each.checkVisibility()).every(each => {
            const { left, right, top, bottom } = each.getBoundingClientRect();
            const at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
            return top >= 0 && bottom <= innerHeight && each.contains(at);
        })""",
        selector,
    )
    return found


async def open_package(visit: Visit, path: str, **more: Any) -> Page:
    """Open a page of annotators, and close the instructions that are shown first."""
    page = await visit.open(path, **more)
    await expect(page.get_by_role("dialog", name="Instructions")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    return page


async def press(page: Page, *keys: str) -> None:
    """Press keys one after the other."""
    for key in keys:
        await page.keyboard.press(key)
