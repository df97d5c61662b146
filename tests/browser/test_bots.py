"""A team's pages: registering a bot, watching its probe, and what a team sees of itself and of others."""

from typing import Any

from playwright.async_api import Page, expect

from tests.factories.bot_servers import bot, webhook, well_behaved
from tests.factories.browsing import SMALLEST, Visit, overflow, violations
from tests.factories.campaigns import released_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created, register_bots

HOSTILE = "<b onclick=alert(1)>x</b> gnp. مرحبا 🎉"


async def _register(page: Page, name: str, url: str) -> None:
    await page.get_by_label("Name", exact=True).fill(name)
    await page.get_by_label("Address").locator("visible=true").fill(url)
    await page.get_by_role("button", name="Register and probe").click()


async def _is_usable(page: Page) -> None:
    assert await violations(page) == []
    assert await overflow(page) == 0


class TestRegistering:
    async def test_a_bot_that_fails_its_probe_passes_once_it_is_mended(self, visit: Visit):
        says: dict[str, Any] = {"text": "x" * 3000}
        async with bot(lambda question: says or well_behaved(question)) as (_, url):
            page = await visit.sign_in("team", team="green", after="/bots/new")
            await _register(page, HOSTILE, url)
            await expect(page.locator(".state")).to_contain_text("Failing")
            assert await page.get_by_role("heading", level=1).inner_text() == HOSTILE
            report = page.get_by_role("region", name="Latest full probe")
            await expect(report).to_contain_text("Keeps to the longest reply")
            await expect(report).to_contain_text("3000 characters")
            await _is_usable(page)
            says.clear()
            await page.get_by_role("button", name="Probe now").click()
            await expect(page.locator(".state")).to_contain_text("takes part in conversations")
            await expect(report).to_contain_text("It can take part.")
            await _is_usable(page)
        page = await visit.open("/bots", size=SMALLEST, scheme="dark")
        await expect(page.locator("main")).to_contain_text("no released results yet")
        assert await page.get_by_role("link", name=HOSTILE).is_visible()
        await _is_usable(page)

    async def test_says_what_is_wrong_beside_each_field_and_keeps_what_was_typed(self, visit: Visit):
        page = await visit.sign_in("team", team="red", after="/bots/new")
        await page.get_by_label("OpenAI API").check()
        await page.get_by_label("Name", exact=True).fill("hu")
        await page.get_by_label("Base address").fill("ftp://x.example")
        await page.get_by_label("API key").fill("sk-secret")
        await page.get_by_text("Further settings").locator("visible=true").click()
        await page.get_by_label("Temperature").locator("visible=true").fill("warm")
        await page.get_by_role("button", name="Register and probe").click()
        await expect(page.get_by_role("alert")).to_contain_text("4 things to mend")
        for label, fault in {
            "Name": "Results call people HU",
            "Base address": "begins with http:// or https://",
            "Model": "Fill this in.",
            "Temperature": "Give a number",
        }.items():
            field = page.get_by_label(label, exact=True).locator("visible=true")
            described = (await field.get_attribute("aria-describedby") or "").split()[0]
            assert fault in await page.locator(f"#{described}").inner_text()
        assert await page.get_by_label("Base address").input_value() == "ftp://x.example"
        assert "sk-secret" not in await page.content()
        await _is_usable(page)
        await page.get_by_label("Webhook").check()
        await page.get_by_label("Name", exact=True).fill("mine")
        await page.get_by_label("Address").locator("visible=true").fill("http://10.1.2.3/reply")
        await page.get_by_role("button", name="Register and probe").click()
        assert "10.1.2.3" in await page.locator("#webhook-url-fault").inner_text()  # the service's own words
        visit.complaints.clear()  # Chromium reports the status 422


class TestOwnBots:
    async def test_have_settings_versions_and_a_new_secret(self, visit: Visit, suite: RunningSuite):
        async with bot(well_behaved) as (_, url):
            team = await suite.client("bots", "team", team="blue")
            made = await created(team, "/v1/bots", webhook(url, name="mine"))
            page = await visit.sign_in("team", team="blue", after=f"/bots/{made['id']}/settings")
            await page.get_by_label("Description").fill("Our second attempt.")
            await page.get_by_label("Questions at the same time").fill("0")
            await page.get_by_role("button", name="Save").click()
            await expect(page.locator("#limits-concurrency-fault")).to_have_text("Give at least 1.")
            await page.get_by_label("Questions at the same time").fill("3")
            await page.get_by_label("Everybody may see its name").check()
            await page.get_by_role("button", name="Save").click()
            await expect(page.get_by_role("status")).to_contain_text("Saved.")
            await page.get_by_label("New secret").fill("hello")
            await page.get_by_role("button", name="Replace the secret").click()
            await expect(page.locator("#own-secret-fault")).to_contain_text("whsec_")
            await page.get_by_label("New secret").fill("whsec_" + "TWZLUTlyOEdLWXFyVHdqVVBEOElMUFpJbzJMYUxhU3c=")
            await page.get_by_role("button", name="Replace the secret").click()
            await page.get_by_role("status").get_by_role("link", name="Overview").click()
            await page.get_by_text("Our second attempt.").wait_for()
            await page.get_by_role("link", name="New version").click()
            assert await page.get_by_label("Address").locator("visible=true").input_value() == url
            await page.get_by_role("button", name="Add and probe").click()
            await page.get_by_text("version 2 present").wait_for()
            await expect(page.locator(".state")).to_contain_text("takes part in conversations")
            now = (await team.get(f"/v1/bots/{made['id']}")).json()
            assert (now["description"], now["public"], now["limits"]["concurrency"]) == ("Our second attempt.", True, 3)
            assert (now["version"], now["has_secret"]) == (2, False)  # a secret belongs to its version
            await page.get_by_role("link", name="Settings").click()
            await page.get_by_role("button", name="Suspend").click()
            await expect(page.locator(".state")).to_contain_text("no questions until you resume it")
            await page.get_by_role("button", name="Resume").click()
            await expect(page.locator(".state")).to_contain_text("takes part in conversations")
        visit.complaints.clear()  # Chromium reports the status 422


class TestStandings:
    async def test_show_a_team_its_own_figures_and_others_by_pseudonym(self, visit: Visit, suite: RunningSuite):
        bots = await register_bots(suite)
        await released_campaign(suite, bots)
        page = await visit.sign_in("team", team="us", after="/bots")
        await expect(page.locator("main")).to_contain_text("rank 1 of 3")
        in_list = await page.locator("h2 .mark .on-light").get_attribute("fill")
        page = await visit.open("/bots/standings")
        text = await page.locator("main").inner_text()
        assert "secretive" not in text
        # The figures are those of the API: tests/analytics/standings/test_standings.py has them by hand.
        standing = (await (await suite.client("analytics", "team", team="us")).get("/v1/teams/me/standings")).json()
        (own,) = (each for each in standing["items"][0]["bots"] if each["shown_as"] == "own")
        colours = {each["name"]: each["colour"] for each in standing["items"][0]["speakers"]}
        in_table = page.locator(".rates").first.locator("tr.own .mark .on-light")
        assert [in_list, await in_table.get_attribute("fill")] == [colours["ours"]] * 2
        widths = await page.locator(".mark").evaluate_all("marks => marks.map(mark => mark.clientWidth)")
        assert max(widths) < 16  # pixels: a mark is as small as a letter, in every table
        fooling = own["fooling_rate"]
        rate, low, high = (f"{100 * fooling[bound]:.0f}" for bound in ("estimate", "low", "high"))
        assert f"{rate} % {low} to {high} %" in " ".join(text.split())
        assert f"{own['win_rate']['estimate']:.2f} {own['win_rate']['low']:.2f} to" in " ".join(text.split())
        assert await page.locator(".rates").nth(2).locator("tbody tr").count() == 2  # against each other bot
        undecided = page.get_by_role("row").filter(has_text="no difference shown")
        assert await undecided.locator("svg.own").count() == 0  # drawn as no difference, either

        page = await visit.open(f"/bots/{bots['ours']}")
        await expect(page.get_by_role("region", name="How it did")).to_contain_text("rank 1 of 3")
        await _is_usable(page)
        page = await visit.open(f"/bots/{bots['ours']}/conversations")
        assert await page.get_by_role("listitem").filter(has_text="im · complete").count() == 9
        await page.get_by_text("with a person").first.click()
        await expect(page.locator("main")).to_contain_text("HU-ours-0 says 0")
        await _is_usable(page)
        for below in ("", "/settings", "/versions/new", "/conversations"):
            answer = await page.goto(visit.address(f"/bots/{bots['secretive']}{below}"))
            assert answer is not None
            assert answer.status == 404
        visit.complaints.clear()  # Chromium reports the status 404


class TestHowTo:
    async def test_can_be_copied(self, visit: Visit):
        await visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = await visit.sign_in("team", team="blue", after="/bots/how-to")
        await page.get_by_role("button", name="Copy the request").click()
        await page.get_by_text("Copied").first.wait_for()
        copied = await page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("curl http://127.0.0.1:9000/reply")
        page = await visit.open("/bots/how-to", size=SMALLEST)
        for button in await page.locator("[data-copy]").all():  # it covers no text
            box, text = await button.bounding_box(), await button.locator("xpath=../../pre").bounding_box()
            assert box is not None
            assert text is not None
            assert box["y"] + box["height"] <= text["y"] + 1


class TestAdministrators:
    async def test_see_all_bots_and_find_one(self, visit: Visit, suite: RunningSuite):
        bots = await register_bots(suite)
        page = await visit.sign_in("admin", after="/bots")
        assert {"ours", "secretive", "baseline"} <= set(await page.locator(".bots h2").all_inner_texts())
        await page.get_by_label("Team").fill("them")
        await page.get_by_role("button", name="Show").click()
        assert await page.locator(".bots h2").all_inner_texts() == ["secretive"]
        await _is_usable(page)
        page = await visit.open(f"/bots/{bots['secretive']}/versions/new")
        assert await page.get_by_label("Transformers").is_visible()
