"""Packages in a browser: by keyboard, by mouse, without a network, in two windows, with hostile texts."""

import pytest
from playwright.async_api import Locator, Page, Response, expect

from tests.factories.annotating import annotations_of, movable_clock, rows
from tests.factories.browsing import (
    DESKTOP,
    OF_LOOKS,
    PHONE,
    SMALLEST,
    Visit,
    is_in_view,
    open_package,
    overflow,
    press,
    violations,
)
from tests.factories.campaigns import campaign_of_talks, talk
from tests.factories.pages import entry_path, held_package
from tests.factories.running_suite import RunningSuite

LAPTOP = (1366, 768)
HEARD = """
- region "Conversation":
  - list:
    - listitem:
      - img "Speaker A"
      - paragraph: /A longer turn/
    - listitem:
      - img "Speaker B"
      - paragraph: /A longer turn/
"""
"""What a screen reader makes of the first turns."""
STEP_2 = ("ArrowLeft", "ArrowDown", "ArrowRight")
HOSTILE = (
    "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">",
    "# no title\n**not bold** [no link](javascript:alert(1))",
    "\u202eturned around\u202c \u2066isolated",
    "\u0627\u0644\u0633\u0644\u0627\u0645 \u0639\u0644\u064a\u0643\u0645 (1)",
    "x" * 10_000,
    "\U0001f916\u200d\U0001f9d1 e\u0301 {place} {{ 7 * 7 }} </script>",
)


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("conversations", "annotation", "web")


def _status(page: Page) -> Locator:
    return page.locator("#status")


class TestKeyboard:
    async def test_is_enough_for_a_whole_package(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of_talks(
            suite, *(talk(f"c{number}") for number in range(3)), annotations_per_segment=1
        )
        path = await entry_path(suite, campaign)
        page = await open_package(visit, path)
        assert page.url == visit.address(f"/annotate/{campaign['id']}")  # the token is gone from the address
        assert await page.evaluate("document.activeElement.id") == "heading"
        previous, undo = page.get_by_role("button", name="Previous"), page.get_by_role("button", name="Undo")
        await expect(previous).to_be_disabled()
        await expect(undo).to_be_hidden()
        await press(page, "Enter")
        await expect(page.get_by_role("alert")).to_have_text("Still to answer: speaker A, speaker B.")
        await press(page, "1", "9", "8", "z")  # 8 is a slip
        await expect(page.locator("#notice")).to_have_text("Earlier answer restored.")
        await expect(page.get_by_role("heading", name="Compare the speakers")).to_be_visible()
        await expect(page.get_by_text("Your first answer here fixes “Human or bot?” above.")).to_be_visible()
        await press(page, "?", "ArrowLeft", "3", "Enter")  # closes the window with the keys, behind which none acts
        await expect(page.get_by_role("dialog")).to_be_hidden()
        await press(page, "Enter")
        await expect(page.get_by_role("alert")).to_contain_text("more fluent and grammatically correct")
        fixed = page.get_by_text("Fixed", exact=True).filter(visible=True)
        await expect(fixed).to_have_count(0)
        await press(page, "ArrowLeft", "z", "ArrowLeft")  # the question that was taken back is at hand again
        await expect(fixed).to_have_count(2)
        await expect(page.get_by_text("Your first answer here fixes").first).to_be_hidden()
        await press(page, "ArrowDown", "ArrowRight", "Enter")
        await expect(page.locator("#count")).to_have_text("2 of 3")
        await expect(undo).to_be_hidden()
        await press(page, "z", "p")  # nothing to take back; the conversation before, whose answers can be taken back
        await expect(page.locator("#count")).to_have_text("1 of 3")
        await press(page, "z")
        await expect(page.locator("#notice")).to_have_text("Answer taken back.")
        await press(page, "ArrowRight")
        await press(page, "Enter")
        await expect(_status(page)).to_contain_text("Saved at")
        await press(page, "3", "0", *STEP_2, "Enter", "2", "8", *STEP_2, "Enter")
        await page.get_by_role("button", name="Conversation 1").click()
        await page.get_by_role("button", name="To the end").click()
        await page.get_by_role("button", name="Conversation 1").click()
        await expect(page.locator("#count")).to_have_text("1 of 3")
        await press(page, *3 * ["Enter"], "Enter")  # the last one of a person in a hurry
        await expect(page.get_by_role("heading", name="The end of the package")).to_be_visible()
        await expect(page.locator("#end-status")).to_have_text("")  # nothing is being submitted
        await press(page, "s")
        await expect(page.get_by_role("heading", name="Thank you!")).to_be_visible()
        code = await page.locator("#code").inner_text()
        assert code == (await self._completion_code(suite, page))
        features = {"fluency": "A", "sensibleness": "tie", "specificity": "B"}
        answers = sorted(str(each["answer"]["entity"]) for each in await annotations_of(suite, campaign))
        assert answers == ["{'A': 'bot', 'B': 'human'}", "{'A': 'human', 'B': 'bot'}", "{'A': 'unsure', 'B': 'unsure'}"]
        assert all(features.items() <= each["answer"].items() for each in await annotations_of(suite, campaign))

    @staticmethod
    async def _completion_code(suite: RunningSuite, page: Page) -> str | None:
        frontend = await suite.apps["web"].state.resources.frontend.annotation()
        return (await frontend.get_assignment(page.url.rpartition("/")[2])).completion_code


class TestMouse:
    async def test_is_enough_for_a_whole_package_on_a_phone(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c0"), talk("c1"), consent="I take part. " * 200)
        await visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = await visit.open(await entry_path(suite, campaign), size=PHONE, scheme="dark")
        await self._is_for_everybody(page)
        await page.get_by_role("button", name="I consent").click()
        await page.get_by_role("dialog", name="Instructions").get_by_role("button", name="Close").click()
        for following in ("Next conversation", "To the end"):
            for side, choice in (("A", "Human"), ("B", "Bot")):
                group = page.get_by_role("radiogroup", name=f"Speaker {side} Is this speaker a human or a bot?")
                assert await is_in_view(page, ".choice, #next, #status")
                await group.get_by_role("radio", name=choice).click()
            await expect(page.get_by_role("heading", name="Human or bot?")).to_be_hidden()  # step 2 is in its place
            assert await is_in_view(page, ".choice, .folded, #next, #status")
            for group in await page.get_by_role("radiogroup").all():
                await group.get_by_role("radio", name="Speaker B").click()
            if following == "To the end":
                fixed, first_step = (
                    page.get_by_role("button", name="A: Human · B: Bot"),
                    page.get_by_role("heading", name="Human or bot?"),
                )
                await fixed.click()
                await expect(first_step).to_be_visible()
                await fixed.click()
                await expect(first_step).to_be_hidden()
            await page.get_by_role("button", name=following).click()
        await self._is_for_everybody(page)
        await page.get_by_role("button", name="Submit the package").click()
        await page.get_by_role("button", name="Copy the code").click()
        await expect(page.get_by_text("Copied.")).to_be_visible()
        assert await page.evaluate("navigator.clipboard.readText()") == await page.locator("#code").inner_text()
        await self._is_for_everybody(page)
        assert [each["answer"]["fluency"] for each in await annotations_of(suite, campaign)] == ["B", "B"]
        await page.goto(page.url.partition("/done/")[0])  # coming back takes no package
        await expect(page.get_by_role("heading", name="Thank you!")).to_be_visible()
        assert await page.locator("#code").is_visible()
        await page.get_by_role("link", name="Next package").click()
        await expect(page.get_by_role("heading", name="Nothing left for you")).to_be_visible()
        assert await page.locator("#code").is_visible()  # who comes back finds it again
        await self._is_for_everybody(page)

    @staticmethod
    async def _is_for_everybody(page: Page) -> None:
        """Hold a page against what holds for all of them, on a phone in the dark."""
        assert (await overflow(page), await violations(page)) == (0, [])

    async def test_corrects_an_answer_with_one_click_of_a_person_s_length(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c1"), annotations_per_segment=1)
        page = await open_package(visit, await entry_path(suite, campaign))
        await press(page, "1")
        labels = page.get_by_role("radiogroup").filter(has=page.get_by_role("radio", name="Unsure"))
        places = [await labels.nth(number).bounding_box() for number in range(2)]
        await press(page, "9", *STEP_2)
        assert [await labels.nth(number).bounding_box() for number in range(2)] == places
        rows = page.get_by_role("radiogroup").filter(has=page.get_by_role("radio", name="Speaker B"))
        for row in [await rows.nth(number).element_handle() for number in range(await rows.count())]:
            choice = await row.query_selector("label:last-of-type")
            assert choice is not None
            box = await choice.bounding_box()
            assert box is not None
            await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            await page.mouse.down()
            await page.wait_for_timeout(90)
            await page.mouse.up()
            assert await choice.bounding_box() == box
            under_the_pointer = await choice.evaluate("each => getComputedStyle(each).backgroundColor")
            await page.mouse.move(0, 0)
            assert await choice.evaluate("each => getComputedStyle(each).backgroundColor") == under_the_pointer
        await expect(page.get_by_role("radio", name="Speaker B", checked=True)).to_have_count(3)
        await labels.first.locator("label").last.click(force=True)  # what is fixed
        await expect(page.locator("#notice")).to_have_text("Fixed by your first answer to “Compare the speakers”.")


class TestBackOfTheBrowser:
    async def test_leads_to_the_conversation_before_in_the_language_chosen_meanwhile(
        self, visit: Visit, suite: RunningSuite
    ):
        campaign = await campaign_of_talks(suite, talk("c0"), talk("c1"))
        page = await open_package(visit, await entry_path(suite, campaign))
        await press(page, "1", "9", *STEP_2, "Enter")
        await expect(page.locator("#count")).to_have_text("2 of 2")
        await page.go_back()
        await expect(page.locator("#count")).to_have_text("1 of 2")
        await page.go_forward()
        await expect(page.locator("#count")).to_have_text("2 of 2")
        await page.get_by_role("button", name="Deutsch").click()
        await expect(page.locator("#count")).to_have_text("2 von 2")  # the first open one: the answers are kept
        await page.goto(visit.address("/"))
        await page.get_by_role("link", name="Mit Ihren Gesprächen weitermachen").click()
        await expect(page.locator("#count")).to_have_text("2 von 2")


class TestPage:
    async def test_has_all_in_view_without_barriers_in_light_and_dark(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c0", *("A longer turn. " * 20 for _ in range(12))))
        page = await open_package(visit, await entry_path(suite, campaign))
        await expect(page.get_by_role("region", name="Conversation")).to_match_aria_snapshot(HEARD)
        await press(page, "1", "0")
        for size in (DESKTOP, LAPTOP, PHONE, SMALLEST):
            await page.set_viewport_size({"width": size[0], "height": size[1]})
            assert await overflow(page) == 0
            assert await is_in_view(page, "#next, #back, #status")
            if size != SMALLEST:
                assert await is_in_view(page, ".choice")
            for scheme in ("light", "dark") if size in (DESKTOP, PHONE) else ():
                await page.emulate_media(color_scheme=scheme)
                assert await violations(page, *OF_LOOKS) == []
        assert await violations(page) == []
        await press(page, "?")
        assert await violations(page) == []

    async def test_shows_texts_as_they_are_and_nothing_of_who_speaks(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c0", *HOSTILE), name="c </script><b>", instructions=HOSTILE[0])
        page = await open_package(visit, await entry_path(suite, campaign))
        assert await page.locator(".said > p").all_text_contents() == list(HOSTILE)
        assert await overflow(page) == 0
        assert await page.title() == "Annotate · Spot The Bot"
        directions = await page.locator(".said > p").evaluate_all(
            "all => all.map(each => getComputedStyle(each).unicodeBidi)"
        )
        assert set(directions) == {"plaintext"}
        shown = (
            await page.content()
            + str(await page.request.get(page.url))
            + str((await page.request.get(page.url)).headers)
        )
        assert "SECRET" not in shown


class TestNetwork:
    async def test_lost_in_the_middle_loses_no_answer(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c0"), talk("c1"))
        page = await open_package(visit, await entry_path(suite, campaign))
        await visit.context.set_offline(True)
        await press(page, "1", "0", *STEP_2)
        await expect(_status(page)).to_have_text("No network: kept here, will be sent")
        await visit.context.set_offline(False)
        await expect(_status(page)).to_contain_text("Saved at")
        assert len((await held_package(suite, campaign)).items[0].answer) == 4
        await visit.context.set_offline(True)
        await press(page, "Enter", "3", "8", "ArrowRight")
        await expect(_status(page)).to_have_text("No network: kept here, will be sent")
        await page.close()
        await visit.context.set_offline(False)
        again = await visit.open(f"/annotate/{campaign['id']}")
        await expect(again.locator("#count")).to_have_text("2 of 2")
        await expect(_status(again)).to_contain_text("Saved at")
        entity = {"A": "unsure", "B": "human"}
        assert (await held_package(suite, campaign)).items[1].answer == {"entity": entity, "fluency": "B"}
        assert await again.get_by_role("radio", checked=True).count() == 3
        visit.complaints = [each for each in visit.complaints if "ERR_INTERNET_DISCONNECTED" not in each]


class TestWindows:
    async def test_show_each_others_answers_and_lose_none(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c0"), talk("c1"))
        one = await open_package(visit, await entry_path(suite, campaign))
        other = await visit.open(f"/annotate/{campaign['id']}")
        await press(one, "1")
        await expect(other.get_by_role("radio", checked=True)).to_have_count(1)
        await expect(other.locator("#notice")).to_have_text(
            "Changed in another window or on another device: that answer is shown."
        )
        await press(other, "0")
        await expect(one.get_by_role("radio", checked=True)).to_have_count(2)
        await press(one, "ArrowLeft")
        await expect(_status(one)).to_contain_text("Saved at")
        saved = (await held_package(suite, campaign)).items[0]
        assert saved.answer == {"entity": {"A": "human", "B": "unsure"}, "fluency": "A"}
        visit.complaints = [each for each in visit.complaints if "409" not in each]  # both may save at once

    async def test_on_other_machines_put_their_answers_together(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c0"))
        path = await entry_path(suite, campaign)
        page = await open_package(visit, path)
        held = await held_package(suite, campaign)
        elsewhere = await suite.apps["web"].state.resources.frontend.annotation()
        answer = {"answer": {"entity": {"A": "bot"}}}
        await page.request.put(f"{page.url}/packages/{held.id}/items/0", data=answer)
        await press(page, "0")
        await expect(page.locator("#notice")).to_have_text(
            "Changed in another window or on another device: that answer is shown."
        )
        await expect(_status(page)).to_contain_text("Saved at")
        saved = (await elsewhere.get_assignment(held.id)).items[0].answer
        assert saved == {"entity": {"A": "bot", "B": "unsure"}}
        for more in ({"show_step": 2}, {"answer": saved | {"fluency": "A"}}):
            await page.request.put(f"{page.url}/packages/{held.id}/items/0", data={"answer": saved} | more)
        await press(page, "1")
        await expect(page.locator("#notice")).to_contain_text("Your last answer was not saved")
        assert (await elsewhere.get_assignment(held.id)).items[0].answer == saved | {"fluency": "A"}
        visit.complaints = [each for each in visit.complaints if "409" not in each]

    async def test_after_another_link_was_opened_keep_what_could_not_be_saved(self, visit: Visit, suite: RunningSuite):
        mine, other = [await campaign_of_talks(suite, talk("c0"), name=name) for name in ("mine", "other")]
        path = await entry_path(suite, mine)
        page = await open_package(visit, path)
        await open_package(visit, await entry_path(suite, other))
        await press(page, "1")
        dialog = page.get_by_role("dialog", name="This browser no longer knows you")
        await expect(dialog).to_contain_text("Open the link that you were given once more")
        again = await visit.open(path)
        await expect(_status(again)).to_contain_text("Saved at")
        assert (await held_package(suite, mine)).items[0].answer == {"entity": {"A": "human"}}
        visit.complaints = [each for each in visit.complaints if "401" not in each]


class TestLease:
    async def test_is_kept_by_signs_of_life_that_name_the_item_on_the_screen(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c0"), talk("c1"))
        page = await open_package(visit, await entry_path(suite, campaign))
        async with page.expect_response(_is_sign_of_life_at_the_second_item) as answered:
            await press(page, "1", "0", *STEP_2, "Enter")
        assert (await (await answered.value).json())["state"] == "leased"
        assert rows(suite, "SELECT heard_position FROM annotation.assignments") == [(1,)]

    async def test_past_its_end_is_explained_and_goes_on_with_what_was_saved(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c0"))
        clock = movable_clock(suite)
        page = await open_package(visit, await entry_path(suite, campaign))
        await press(page, "1")
        await expect(_status(page)).to_contain_text("Saved at")
        clock.advance(minutes=61)
        await press(page, "0")
        dialog = page.get_by_role("dialog", name="Your time with this package is over")
        await expect(dialog).to_be_visible()
        assert await violations(page) == []
        await dialog.get_by_role("link", name="Go on").click()
        await expect(_status(page)).to_contain_text("Saved at")
        assert (await held_package(suite, campaign)).items[0].answer == {"entity": {"A": "human", "B": "unsure"}}
        visit.complaints = [each for each in visit.complaints if "409" not in each]


def _is_sign_of_life_at_the_second_item(answer: Response) -> bool:
    """Say so of an answer to a sign of life; one for the first item may come before."""
    return answer.url.endswith("/heartbeat") and answer.request.post_data_json == {"position": 1}
