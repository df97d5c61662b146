"""Leaderboards: that of bots, for everybody once results are public, and that of a game, for its annotators."""

from itertools import combinations
from typing import Any

from playwright.async_api import expect

from spotthebot.contracts.annotation.assignments import AnswerIn, ClaimIn, ExchangeIn
from spotthebot.web.layout.domain import NOTHING
from tests.factories.browsing import PHONE, Visit, barriers, open_package, overflow, press, violations
from tests.factories.campaigns import campaign_of_talks, labelled_campaign, talk
from tests.factories.pages import entry_path
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created, register_bots


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
        assert "ours" not in text.split()  # a pseudonym may hold it
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


class TestPhones:
    """At 390 by 844 pixels no number lies beyond an edge, and names keep their words."""

    async def test_show_all_of_standings_a_leaderboard_and_probes(self, visit: Visit, suite: RunningSuite):
        bots = await register_bots(suite)
        campaign = await labelled_campaign(suite, bots)
        admin = await suite.client("annotation", "admin")
        for step in ("release", "publish"):
            assert (await admin.post(f"{campaign}/results/{step}")).status_code == 200
        await visit.sign_in("team", team="us")
        for path in ("/bots/standings", "/leaderboard", f"/bots/{bots['ours']}"):
            page = await visit.open(path, size=PHONE)
            widths = await page.locator(".scroll").evaluate_all(
                "boxes => boxes.map(box => [box.scrollWidth, box.clientWidth])"
            )
            assert widths
            assert [each for each in widths if each[0] > each[1]] == []
            lines = await page.locator("tbody .speaker bdi, tbody .speaker code, .yours").evaluate_all(
                """names => names.map(name =>
                    name.getBoundingClientRect().height / parseFloat(getComputedStyle(name).fontSize))"""
            )
            assert [each for each in lines if each > 2] == []  # in letters high: one line
            assert await overflow(page) == 0
            assert await violations(page) == []

    async def test_break_long_names_and_keep_all_within_the_page(self, visit: Visit, suite: RunningSuite):
        us = await suite.client("bots", "team", team="us")
        names = (f"acme-{'x' * 60}", "the retrieval bot of our own team, version 2.11", "short")
        bots = {}
        for name in names:
            body = {"name": name, "domains": ["everyday"], "protocol": {"kind": "builtin", "model": "eliza"}}
            bots[name] = (await created(us, "/v1/bots?probe=false", body | {"public": True}))["id"]
        campaign = await labelled_campaign(suite, bots, [*combinations(names, 2)])
        admin = await suite.client("annotation", "admin")
        for step in ("release", "publish"):
            assert (await admin.post(f"{campaign}/results/{step}")).status_code == 200
        await visit.sign_in("team", team="us")
        for path in ("/bots/standings", "/leaderboard", "/bots", f"/bots/{bots[names[0]]}"):
            page = await visit.open(path, size=PHONE)
            await expect(page.get_by_text(names[0]).first).to_be_visible()
            assert await overflow(page) == 0


class TestGame:
    async def test_shows_its_annotators_their_points_when_it_is_over_and_nothing_of_them_before(
        self, visit: Visit, suite: RunningSuite
    ):
        person_and_bot = talk("c")
        person_and_bot["participants"][0] = {"kind": "human", "name": "HU"}
        game = await campaign_of_talks(
            suite, person_and_bot, protocol="spot_the_bot_gamified", protocol_version=1, annotations_per_segment=3
        )
        page = await open_package(visit, await entry_path(suite, game))
        await press(page, "i")
        await expect(page.get_by_role("dialog")).to_contain_text("guessing does not pay")
        await press(page, "Escape", "Enter")
        await expect(page.locator(".turn")).to_have_count(2)
        await press(page, "1", "9", "Enter", "s")
        await expect(page.get_by_text("Nobody has a place yet.")).to_be_visible()
        await expect(page.get_by_text("Points come when all is over")).to_be_visible()
        await _play(suite, game, "bob", {"A": "bot", "B": "bot"})
        await page.get_by_role("link", name="To the leaderboard").click()
        await expect(page.get_by_text("Nobody has a place yet.")).to_be_visible()
        await (await suite.client("annotation", "admin")).post(f"/v1/campaigns/{game['id']}/close")
        await page.get_by_role("link", name="Back").click()
        await expect(page.get_by_role("heading", name="This campaign is over")).to_be_visible()
        await expect(page.get_by_text("Your place: 1 of 2.")).to_be_visible()
        rows = await page.locator(".board tbody tr").all_inner_texts()
        assert [row.split("\t")[2:] for row in rows] == [["1", "100 %", "2.0"], ["1", "50 %", "0.0"]]
        assert await page.locator(".board .own").inner_text() == rows[0]
        assert "SECRET" not in await page.content()
        assert await barriers(page) == []
        other = await campaign_of_talks(suite, talk("d"), name="bots against people")
        await page.goto(visit.address(await entry_path(suite, other)))
        await page.goto(f"{page.url}/leaderboard")
        await expect(page.get_by_text("There is no leaderboard here.")).to_be_visible()
        assert other["name"] not in await page.content()


async def _play(suite: RunningSuite, game: dict[str, Any], annotator: str, entity: dict[str, str]) -> None:
    """Open the first exchange of the only item, and label both sides."""
    frontend = await suite.apps["web"].state.resources.frontend.annotation()
    held = await frontend.claim_package(game["id"], ClaimIn(annotator=annotator))
    await frontend.open_exchange(held.id, 0, ExchangeIn(open=1))
    await frontend.save_answer(held.id, 0, AnswerIn(answer={"entity": entity}))
    await frontend.submit_assignment(held.id)
