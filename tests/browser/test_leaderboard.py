"""The leaderboard: hidden until an administrator makes results public, then for everybody, and names stay hidden."""

from playwright.async_api import expect

from spotthebot.web.domain.numbers import NOTHING
from tests.factories.browsing import Visit
from tests.factories.released_studies import labelled_campaign, register_bots
from tests.factories.running_suite import RunningSuite


class TestLeaderboard:
    async def test_shows_strangers_what_was_made_public_and_nothing_before_or_after(
        self, visit: Visit, suite: RunningSuite
    ):
        campaign = (await labelled_campaign(suite, await register_bots(suite))).rpartition("/")[2]
        admin = await suite.client("annotation", "admin")
        page = await visit.open("/leaderboard")
        await expect(page.get_by_role("heading", name="Nothing is public yet")).to_be_visible()
        await admin.post(f"/v1/campaigns/{campaign}/results/release")
        await page.reload()
        await expect(page.get_by_role("heading", name="Nothing is public yet")).to_be_visible()
        await admin.post(f"/v1/campaigns/{campaign}/results/publish")
        await page.reload()
        await expect(page.get_by_role("heading", name="autumn")).to_be_visible()
        text = await page.locator("main").inner_text()
        assert "baseline" in text
        assert "secretive" not in text
        assert "ours" not in text
        found = await (await suite.analytics("analyst")).ranking(campaign)
        ranking = found.ranking
        shown = await page.locator("tr[data-bot]").evaluate_all(
            "rows => rows.map(row => row.cells[2].firstChild.textContent)"
        )
        assert shown == [*(f"{each.win_rate.estimate:.2f}" for each in ranking.bots), NOTHING]
        marks = await page.locator("tr[data-bot] .mark .on-light").evaluate_all(
            "marks => marks.map(mark => mark.getAttribute('fill'))"
        )
        assert marks == [each.colour for each in found.speakers]
        await page.get_by_text("How it was computed").click()
        await expect(page.get_by_text(ranking.method)).to_be_visible()
        await admin.post(f"/v1/campaigns/{campaign}/results/withdraw")
        await page.reload()
        await expect(page.get_by_role("heading", name="Nothing is public yet")).to_be_visible()
