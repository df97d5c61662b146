"""The dashboard of a campaign: what it says, draws and lets people take home is what `analytics` answers."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import quote
from uuid import UUID

import pytest
from playwright.async_api import Browser, Page, Route, StorageState, expect

from spotthebot.clients.analytics_parameters import Parameters
from spotthebot.web.layout.domain import NOTHING
from tests.browser.dashboards import HEARD, OBSERVE_SHIFT, PATIENCE, filled, open_dashboard, rows, svg_of
from tests.factories.browsing import DESKTOP, PHONE, Visit, barriers, violations, visiting
from tests.factories.campaigns import (
    ANNOTATORS,
    imported_annotation,
    labelled_campaign,
    open_campaign,
    package_rows,
    upload,
)
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import register_bots

HOSTILE = "<img src=x onerror=alert(1)> \u05d0evil"
PAIRS = [("ours", HOSTILE), ("ours", "baseline"), (HOSTILE, "baseline"), ("HU", "ours")]
FIGURES = ("ranking", "win-matrix", "survival", "features", "segments")
MAX_BYTES = 200_000
LONGEST_PAUSE = 61_000
"""Milliseconds after which the page has looked again how far a campaign is."""
GOOD_SHIFT = 0.05
"""Half of the cumulative layout shift that web.dev/vitals calls good."""


@dataclass(frozen=True)
class Campaigns:
    """The ids of a campaign that is closed, one that runs, one with a single bot, and one without annotations."""

    closed: str
    running: str
    of_one_bot: str
    empty: str


@pytest.fixture(scope="module")
async def campaigns(module_suite: RunningSuite) -> Campaigns:
    bots = await register_bots(module_suite)
    closed = await labelled_campaign(module_suite, bots, PAIRS)
    running = await labelled_campaign(module_suite, bots, PAIRS, annotators=ANNOTATORS[:1], closed=False)
    of_one_bot = await labelled_campaign(module_suite, bots, [("HU", "ours")])
    admin = await module_suite.client("annotation", "admin")
    collection = (await admin.get(closed)).json()["collection_id"]
    empty = await open_campaign(module_suite, collection, mode="import", name="empty", segments=[1])
    paths = (closed, running, of_one_bot, f"/v1/campaigns/{empty['id']}")
    return Campaigns(*(path.rpartition("/")[2] for path in paths))


@pytest.fixture(scope="module")
async def session(chromium: Browser, module_suite: RunningSuite) -> StorageState:
    """The cookies of an analyst who signed in."""
    async with visiting(chromium, module_suite, locale="en-GB") as visit:
        await visit.sign_in("analyst", after="/campaigns")
        return await visit.context.storage_state()


@pytest.fixture
async def visit(chromium: Browser, module_suite: RunningSuite, session: StorageState) -> AsyncIterator[Visit]:
    """An analyst's browser, on services that keep their campaigns."""
    async with visiting(chromium, module_suite, locale="en-GB", storage_state=session) as visit:
        yield visit


@pytest.fixture(scope="module")
async def dashboard(
    chromium: Browser, module_suite: RunningSuite, session: StorageState, campaigns: Campaigns
) -> AsyncIterator[Page]:
    """The dashboard of the closed campaign, for tests that leave it as it is."""
    async with visiting(chromium, module_suite, locale="en-GB", storage_state=session) as visit:
        yield await open_dashboard(visit, campaigns.closed)


@pytest.fixture
async def strange_visit(chromium: Browser, module_suite: RunningSuite) -> AsyncIterator[Visit]:
    """A browser without cookies."""
    async with visiting(chromium, module_suite, locale="en-GB") as visit:
        yield visit


class TestNumbers:
    async def test_are_those_that_analytics_answers(
        self, dashboard: Page, campaigns: Campaigns, module_suite: RunningSuite
    ):
        page = dashboard
        analytics = await module_suite.analytics("analyst")
        ranking = (await analytics.ranking(campaigns.closed)).ranking
        shown = await rows(page, "ranking")
        assert [*shown] == [each.bot for each in ranking.bots]
        for each in ranking.bots:
            rate = each.win_rate
            interval = NOTHING if rate.low is None else f"{rate.low:.2f} to {rate.high:.2f}"
            ranks = (
                str(each.rank_low) if each.rank_low == each.rank_high else f"{each.rank_low}{NOTHING}{each.rank_high}"
            )
            assert shown[each.bot][:2] == [f"{rate.estimate:.2f}{interval}", ranks]
        fooling = (await analytics.fooling_rates(campaigns.closed)).fooling_rates
        shown = await rows(page, "fooling-rates")
        assert {name: cells[0] for name, cells in shown.items()} == {
            each.bot: f"{100 * (each.rate or 0):.0f} %" for each in fooling
        }
        assert [*shown][-1] == "HU"
        pairs = await page.locator("#win-rates tr[data-pair]").evaluate_all(
            "rows => rows.map(row => [row.dataset.pair, ...[2, 3, 4].map(at => Number(row.cells[at].textContent))])"
        )
        win_rates = (await analytics.win_rates(campaigns.closed)).win_rates
        assert pairs == [[f"{e.bot}/{e.other}", e.wins, e.losses, e.ties] for e in win_rates.pairs]

    async def test_in_a_figure_are_those_of_analytics_drawing(
        self, dashboard: Page, campaigns: Campaigns, module_suite: RunningSuite
    ):
        page = dashboard
        analytics = await module_suite.analytics("analyst")
        for figure in FIGURES:
            image = page.locator(f"#figure-{figure} img")
            await image.scroll_into_view_if_needed()
            await expect(image).to_have_js_property("complete", True)
            assert await image.evaluate("image => image.naturalWidth") > 200
            source = await image.evaluate("image => image.currentSrc")
            drawn = await (await page.request.get(source)).body()
            assert drawn == await analytics.figure(campaigns.closed, f"{figure}.svg", heading=False)
        labels = re.findall(r"<text[^>]*>([^<]+)</text>", drawn_text := (await svg_of(page, "ranking")))
        estimates = [e.win_rate.estimate for e in (await analytics.ranking(campaigns.closed)).ranking.bots]
        assert {f"{each:.2f}".removeprefix("0") for each in estimates if each is not None and 0 < each < 1} <= set(
            labels
        )
        assert "Ranking" not in drawn_text

    async def test_follow_the_filters(self, visit: Visit, campaigns: Campaigns, module_suite: RunningSuite):
        page = await open_dashboard(visit, campaigns.closed)
        before = await rows(page, "fooling-rates")
        await page.get_by_label("Intervals of").select_option("99 %")
        await page.get_by_label("Annotations of").select_option("all packages")
        await page.get_by_role("button", name="Show", exact=True).click()
        await page.wait_for_url("**confidence=99**")
        await filled(page)
        after = await rows(page, "fooling-rates")
        chosen: Parameters = {"confidence_level": 0.99, "filter": "none"}
        analytics = await module_suite.analytics("analyst")
        found = (await analytics.fooling_rates(campaigns.closed, **chosen)).fooling_rates
        bounds = [(each.bot, each.low, each.high) for each in found]
        expected = {bot: f"{100 * low:.0f} to {100 * high:.0f} %" for bot, low, high in bounds if low and high}
        assert {name: cells[1] for name, cells in after.items() if name in expected} == expected
        assert expected
        assert after != before
        source = await page.locator("#figure-survival img").evaluate("image => image.currentSrc")
        assert "filter=none&confidence=99" in source


class TestFiles:
    async def test_can_be_taken_home_in_every_form(self, dashboard: Page):
        page = dashboard
        files = page.locator("#win-rates .files")
        starts = {
            "SVG": ("win-matrix.svg", b"<svg"),
            "PNG": ("win-matrix.png", b"\x89PNG"),
            "PDF": ("win-matrix.pdf", b"%PDF"),
            "Vega-Lite": ("win-matrix.vl.json", b'{"config"'),
            "CSV": ("win-rates.csv", b"bot,other,wins"),
            "JSON": ("win-rates.json", b'{"filter"'),
        }
        for label, (name, start) in starts.items():
            async with page.expect_download() as downloading:
                await files.get_by_text(label, exact=True).click()
            download = await downloading.value
            assert download.suggested_filename == name
            content = (await download.path()).read_bytes()
            assert start in content[:400], label

    async def test_are_light_and_whole_on_paper(self, visit: Visit, campaigns: Campaigns):
        page = await visit.open(f"/campaigns/{campaigns.closed}?paper=true", scheme="dark")
        await expect(page.locator(".chart.is-drawn")).to_have_count(len(FIGURES), timeout=PATIENCE)
        await page.emulate_media(media="print")
        sources: list[str] = await page.locator(".chart img").evaluate_all("all => all.map(each => each.currentSrc)")
        assert [source for source in sources if "dark" in source or "narrow" in source] == []
        for hidden in ("banner", "navigation", "button", "form"):
            await expect(page.get_by_role(hidden)).to_have_count(0)
        await expect(page.get_by_text("One game is one annotation; annotations of complete packages")).to_be_visible()


class TestExploring:
    async def test_draws_the_chart_in_a_frame_that_is_shut_off_from_the_page(self, dashboard: Page):
        page = dashboard
        chart = page.locator("#figure-win-matrix")
        async with page.expect_response("**/explore?**") as answering:
            await page.locator("#win-rates").get_by_role("link", name="Interactive chart").click()
        policy = (await answering.value).headers["content-security-policy"]
        assert "sandbox allow-scripts" in policy
        assert "connect-src 'none'" in policy
        frame = page.frame_locator("#figure-win-matrix iframe")
        await expect(frame.get_by_text("* t test").first).to_be_attached(timeout=PATIENCE)
        assert await frame.locator("body").evaluate("() => self.origin") == "null"
        await expect(chart.locator("picture")).to_be_hidden()
        await page.locator("#win-rates").get_by_role("link", name="Close").click()
        await expect(chart.locator("picture")).to_be_visible()


class TestRunningCampaign:
    async def test_is_marked_and_renewed_by_itself_until_it_ends(
        self, visit: Visit, campaigns: Campaigns, module_suite: RunningSuite
    ):
        page = await visit.open("/sign-in")
        await page.clock.install()
        looks: list[int] = []
        page.on("response", lambda answer: looks.append(answer.status) if answer.url.endswith("/progress") else None)
        await page.goto(visit.address(f"/campaigns/{campaigns.running}"))
        await filled(page)
        assert await page.get_by_role("note").inner_text() == (
            "Preliminary. 12 of 24 annotations are missing; everything below may still change."
        )
        word = page.get_by_role("note").get_by_role("link", name="Preliminary.")
        assert await word.get_attribute("href") == "/docs/glossary.html"
        while 304 not in looks:
            async with page.expect_response("**/progress"):
                await page.clock.fast_forward(LONGEST_PAUSE)
        assert looks[0] == 200  # later there is nothing new
        moments = page.locator(".as-of")
        assert re.fullmatch(r"As of \d\d:\d\d:\d\d UTC, from 12 annotations\.", await moments.first.inner_text())
        await expect(page.locator("#live")).to_contain_text("Last looked at")
        await page.evaluate("document.querySelector('#time .files a').focus()")
        admin = await module_suite.annotation("admin")
        await admin.close_campaign(UUID(campaigns.running))
        await page.clock.fast_forward(LONGEST_PAUSE)
        await expect(page.get_by_role("note")).to_have_count(0)
        await expect(page.locator("#live")).to_have_text("The campaign has ended. These are its results.")
        await expect(page.locator(".is-preliminary")).to_have_count(0)
        await expect(page.get_by_role("status")).to_have_text("Renewed.")
        await expect(moments).to_have_count(1)  # of the part that somebody stands in, which waits
        assert await page.evaluate("document.activeElement.closest('section').id") == "time"

    async def test_says_to_everybody_when_the_server_is_away(self, visit: Visit, campaigns: Campaigns):
        page = await visit.open("/sign-in")
        await page.clock.install()
        await page.goto(visit.address(f"/campaigns/{campaigns.empty}"))
        await page.route("**/progress", lambda route: route.abort())
        await page.clock.fast_forward(LONGEST_PAUSE)
        await expect(page.locator("#live")).to_contain_text("The server does not answer.")
        await page.unroute("**/progress")
        await page.clock.fast_forward(LONGEST_PAUSE)
        await expect(page.locator("#live")).to_contain_text("Last looked at")
        visit.complaints.clear()  # Chromium reports the request that was cut off


@pytest.fixture
def only_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> str:
    """Let a dashboard begin with results that are kept alone; return the query of a view that nobody asked for."""
    monkeypatch.setattr("spotthebot.web.results.pages.dashboard._FIRST_VIEW_SECONDS", 0)
    return "?unit=segment&confidence=90"


class TestAnyone:
    async def test_can_use_it_on_a_desk_and_on_a_phone(self, visit: Visit, campaigns: Campaigns):
        page = await open_dashboard(visit, campaigns.closed)
        await expect(page.get_by_role("main")).to_match_aria_snapshot(HEARD)
        for summary in await page.locator("summary").all():
            await summary.click()
        assert await barriers(page) == []

    async def test_sees_nothing_move_while_it_loads(self, visit: Visit, campaigns: Campaigns):
        page = await visit.open("/sign-in")
        await page.add_init_script(OBSERVE_SHIFT)
        for width, height in (DESKTOP, PHONE):
            await page.set_viewport_size({"width": width, "height": height})
            await page.goto(visit.address(f"/campaigns/{campaigns.closed}"))
            await filled(page)
            await expect(page.locator("#figure-ranking.is-drawn")).to_be_visible()
            assert await page.evaluate("window.shifted()") < GOOD_SHIFT

    async def test_reads_all_of_it_without_scripts(
        self, chromium: Browser, module_suite: RunningSuite, campaigns: Campaigns, only_what_is_kept: str
    ):
        async with visiting(chromium, module_suite, locale="de-DE", java_script_enabled=False) as visit:
            key = await module_suite.keys.make("analyst")
            after = quote(f"/campaigns/{campaigns.closed}{only_what_is_kept}")
            page = await visit.open(f"/sign-in?after={after}")
            await page.get_by_label("API-Schlüssel").fill(key)
            await page.get_by_role("button", name="Anmelden").click()
            await page.get_by_role("link", name="Diesen Teil zeigen: Täuschungsrate").click()
            await expect(page.get_by_role("rowheader", name="ours")).to_be_visible()
            await page.go_back()
            await page.get_by_role("link", name="Alles auf einer Seite zeigen").click()
            for part in ("ranking", "fooling-rates", "agreement", "time"):
                await expect(page.locator(f"#{part} .files")).to_be_visible()
            assert await page.locator(".waiting").count() == 0

    async def test_first_loads_less_than_200_kb(
        self, visit: Visit, campaigns: Campaigns, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("spotthebot.web.results.pages.dashboard._LATEST_FIRST_VIEW_SECONDS", 60)
        await open_dashboard(visit, campaigns.closed)
        page = await visit.context.new_page()
        sizes: dict[str, int] = {}

        async def weigh(route: Route) -> None:
            if "/figures/" in route.request.url:
                await route.abort()
                return
            answer = await route.fetch()
            sizes[route.request.url] = len(await answer.body())
            await route.fulfill(response=answer)

        await page.route("**/*", weigh)
        await page.goto(visit.address(f"/campaigns/{campaigns.closed}"))
        await filled(page)
        assert [address for address in sizes if "/parts/" in address] == []  # the page has them: they are kept
        assert sum(sizes.values()) < MAX_BYTES
        await page.unroute_all(behavior="wait")


class TestTrouble:
    async def test_with_one_part_leaves_the_others_and_can_be_tried_again(
        self, visit: Visit, campaigns: Campaigns, only_what_is_kept: str
    ):
        page = await visit.open("/sign-in")
        await page.route("**/parts/survival*", lambda route: route.abort())
        await page.goto(visit.address(f"/campaigns/{campaigns.closed}{only_what_is_kept}&filter=none"))
        await filled(page)
        assert "ours" in await rows(page, "ranking")
        await page.unroute("**/parts/survival*")
        await page.locator("#survival").get_by_role("button", name="Try again").click()
        await expect(page.locator("#figure-survival")).to_be_visible()
        visit.complaints.clear()  # Chromium reports the request that was cut off

    async def test_is_said_in_the_part_that_it_concerns(self, visit: Visit, campaigns: Campaigns):
        page = await visit.open(f"/campaigns/{campaigns.of_one_bot}")
        await filled(page)
        await expect(page.locator("#ranking")).to_contain_text("of at least two bots")
        await expect(page.locator("#time .files")).to_be_visible()


class TestEmptyCampaign:
    async def test_shows_results_by_itself_with_the_first_annotation(
        self, visit: Visit, campaigns: Campaigns, module_suite: RunningSuite
    ):
        page = await visit.open("/sign-in")
        await page.clock.install()
        await page.goto(visit.address(f"/campaigns/{campaigns.empty}"))
        await expect(page.get_by_role("heading", name="No annotations yet")).to_be_visible()
        assert await page.locator(".part").count() == 0
        assert await violations(page) == []
        path = f"/v1/campaigns/{campaigns.empty}"
        packages = package_rows({"p": [("ours-baseline-0", 1)]})
        assert (await upload(module_suite, path, "packages", packages)).status_code == 201
        labelled = [imported_annotation("a", conversation="ours-baseline-0")]
        assert (await upload(module_suite, path, "annotations", labelled)).status_code == 201
        await page.clock.fast_forward(LONGEST_PAUSE)
        await expect(page.locator("#time")).to_be_visible()


class TestStability:
    async def test_is_computed_on_request_while_the_page_says_how_far_it_is(
        self, visit: Visit, campaigns: Campaigns, module_suite: RunningSuite
    ):
        page = await open_dashboard(visit, campaigns.closed)
        await page.locator("#stability").get_by_role("button", name="Compute").click()
        await page.wait_for_url("**#stability")
        await page.request.post(visit.address(f"/campaigns/{campaigns.closed}/stability"))
        more = page.locator("#stability").get_by_role("heading", name="How many more conversations?")
        await expect(more).to_be_visible(timeout=PATIENCE)
        analytics = await module_suite.analytics("analyst")
        jobs = [each async for each in analytics.list_analyses(campaign_id=campaigns.closed)]
        assert [each.kind for each in jobs] == ["more_data", "stability"]
        plan = jobs[0].plan
        assert plan is not None
        shown = await page.locator("#stability tbody tr").evaluate_all(
            "rows => rows.map(row => [row.cells[0].textContent, row.cells[1].textContent])"
        )
        assert shown == [[each.bot, each.other] for each in plan.pairs]
        table = await page.request.get(visit.address(f"/campaigns/{campaigns.closed}/data/more-data.csv"))
        assert [row.split(",")[:2] for row in (await table.text()).splitlines()[1:]] == shown
        await expect(page.locator("#figure-stability img")).to_be_visible(timeout=PATIENCE)


class TestWhoMaySeeIt:
    async def test_a_team_sees_no_campaign(self, strange_visit: Visit, campaigns: Campaigns):
        visit = strange_visit
        await visit.sign_in("team", team="us", after="/nothing-here")
        for path in ("", f"/{campaigns.closed}", f"/{campaigns.closed}/parts/ranking", f"/{campaigns.closed}/progress"):
            page = await visit.open(f"/campaigns{path}")
            assert await page.get_by_role("heading", level=1).inner_text() == "Not open to you"
            assert "autumn" not in await page.content()
        for file in ("figures/ranking.svg", "figures/ranking/explore", "data/ranking.csv"):
            answer = await page.request.get(visit.address(f"/campaigns/{campaigns.closed}/{file}"))
            assert answer.status == 403
        visit.complaints.clear()  # Chromium reports the statuses 403 and 404

    async def test_a_stranger_is_led_to_the_form_for_a_key(self, strange_visit: Visit, campaigns: Campaigns):
        page = await strange_visit.open(f"/campaigns/{campaigns.closed}?unit=segment")
        assert page.url == strange_visit.address(f"/sign-in?after=/campaigns/{campaigns.closed}%3Funit%3Dsegment")
