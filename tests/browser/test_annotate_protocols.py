"""The training, and protocols other than Spot The Bot, in a browser: one renderer makes all of their forms."""

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from playwright.async_api import Locator, Page, expect

from spotthebot.annotation.protocols.domain.answers import asked_questions, missing
from spotthebot.annotation.protocols.domain.questions import UnitShape
from spotthebot.contracts.annotation.protocols import AnnotationProtocol, LikertQuestion
from tests.factories.annotating import annotations_of
from tests.factories.annotator_trainings import training_campaign, training_of_pairs
from tests.factories.browsing import (
    DESKTOP,
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
from tests.factories.pages import entry_path
from tests.factories.protocols import answers, document, protocols, shapes, single
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

PREFERENCES = ("ArrowLeft", "ArrowLeft", "ArrowLeft")
BEHAVIOUR = [
    single("facts", "no", "yes", per="turn", follows={"yes": [single("true", "yes", "no", "unsure", per="turn")]}),
    {
        "id": "kinds",
        "kind": "multiple",
        "per": "turn",
        "text": "Tick what applies.",
        "choices": [{"value": value, "text": value} for value in ("insult", "threat")],
    },
]
WHOLE = [
    {"id": "trust", "kind": "likert", "text": "How far?", "scale": {"min": 1, "max": 5, "labels": {"1": "not at all"}}},
    {"id": "why", "kind": "text", "text": "Why so little?", "when": {"question": "trust", "any_of": [1, 2]}},
]


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("conversations", "annotation", "web")


async def _check(page: Page) -> None:
    """Hold a page against what holds for all."""
    for size in (DESKTOP, PHONE, SMALLEST):
        await page.set_viewport_size({"width": size[0], "height": size[1]})
        assert await overflow(page) == 0
    await page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    assert await violations(page) == []


async def _shows_dialogue(page: Page, number: int) -> None:
    """Wait until a dialogue of the training can be answered."""
    await expect(page.locator(".count")).to_have_text(f"Conversation {number + 1} of 3")
    await expect(page.locator(".question.current")).to_be_visible()


def _saved(page: Page) -> Locator:
    return page.locator("#status", has_text="Saved at")


class TestTraining:
    async def test_says_what_was_right_and_why_and_can_be_failed_and_passed(self, visit: Visit, suite: RunningSuite):
        campaign = await training_campaign(suite, attempts=2)
        start = await visit.open(await entry_path(suite, campaign))
        await start.get_by_role("link", name="Begin the training").click()
        await start.get_by_role("dialog", name="Instructions").get_by_role("button", name="Close").click()
        page = start
        for attempt, last in ((1, ("2", "8")), (2, ("1", "9"))):  # right is: A a person, B a bot
            for number, keys in enumerate((("1", "9"), ("3", "9"), last)):
                await _shows_dialogue(page, number)
                await press(page, *keys, *PREFERENCES)
                if (attempt, number) == (1, 1):
                    await page.reload()  # the draft is kept in the browser
                    await expect(page.get_by_role("radio", checked=True)).to_have_count(5)
                await press(page, "Enter")
                heading = page.get_by_role("heading", name="mistake")
                await expect(heading).to_have_text(
                    {("1", "9"): "0 mistakes", ("3", "9"): "One mistake"}.get(keys, "2 mistakes")
                )
                verdict = page.locator(".verdict").first
                assert "Who has a name like that is a person." in await verdict.inner_text()
                if keys[0] == "3":
                    assert "Your answer: Unsure" in await verdict.inner_text()
                    assert "Right: Human" in await verdict.inner_text()
                    await _check(page)
                if number < 2:
                    await press(page, "Enter")  # the focus is on the link to the next one
            if attempt == 1:
                await expect(page.get_by_text("You have one more attempt.")).to_be_visible()
                await page.get_by_role("link", name="Try again").click()
        await page.get_by_role("link", name="To the package").click()
        await expect(page.locator("#count")).to_have_text("1 of 2")

    async def test_failed_for_good_can_be_appealed(self, visit: Visit, suite: RunningSuite):
        campaign = await training_campaign(suite, **training_of_pairs())
        page = await visit.open(await entry_path(suite, campaign))
        await page.get_by_role("link", name="Begin the training").click()
        await page.get_by_role("dialog", name="Instructions").get_by_role("button", name="Close").click()
        for number in range(3):
            await _shows_dialogue(page, number)
            await press(page, *["ArrowRight"] * 8, "Enter")  # right is: the one on the left
            await expect(page.get_by_text("Right: The dialogue on the left")).to_be_visible()
            await page.locator("#go-on").click()
        await expect(page.get_by_role("heading", name="The training was not passed")).to_be_visible()
        await page.get_by_label("Do you see it otherwise?").fill("It said so itself.")
        await page.get_by_role("button", name="Send the note").click()
        await expect(page.get_by_role("heading", name="Your note is left")).to_be_visible()


class TestTurns:
    async def test_are_answered_one_after_the_other_with_their_follow_ups(self, visit: Visit, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        written = document(BEHAVIOUR, WHOLE, unit={"kind": "turns", "speaker": "B"})
        await created(admin, "/v1/protocols", {"protocol": written})
        campaign = await campaign_of_talks(suite, talk("c0"), protocol="example", annotations_per_segment=1)
        page = await open_package(visit, await entry_path(suite, campaign))
        await expect(page.get_by_role("heading", name="Turn 2")).to_be_visible()
        for size, (x, y) in ((PHONE, (0, 1)), (DESKTOP, (1, 0))):  # below the turn on a phone, else beside it
            await page.set_viewport_size({"width": size[0], "height": size[1]})
            turn, asked = [
                await page.locator(f".current {part}").bounding_box() for part in (".said > p", ".questions")
            ]
            assert turn is not None
            assert asked is not None
            assert (asked["x"] > turn["x"] + turn["width"], asked["y"] >= turn["y"] + turn["height"]) == (x, y)
        await press(page, "1", "3")  # no fact; none of both: on to the next turn of B
        await expect(page.get_by_role("heading", name="Turn 4")).to_be_visible()
        await press(page, "2")
        opened = page.locator("[data-question=facts] [data-question=true]")  # within the question that opens it
        assert (await opened.inner_text()).split() == ["↳", "yes", "true", "yes", "1", "no", "2", "unsure", "3"]
        await _check(page)
        await press(page, "2", "2", "1", "Enter")
        await expect(page.get_by_role("heading", name="Turn 6")).to_be_visible()
        await press(page, "2", "1", "z", "3")  # 1 is a slip
        await page.get_by_role("radiogroup", name="facts").get_by_role("radio", name="no").check()
        await expect(page.get_by_role("radiogroup", name="true")).to_be_hidden()  # the follow-up goes with its question
        await page.locator("body").press("Enter")
        await expect(page.get_by_role("alert")).to_have_text("Still to answer: “Tick what applies.” for turn 6.")
        await page.get_by_role("group", name="Tick what applies.").get_by_label("threat").check()
        await page.get_by_role("button", name="Turn 4: answered").click()
        await expect(page.get_by_role("checkbox", name="insult")).to_be_checked()
        await page.locator("[data-turn='5'] .said").click()  # its button is below the questions about turn 4
        await page.get_by_role("button", name="On to the whole conversation").click()
        await press(page, "2")
        await page.get_by_role("textbox", name="Why so little?").fill("1 <b>reason</b>")
        await page.get_by_role("button", name="To the end").click()
        await page.get_by_role("button", name="Submit the package").click()
        await expect(page.get_by_role("heading", name="Thank you!")).to_be_visible()
        (annotation,) = await annotations_of(suite, campaign)
        assert annotation["answer"] == {
            "facts": {"1": "no", "3": "yes", "5": "no"},
            "true": {"3": "no"},
            "kinds": {"1": [], "3": ["insult", "threat"], "5": ["threat"]},
            "trust": 2,
            "why": "1 <b>reason</b>",
        }


class TestRatings:
    @pytest.mark.parametrize(("protocol", "scales"), [("dialogue_likert", 16), ("turn_likert", 8)])
    async def test_are_all_in_view_on_a_desktop(self, visit: Visit, suite: RunningSuite, protocol: str, scales: int):
        campaign = await campaign_of_talks(suite, talk("c0"), protocol=protocol)
        page = await open_package(visit, await entry_path(suite, campaign))
        assert await page.get_by_role("radiogroup").count() == scales
        assert await is_in_view(page, ".choice, #next, #status")
        if protocol == "turn_likert":
            await press(page, *"12345123")
            await expect(page.get_by_role("heading", name="Turn 2")).to_be_visible()
            first = page.get_by_role("button", name="Turn 1: answered")
            assert (await first.inner_text()).endswith("1 · 2 · 3 · 4 · 5 · 1 · 2 · 3")


class TestPairs:
    async def test_stand_side_by_side_on_a_desktop_and_can_be_swiped_on_a_phone(
        self, visit: Visit, suite: RunningSuite
    ):
        talks = [talk(f"c{number}", *(f"{number} says {turn}" for turn in range(4))) for number in range(2)]
        for number, each in enumerate(talks):
            each["participants"] = [{"kind": "bot", "name": f"SECRET-{number}{side}"} for side in "AB"]
        fixed = {"protocol": "comparative", "protocol_version": 1}  # the overall question comes last
        campaign = await campaign_of_talks(suite, *talks, **fixed, annotations_per_segment=1)
        page = await open_package(visit, await entry_path(suite, campaign))
        left, right = [await page.locator(".one-talk").nth(number).bounding_box() for number in (0, 1)]
        assert left is not None
        assert right is not None
        assert (left["y"], left["x"] + left["width"] < right["x"]) == (right["y"], True)
        assert await is_in_view(page, ".choice, #next, #status")
        await _check(page)
        await press(page, *["ArrowRight"] * 7)
        await page.get_by_role("radiogroup", name="better on the whole").get_by_label("No difference").check()
        await page.get_by_role("button", name="To the end").click()
        await press(page, "s")
        await expect(page.get_by_role("heading", name="Thank you!")).to_be_visible()
        (annotation,) = await annotations_of(suite, campaign)
        assert sorted(annotation["answer"].values()) == ["B"] * 7 + ["tie"]


class TestExchanges:
    async def test_are_opened_one_by_one_and_lock_what_was_decided(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of_talks(
            suite, talk("c0"), protocol="spot_the_bot_gamified", protocol_version=1, annotations_per_segment=1
        )
        page = await open_package(visit, await entry_path(suite, campaign))
        assert await page.locator(".turn").count() == 0
        assert "scar" not in await page.content()
        await press(page, "1", "Enter")  # nothing can be said of nothing
        await expect(page.locator(".turn")).to_have_count(2)
        await press(page, "1", "Enter")
        await expect(page.locator(".turn")).to_have_count(4)
        speaker_a = page.get_by_role("radiogroup", name="Speaker A Is this")
        await expect(speaker_a.get_by_label("Human")).to_be_disabled()
        await press(page, "2", "z", "Enter")  # what is locked stays
        await expect(page.locator(".turn")).to_have_count(6)
        await page.reload()
        await expect(page.locator(".turn")).to_have_count(6)
        await expect(speaker_a.get_by_label("Human")).to_be_disabled()
        await press(page, "Enter")
        await expect(page.locator("#notice")).to_contain_text("There is no more of this conversation")
        await press(page, "9")
        await expect(_saved(page)).to_be_visible()
        await press(page, "Enter", "s")
        await expect(page.get_by_role("heading", name="Thank you!")).to_be_visible()
        (annotation,) = await annotations_of(suite, campaign)
        assert [(each["target"], each["exchanges"]) for each in annotation["decisions"]] == [("A", 1), ("B", 3)]
        visit.complaints = [each for each in visit.complaints if "409" not in each]

    async def test_ask_for_the_features_once_both_sides_are_decided(self, visit: Visit, suite: RunningSuite):
        campaign = await campaign_of_talks(
            suite, talk("c0"), protocol="spot_the_bot_gamified", annotations_per_segment=1
        )
        page = await open_package(visit, await entry_path(suite, campaign))
        await press(page, "Enter")
        await expect(page.locator(".turn")).to_have_count(2)
        await expect(page.get_by_role("radiogroup", name="more fluent")).to_be_hidden()
        await press(page, "1", "9", "Enter")
        fluency = page.get_by_role("radiogroup", name="more fluent")
        await expect(fluency).to_be_visible()
        for name in ("more fluent", "more sensible", "more specific"):
            await page.get_by_role("radiogroup", name=name).get_by_label("No difference").check()
        await expect(_saved(page)).to_be_visible()
        await press(page, "Enter", "s")
        await expect(page.get_by_role("heading", name="Thank you!")).to_be_visible()
        (annotation,) = await annotations_of(suite, campaign)
        assert annotation["answer"]["fluency"] == "tie"
        assert {each["exchanges"] for each in annotation["decisions"] if each["question"] == "entity"} == {1}


class TestRules:
    """The page decides what to ask as the service does."""

    async def test_say_what_is_asked_and_missing_as_the_service_does(self, visit: Visit):
        cases: list[tuple[AnnotationProtocol, UnitShape, dict[str, Any]]] = []

        @settings(
            max_examples=60,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(st.data())
        def draw(data: st.DataObject) -> None:
            protocol = data.draw(protocols())
            shape = data.draw(shapes(protocol).filter(lambda each: len(each.sides) != 1))
            cases.append((protocol, shape, data.draw(answers(protocol, shape))))

        draw()
        page = await visit.open("/sign-in")
        found = await page.evaluate(
            """async cases => {
                const { Protocol } = await import("/static/any/js/annotate/protocol.js");
                return cases.map(([document, speakers, answer]) => {
                    const protocol = new Protocol(document);
                    const names = rows => rows.map(({ question, target }) => `${question.id}/${target ?? ""}`);
                    return [names(protocol.asked(answer, speakers)), names(protocol.missing(answer, speakers)),
                        protocol.pruned(answer, speakers)];
                });
            }""",
            [[protocol.model_dump(mode="json"), shape.speakers, answer] for protocol, shape, answer in cases],
        )
        expected = [
            [
                [f"{each.question.id}/{each.target or ''}" for each in asked_questions(*case)],
                [each.pointer.strip("/") + "/" * (each.pointer.count("/") == 1) for each in missing(*case)],
                case[2],
            ]
            for case in cases
        ]
        assert found == expected
        assert sum(len(each[1]) for each in found) > 15
        assert any(isinstance(question, LikertQuestion) for case in cases for question in case[0].steps[0].questions)
