"""Administrators run campaigns and collections from pages: create, preview, open, pause, block, pay, cancel."""

import re
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from playwright.async_api import Page, expect

from tests.factories.annotating import appeal, claim, work_through
from tests.factories.browsing import SMALLEST, Visit, overflow, violations
from tests.factories.campaigns import CONVERSATIONS, campaign_of
from tests.factories.frontends import open_chats, two_bots
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, created, import_conversations, plan, until

PAID: dict[str, Any] = {"pay_per_package": "1.50", "currency": "EUR"}
ANNOTATOR = "<img src=x onerror='window.hacked = 1'>"


@pytest.fixture
async def suite(module_suite: RunningSuite) -> RunningSuite:
    """The file's services with the data of all its tests."""
    return module_suite


async def _whole(page: Page, *, complaints: list[str]) -> None:
    assert await violations(page) == []
    assert await overflow(page) == 0
    assert await page.evaluate("window.hacked") is None
    assert complaints == []


class TestCampaign:
    async def test_is_created_previewed_opened_paused_and_closed_from_its_pages(
        self, visit: Visit, suite: RunningSuite
    ):
        await import_conversations(suite, CONVERSATIONS)
        page = await visit.sign_in("admin", after="/admin")
        await page.get_by_role("link", name="New campaign").click()
        await page.get_by_label("Name").fill("  people & bots  ")
        await page.get_by_role("checkbox").first.check()
        await page.get_by_label("Lengths in exchanges").fill("2, 1")
        await page.get_by_label("Pay for a package").fill("1.50")
        await page.get_by_role("button", name="Make the draft").click()
        wrong = page.get_by_role("alert")
        await expect(wrong).to_contain_text("must be in increasing order")
        visit.complaints.clear()  # Chromium reports the status 422
        await _whole(page, complaints=visit.complaints)
        assert await page.get_by_label("Name").input_value() == "people & bots"
        await page.get_by_label("Lengths in exchanges").fill("1, 2")
        await page.get_by_label("Currency").fill("EUR")
        await page.get_by_role("button", name="Make the draft").click()
        await expect(page.get_by_role("heading", name="people & bots")).to_be_visible()
        await expect(page.locator(".state-draft")).to_be_visible()  # the page renews itself
        await expect(page.get_by_role("button", name="Make a link")).to_be_visible()  # which only a draft has
        takes = page.get_by_role("region", name="What it takes")
        assert re.findall(r"[\d.]+ EUR", await takes.inner_text()) == ["6.00 EUR"]  # 2 packages, each twice, 1.50
        await expect(takes).to_contain_text("the ties of published studies, a pair's games show a bot that wins")
        await _whole(page, complaints=visit.complaints)

        await page.get_by_role("link", name="Open", exact=True).click()
        dialog = page.get_by_role("dialog", name="Open this campaign?")
        await expect(dialog).to_contain_text("what they submit is to be paid")
        await _whole(page, complaints=visit.complaints)
        await dialog.get_by_role("link", name="No, go back").click()
        await expect(dialog).to_have_count(0)
        await expect(page.get_by_text("draft", exact=True)).to_have_count(1)
        await page.get_by_role("link", name="Open", exact=True).click()
        await dialog.get_by_role("button", name="Open").click()
        await expect(page.locator(".state-open")).to_be_visible()
        await page.get_by_role("link", name="Pause").click()
        await page.get_by_role("dialog").get_by_role("button", name="Pause").click()
        await expect(page.locator(".state-paused")).to_be_visible()
        await page.get_by_label("For one person each, by id").fill("ada")
        await page.get_by_role("button", name="Make a link").click()
        link = await page.get_by_label("Address").input_value()
        campaign = page.url.split("/")[-2]
        assert link.startswith(visit.address(f"/annotate/{campaign}?entry="))

    async def test_is_asked_about_on_a_page_of_its_own_where_no_scripts_run(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of(suite, conversations=1)
        await visit.sign_in("admin", after="/admin/keys")
        page = await visit.open(f"/admin/campaigns/{campaign['id']}/close", size=SMALLEST)
        await expect(page.get_by_role("heading", name="Close this campaign for good?")).to_be_visible()
        await _whole(page, complaints=visit.complaints)
        await page.get_by_role("button", name="Close for good").click()
        await expect(page.locator(".state-closed")).to_be_visible()
        await page.get_by_role("link", name="Release results").click()
        await page.get_by_role("dialog").get_by_role("button", name="Release results").click()
        await expect(page.get_by_text("results released to teams")).to_be_visible()
        page = await visit.open(f"/admin/campaigns/{campaign['id']}/open")
        await page.get_by_role("button", name="Open").click()
        await expect(page.get_by_role("heading", name="Not now")).to_be_visible()
        visit.complaints.clear()  # Chromium reports the status 409


class TestTable:
    async def test_is_checked_and_then_imported_while_its_file_stays_chosen(self, visit: Visit, tmp_path: Path):
        bad = "".join(f"bad{at},x,{'long ' * 30},more\n" for at in range(22))
        good = "".join(f"c{at},{side},hi <b>there</b>\n" for at in range(30) for side in ("user", "alpha"))
        file = tmp_path / "talks.csv"
        file.write_text(f"dialog,role,utterance\n{bad}{good}")
        page = await visit.sign_in("admin", after="/admin/collections")
        await page.get_by_role("link", name="Import a table").click()
        await page.get_by_label("File").set_input_files(file)
        await page.get_by_label("Name").fill("talks")
        await page.get_by_role("button", name="Check").click()
        result = page.get_by_role("region", name="What the file holds")
        await expect(result).to_contain_text(re.compile(r"Rejected rows\s*22"))
        await expect(page.locator("#checked")).to_be_focused()
        await _whole(page, complaints=visit.complaints)
        await page.set_viewport_size({"width": SMALLEST[0], "height": SMALLEST[1]})
        await _whole(page, complaints=visit.complaints)
        await page.get_by_label("Name").fill("all talks")
        await expect(result).to_have_count(0)
        await page.get_by_role("button", name="Check").click()
        await page.get_by_role("button", name="Import 30 conversations").click()
        await expect(page.get_by_role("heading", name="all talks")).to_be_visible()
        await expect(page.get_by_role("status")).to_have_text(
            "Import: 30 conversations stored, 0 there already; rejected rows: 22."
        )
        await _whole(page, complaints=visit.complaints)


class TestAnnotators:
    async def test_are_blocked_with_a_reason_which_the_audit_log_keeps(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of(suite, package_size=20, **PAID)
        package = await claim(suite, campaign, ANNOTATOR)
        await work_through(suite, package)
        base = f"/admin/campaigns/{campaign['id']}"
        page = await visit.sign_in("admin", after=f"{base}/annotators")
        await page.get_by_role("link", name=ANNOTATOR).click()
        await page.get_by_role("link", name="Block").click()
        dialog = page.get_by_role("dialog", name="Block this annotator?")
        await expect(dialog.get_by_label("Reason")).to_be_focused()
        await dialog.get_by_role("button", name="Block").click()  # which the browser refuses without a reason
        await dialog.get_by_label("Reason").fill("too fast <script>window.hacked = 1</script>")
        await dialog.get_by_role("button", name="Block").click()
        await expect(page.get_by_text("blocked", exact=True)).to_be_visible()
        assert (await appeal(suite, campaign, ANNOTATOR, "\u202eI read them all.")).status_code == 200
        await page.reload()
        await expect(page.locator("#state ~ .quote").last).to_contain_text("I read them all.")
        own = page.url.removeprefix(visit.address(""))
        reject = f"{own}/packages/{package['id']}/reject"
        for path in (own, f"{own}/erase", reject, f"{base}/audit", f"{base}/annotators", f"{base}/payments", base):
            await _whole(await visit.open(path, size=SMALLEST, scheme="dark"), complaints=visit.complaints)
        await page.get_by_role("link", name="End the block").click()
        await page.get_by_role("dialog").get_by_label("Reason").fill("she did")
        await page.get_by_role("dialog").get_by_role("button", name="End the block").click()
        await expect(page.get_by_text("active", exact=True)).to_be_visible()
        await page.get_by_role("link", name="Decisions about this annotator").click()
        rows = page.get_by_role("row")
        await expect(rows).to_have_count(1 + 3)
        assert "she did" in await rows.nth(1).inner_text()  # the newest first
        await page.get_by_label("Decision").select_option(label="Appeal")
        await page.get_by_role("button", name="Show").click()
        await expect(rows).to_have_count(1 + 1)
        await expect(rows.last).to_contain_text("I read them all.")

    async def test_are_paid_by_a_file_that_is_downloaded(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of(suite, package_size=20, **PAID)
        await work_through(suite, await claim(suite, campaign, "p-17"))
        page = await visit.sign_in("admin", after=f"/admin/campaigns/{campaign['id']}/payments")
        async with page.expect_download() as download:
            await page.get_by_role("link", name="Everything").click()
        file = await (await download.value).path()
        header, row = file.read_text().splitlines()
        paid: dict[str, Any] = dict(zip(header.split(","), row.split(","), strict=True))
        assert (paid["annotator"], paid["total"], paid["currency"]) == ("p-17", "1.50", "EUR")


class TestCollections:
    async def test_are_followed_paused_resumed_and_cancelled(self, visit: Visit, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        many = plan(await two_bots(suite), conversations_per_pair=4000, exchanges=50)
        collection = await created(admin, "/v1/collections", many)
        await until(admin, f"/v1/collections/{collection['id']}", "collecting")
        page = await visit.sign_in("admin", after="/admin/collections")
        await page.get_by_role("link", name="small").click()
        turns = page.get_by_text(re.compile(r"^[1-9]\d* of 400000$"))
        await expect(turns).to_be_visible()  # the page renews itself
        for action, state in (("Pause", ".state-paused"), ("Resume", ".state-collecting")):
            await page.get_by_role("link", name=action).click()
            await page.get_by_role("dialog").get_by_role("button", name=action).click()
            await expect(page.locator(state)).to_be_visible()
        await page.get_by_role("link", name="Cancel for good").click()
        await expect(page.get_by_role("dialog")).to_contain_text("Nothing can be added any more")
        await page.get_by_role("dialog").get_by_role("button", name="Cancel for good").click()
        await expect(page.locator(".state-cancelled")).to_be_visible()
        assert await page.get_by_role("link", name="Resume").count() == 0

    async def test_collections_of_people_are_renamed_and_finished(self, visit: Visit, suite: RunningSuite):
        study = await open_chats(
            suite, [await add_bot(suite, "dull", name=name) for name in ("one", "two")], name="a study"
        )
        page = await visit.sign_in("admin", after=f"/admin/collections/{study}")
        for name, shown in (("the study", "the study"), ("no\u200bname", "name must not hold U+200B")):
            await page.get_by_label("Name").fill(name)
            await page.get_by_role("button", name="Save").click()
            await expect(page.locator("main")).to_contain_text(shown)
        visit.complaints.clear()  # Chromium reports the status of the refused name
        await page.goto(f"{suite.urls['web']}/admin/collections/{study}")
        await page.get_by_role("link", name="Finish").click()
        await page.get_by_role("dialog").get_by_role("button", name="Finish").click()
        await expect(page.locator(".state-complete")).to_be_visible()


class TestSystem:
    async def test_shows_how_the_services_are(self, visit: Visit):
        page = await visit.sign_in("admin", after="/admin")
        rows = page.get_by_role("region", name="Services").get_by_role("row")
        shown = [(await rows.nth(place).inner_text()).split("\t") for place in range(1, 6)]
        assert [row[0].strip() for row in shown] == ["bots", "conversations", "annotation", "analytics", "fed"]
        assert {row[1].strip() for row in shown} == {"ready"}
        assert {row[5].strip() for row in shown} == {version("spotthebot")}
        assert int(shown[2][3]) > 0

    async def test_is_closed_to_all_but_administrators(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of(suite, conversations=1)
        pages = [
            "",
            "/keys",
            "/campaigns",
            "/campaigns/new",
            "/collections",
            "/trainings",
            f"/campaigns/{campaign['id']}/audit",
        ]
        page = await visit.open("/admin")
        assert "/sign-in" in page.url
        await visit.sign_in("team", team="blue", after="/bots")
        for path in (*pages, f"/campaigns/{campaign['id']}", f"/campaigns/{campaign['id']}/payments/payments.csv"):
            page = await visit.open(f"/admin{path}")
            await expect(page.get_by_role("heading", name="Not open to you")).to_be_visible()
        visit.complaints.clear()  # Chromium reports the statuses
        http = await suite.client("web", "analyst")
        key = await suite.keys.make("analyst")
        assert (await http.post("/sign-in", data={"key": key})).status_code == 303
        refused = [
            await http.post(f"/admin/campaigns/{campaign['id']}/close"),
            await http.post("/admin/campaigns/new", data={"name": "x"}),
            await http.post(f"/admin/campaigns/{campaign['id']}/annotators/{UUID(int=1)}/block", data={"reason": "x"}),
            await http.post(f"/admin/collections/{UUID(int=1)}/cancel"),
        ]
        http.cookies.clear()
        assert {answer.status_code for answer in refused} == {403}
