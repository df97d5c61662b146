"""Dashboards in a browser: what tests wait for, and what they read of them."""

from typing import Final

from playwright.async_api import Page, expect

from tests.factories.browsing import Visit

PATIENCE: Final = 60_000
"""Milliseconds for what the first request of a process computes."""
OBSERVE_SHIFT: Final = """
const add = entries => { window.shift = entries.reduce((sum, each) => sum + each.value, window.shift ?? 0); };
window.observer = new PerformanceObserver(list => add(list.getEntries()));
window.observer.observe({ type: "layout-shift", buffered: true });
window.shifted = () => { add(window.observer.takeRecords()); return window.shift; };
"""
"""A script of the page itself: `shifted()` is its cumulative layout shift until now."""
HEARD: Final = """
- main:
  - heading "autumn" [level=1]
  - status: All parts are loaded.
  - region "What can be said"
  - form "What is computed":
    - combobox "One game is"
    - combobox "Annotations of"
    - combobox "Intervals of"
  - navigation "Parts of this page"
  - region "Ranking":
    - heading "Ranking" [level=2]
    - figure:
      - img /Mean win rates of the bots with their intervals/
    - 'region "Ranking: the table"':
      - table:
        - rowgroup:
          - row /.*/
        - rowgroup:
          - row /ours/:
            - rowheader "ours"
            - cell /to/
            - cell /\\d/
    - paragraph:
      - 'link "Ranking: SVG"'
    - link "Interactive chart Ranking"
  - region "Fooling rate":
    - heading "Fooling rate" [level=2]
"""
"""What a screen reader makes of the page."""


async def filled(page: Page) -> None:
    """Wait until every part of the dashboard is there."""
    await expect(page.get_by_role("status")).to_have_text("All parts are loaded.", timeout=PATIENCE)


async def open_dashboard(visit: Visit, campaign: str, query: str = "") -> Page:
    page = await visit.open(f"/campaigns/{campaign}{query}")
    await filled(page)
    return page


async def rows(page: Page, part: str) -> dict[str, list[str]]:
    """Return the cells of a part's rows by the name in front of them."""
    found: list[list[str]] = await page.locator(f"#{part} tr[data-bot]").evaluate_all(
        "rows => rows.map(row => [row.dataset.bot, ...[...row.cells].slice(1).map(cell => cell.textContent.trim())])"
    )
    return {name: [" ".join(cell.split()) for cell in cells] for name, *cells in found}


async def svg_of(page: Page, figure: str) -> str:
    source = await page.locator(f"#figure-{figure} img").evaluate("image => image.currentSrc")
    return await (await page.request.get(source)).text()
