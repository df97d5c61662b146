"""Administrators mend campaigns from pages: the form says all faults, changes what may change, shows the preview."""

import os
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.factories.annotating import claim, rows, state_of, work_through
from tests.factories.browsing import SMALLEST, Visit, overflow, violations
from tests.factories.campaigns import CONVERSATIONS, campaign_of, create_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

_SHOTS = os.environ.get("SHOTS")


@pytest.fixture
async def suite(module_suite: RunningSuite) -> RunningSuite:
    """The file's services with the data of all its tests."""
    return module_suite


async def _shot(page: Page, name: str) -> None:
    if _SHOTS:
        for width, height in ((1440, 900), (390, 844)):
            await page.set_viewport_size({"width": width, "height": height})
            await page.screenshot(path=f"{_SHOTS}/{name}-{width}.png", full_page=True)


async def _whole(page: Page, visit: Visit, name: str) -> None:
    await _shot(page, name)
    for width in (1440, SMALLEST[0]):
        await page.set_viewport_size({"width": width, "height": 800})
        assert await overflow(page) == 0
    await page.set_viewport_size({"width": 1440, "height": 900})
    assert await violations(page) == []
    assert visit.complaints == []


async def _draft(suite: RunningSuite, **more: Any) -> dict[str, Any]:
    talks = [conversation(f"c{number}", f"SECRET-{number}", "SECRET") for number in range(4)]
    collection = await import_conversations(suite, talks)
    return await create_campaign(suite, "draft", collection, **{"name": "draft", "open": False} | more)


class TestNewCampaign:
    async def test_names_all_that_is_wrong_at_once_in_the_words_of_the_page(self, visit: Visit, suite: RunningSuite):
        await _draft(suite)
        page = await visit.sign_in("admin", after="/admin/campaigns/new")
        await page.get_by_label("Lengths in exchanges").fill("2; three")
        await page.get_by_label("Segments in a package").fill("many")
        await page.get_by_label("Pay for a package").fill("1")
        await page.get_by_label("Currency").fill("Euro")
        await page.get_by_role("button", name="Make the draft").click()
        wrong = await page.get_by_role("alert").inner_text()
        assert wrong.splitlines()[1:] == [
            "Name: is missing",
            "Collections: choose at least one collection",
            "Lengths in exchanges: 'three' must be a whole number",
            "Segments in a package: must be a whole number",
            "Currency: must be three capital letters, such as EUR",
        ]
        visit.complaints.clear()  # Chromium reports the status 422
        await _whole(page, visit, "faults")

    async def test_names_fields_as_the_page_does_where_two_do_not_fit(self, visit: Visit, suite: RunningSuite):
        await _draft(suite)
        page = await visit.sign_in("admin", after="/admin/campaigns/new")
        await page.get_by_label("Pay for a package").fill("1")
        await page.get_by_role("button", name="Make the draft").click()
        await expect(page.get_by_role("alert")).to_contain_text("give both Pay for a package and currency, or neither")
        visit.complaints.clear()  # Chromium reports the status 422

    async def test_keeps_the_chosen_collection_in_sight(self, visit: Visit, suite: RunningSuite):
        for _ in range(9):
            await import_conversations(suite, CONVERSATIONS[:1])
        page = await visit.sign_in("admin", after="/admin/campaigns/new")
        last = page.get_by_role("checkbox").nth(8)
        chosen = await last.get_attribute("value")
        await last.check()
        await page.get_by_role("button", name="Make the draft").click()
        first = page.get_by_role("checkbox").first
        await expect(page.get_by_role("alert")).to_be_visible()
        assert (await first.get_attribute("value"), await first.is_checked()) == (chosen, True)
        visit.complaints.clear()  # Chromium reports the status 422


class TestDraft:
    async def test_is_edited_looked_at_and_deleted(self, visit: Visit, suite: RunningSuite):
        draft = await _draft(suite, instructions="Read <b>all</b>.")
        page = await visit.sign_in("admin", after=f"/admin/campaigns/{draft['id']}")
        await _whole(page, visit, "campaign")
        await page.get_by_role("link", name="Change", exact=True).click()
        assert await page.get_by_label("Lengths in exchanges").input_value() == "1, 2"
        assert await page.get_by_label("Instructions").input_value() == "Read <b>all</b>."
        assert await page.get_by_role("checkbox").first.is_checked()
        await _whole(page, visit, "edit")
        await page.get_by_label("Name").fill("mended")
        await page.get_by_label("Lengths in exchanges").fill("3")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("heading", name="mended")).to_be_visible()
        await expect(page.locator(".state-draft")).to_be_visible()
        assert (await state_of(suite, draft))["segments"] == [3]
        await page.get_by_role("link", name="Delete").click()
        await _whole(page, visit, "delete")
        await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        await expect(page.get_by_role("heading", name="Campaigns")).to_be_visible()
        admin = await suite.client("annotation", "admin")
        assert (await admin.get(f"/v1/campaigns/{draft['id']}")).status_code == 404

    async def test_is_shown_as_annotators_see_it_and_stores_nothing(self, visit: Visit, suite: RunningSuite):
        draft = await _draft(suite, instructions="Read all.")
        page = await visit.sign_in("admin", after=f"/admin/campaigns/{draft['id']}")
        sent: list[str] = []
        await page.get_by_role("link", name="See it as annotators do").click()
        page.on("request", lambda request: sent.append(request.method))
        await expect(page.get_by_role("dialog", name="Instructions")).to_contain_text("Read all.")
        await page.get_by_role("dialog").get_by_role("button", name="Close").click()
        await expect(page.get_by_role("note")).to_contain_text("Nothing that you answer is sent or kept")
        await expect(page.locator("#talk")).to_contain_text("says 0")
        assert "SECRET" not in await page.content()
        await _whole(page, visit, "preview")
        for _ in range(4):
            await page.keyboard.press("1")
            await page.keyboard.press("8")
            await page.keyboard.press("ArrowLeft")
            await page.keyboard.press("ArrowLeft")
            await page.keyboard.press("ArrowLeft")
            await page.keyboard.press("Enter")
        await _shot(page, "preview-end")
        await expect(page.locator("#submit")).to_be_hidden()
        assert set(sent) <= {"GET"}
        await page.reload()
        await expect(page.locator("#count")).to_contain_text("1")
        assert rows(suite, "SELECT * FROM annotation.assignments") == []
        assert await state_of(suite, draft) == draft

    async def test_is_shown_in_each_unit(self, visit: Visit, suite: RunningSuite):
        page = await visit.sign_in("admin", after="/admin/keys")
        for protocol in ("spot_the_bot_gamified", "comparative", "turn_likert", "dialogue_likert"):
            draft = await _draft(suite, protocol=protocol, segments=[3])
            await page.goto(visit.address(f"/admin/campaigns/{draft['id']}/preview"))
            await page.get_by_role("dialog", name="Instructions").get_by_role("button", name="Close").click()
            for _ in range(4):
                await page.keyboard.press("Enter")
            await expect(page.locator("#talk"), protocol).to_contain_text("says 0")
            await _whole(page, visit, f"preview-{protocol}")


class TestRunningCampaign:
    async def test_changes_what_may_change_and_shows_what_stays(self, visit: Visit, suite: RunningSuite):
        panel = {"kind": "prolific", "completion_code": "WRONG"}
        campaign = await campaign_of(suite, panel=panel, annotations_per_segment=1)
        more = await import_conversations(suite, [conversation("more", "X", "Y")])
        page = await visit.sign_in("admin", after=f"/admin/campaigns/{campaign['id']}/edit")
        for label in ("Lengths in exchanges", "Protocol", "Segments in a package", "Panel", "Seed"):
            await expect(page.get_by_label(label, exact=True)).to_be_disabled()
        await _whole(page, visit, "edit-running")
        await page.get_by_label("Completion code").fill("RIGHT")
        await page.get_by_label("Annotators for each segment").fill("0")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("alert")).to_contain_text("Annotators for each segment: must be at least 1")
        visit.complaints.clear()  # Chromium reports the status 422
        assert await page.get_by_label("Completion code").input_value() == "RIGHT"
        await page.get_by_label("Annotators for each segment").fill("3")
        await page.locator(f"input[type=checkbox][value='{more}']").check()
        await page.get_by_role("button", name="Save").click()
        await expect(page.locator(".state-open")).to_be_visible()
        found = await state_of(suite, campaign)
        assert found["panel"] == {"kind": "prolific", "completion_code": "RIGHT"}
        assert (found["annotations_per_segment"], found["collections"]) == (3, [*campaign["collections"], more])
        await page.get_by_role("link", name="Audit log").click()
        await expect(page.get_by_role("cell", name="Campaign changed")).to_be_visible()
        await _whole(page, visit, "audit")

    async def test_keeps_what_another_administrator_changed_meanwhile(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of(suite, instructions="Old.")
        page = await visit.sign_in("admin", after=f"/admin/campaigns/{campaign['id']}/edit")
        admin = await suite.client("annotation", "admin")
        await admin.patch(f"/v1/campaigns/{campaign['id']}", json={"instructions": "New."})
        await page.get_by_label("Name").fill("renamed")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("heading", name="renamed")).to_be_visible()
        assert (await state_of(suite, campaign))["instructions"] == "New."

    async def test_says_why_a_number_can_not_shrink(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of(suite, annotations_per_segment=2)
        await work_through(suite, await claim(suite, campaign, "ann"))
        page = await visit.sign_in("admin", after=f"/admin/campaigns/{campaign['id']}/edit")
        await page.get_by_label("Annotators for each segment").fill("1")
        await page.get_by_role("button", name="Save").click()
        said = "Annotators for each segment: can only grow from 2: annotators have begun on as many"
        await expect(page.get_by_role("alert")).to_contain_text(said)
        visit.complaints.clear()  # Chromium reports the status 422
