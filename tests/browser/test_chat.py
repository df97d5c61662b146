"""A person's chat in a real browser: two partners, one that dies, a reload, a lost network, ratings, comparison."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Page, Route, ViewportSize, expect

from spotthebot.kit.crypto.pseudonyms import is_pseudonym
from tests.factories.bot_servers import bot, well_behaved
from tests.factories.browsing import DESKTOP, PHONE, SMALLEST, Visit, overflow, violations
from tests.factories.frontends import open_chats, webhook_bot
from tests.factories.pages import entry_of
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_corpus

HOSTILE = f"<img src=x onerror=alert(1)> **bold** مرحبا 🎉 {'x' * 900}"
_DESK: ViewportSize = {"width": DESKTOP[0], "height": DESKTOP[1]}
HEARD = """
- log "Conversation":
  - list:
    - listitem:
      - text: "You:"
      - paragraph: Wait.
    - listitem:
      - text: "Your partner:"
      - paragraph: /مرحبا/
"""
"""What a screen reader makes of the first turns."""
TURNED = "\u202egnp.exe\u202c once, please"
"""What a person can say; `bots` refuses replies that turn the direction of text."""


@dataclass
class Partners:
    """Two bots on one server: they wait while `answers` is not set, and die where somebody says so."""

    collection_id: str = ""
    ids: list[str] = field(default_factory=list)
    answers: asyncio.Event = field(default_factory=asyncio.Event)

    async def say(self, question: dict[str, Any]) -> Any:
        said = [turn["text"] for turn in question["turns"]]
        if said[:1] == ["Wait."]:
            await self.answers.wait()
            return {"text": HOSTILE}
        return (500, {"error": "dead"}) if said[:1] == ["Die."] else well_behaved(question)


@asynccontextmanager
async def partners(suite: RunningSuite, **settings: Any) -> AsyncIterator[Partners]:
    """Serve two bots and open a collection in which people talk to both, four turns each at least."""
    made = Partners()
    async with bot(made.say) as (_, url):
        made.ids = [
            await webhook_bot(suite, url, name="gpt-secret"),
            await webhook_bot(suite, url, name="eliza-secret"),
        ]
        made.collection_id = await open_chats(suite, made.ids, **{"minimum_turns": 4, "maximum_turns": 6} | settings)
        yield made
        made.answers.set()


async def _say(page: Page, words: str) -> None:
    """Type and press Enter once the page's script listens: before, Enter begins a new line, as without a script."""
    await page.locator("#text:not([required])").fill(words)
    await page.keyboard.press("Enter")


async def _answer_late(route: Route) -> None:
    answer = await route.fetch(max_redirects=0)
    await asyncio.sleep(1)
    await route.fulfill(response=answer)


async def _answered(page: Page, replies: int) -> None:
    await expect(page.locator("#talk .partner")).to_have_count(replies)


async def _rate(page: Page, **scores: int) -> None:
    for name, score in scores.items():
        await page.locator(f"#q-{name}").get_by_label(str(score)).check()
    await page.get_by_role("button", name="Save").click()


async def _is_usable(page: Page) -> None:
    assert await violations(page) == []
    assert await overflow(page) == 0


async def _ratings(suite: RunningSuite, collection_id: str) -> dict[str, Any]:
    analyst = await suite.client("conversations", "analyst")
    (rating,) = (await analyst.get(f"/v1/collections/{collection_id}/ratings")).json()["items"]
    return rating


async def _names_no_bot(page: Page, bots: Partners) -> None:
    everything = await page.content()
    assert [name for name in ("secret", *bots.ids) if name in everything] == []


async def _rate_one_question_late(page: Page) -> None:
    await _rate(page, engaging=5)  # of two questions
    await expect(page.get_by_role("alert")).to_contain_text("Was it good?")
    await _is_usable(page)
    await page.goto(page.url.removesuffix("/scores"))
    assert await page.locator("#q-engaging").get_by_label("5").is_checked()  # kept by the browser
    await _rate(page, quality=1)


async def _prefer_the_second(page: Page) -> None:
    await page.get_by_role("button", name="Send").click()
    await expect(page.get_by_role("alert")).to_contain_text("Choose one of the three")
    await _is_usable(page)
    await page.get_by_label("The second").check()
    await page.get_by_role("button", name="Send").click()


class TestChat:
    async def test_goes_through_two_partners_whom_the_person_rates_and_compares(
        self, visit: Visit, suite: RunningSuite
    ):
        async with partners(suite) as bots:
            page = await visit.open(
                entry_of(suite, bots.collection_id, interactor="p-17", code="C0DE-7"), size=SMALLEST
            )
            await _is_usable(page)
            await page.get_by_role("button", name="Begin").click()
            await _say(page, "Wait.")
            await page.get_by_text("Your partner is writing").wait_for()
            await page.reload()  # in the middle: what was said stands there, the reply is still awaited
            assert await page.locator("#talk .you p").all_inner_texts() == ["Wait."]
            await page.get_by_text("Your partner is writing").wait_for()
            await page.get_by_label("Write to your partner").fill("A draft")
            await page.reload()
            assert await page.get_by_label("Write to your partner").input_value() == "A draft"
            bots.answers.set()
            await _answered(page, 1)
            assert await page.locator("#talk .partner p").inner_text() == HOSTILE
            await expect(page.get_by_role("log", name="Conversation")).to_match_aria_snapshot(HEARD)
            assert "2 more turns" in await page.locator("#left").inner_text()
            assert await page.get_by_role("button", name="Rate this conversation").is_disabled()
            await page.emulate_media(color_scheme="dark")
            await _is_usable(page)
            await visit.context.set_offline(True)
            await _say(page, TURNED)
            await expect(page.locator("#talk .waits")).to_have_count(1)
            await visit.context.set_offline(False)
            await _answered(page, 2)
            assert await page.locator("#talk .you p").all_inner_texts() == ["Wait.", TURNED]
            await _names_no_bot(page, bots)
            await page.get_by_role("button", name="Rate this conversation").click()
            await page.get_by_role("heading", name="How was your first partner?").wait_for()

            await _rate_one_question_late(page)
            await page.get_by_text("This is your second partner").wait_for()
            for said in range(3):  # six turns end a conversation by themselves
                await _say(page, f"Hello {said}")
                if said < 2:
                    await _answered(page, said + 1)
            await page.get_by_role("heading", name="How was your second partner?").wait_for()
            await page.reload()
            await _rate(page, engaging=2, quality=4)
            await _prefer_the_second(page)
            await page.get_by_text("C0DE-7").wait_for()
            await _is_usable(page)
            await _names_no_bot(page, bots)

            rating = await _ratings(suite, bots.collection_id)
            assert is_pseudonym(rating["interactor"])
            assert [each["scores"] for each in rating["conversations"]] == [
                {"engaging": 5, "quality": 1},
                {"engaging": 2, "quality": 4},
            ]
            assert rating["preferred"] == rating["conversations"][1]["conversation_id"]
            again = await visit.open(entry_of(suite, bots.collection_id, interactor="p-17"), size=PHONE)
            await again.get_by_text("C0DE-7").wait_for()  # the link leads to where the person left
        visit.complaints = [each for each in visit.complaints if "422" not in each and "DISCONNECTED" not in each]

    async def test_goes_on_with_the_next_partner_when_one_dies(self, visit: Visit, suite: RunningSuite):
        async with partners(suite) as bots:
            page = await visit.open(entry_of(suite, bots.collection_id, interactor="p-18"))
            await page.get_by_role("button", name="Begin").click()
            await _say(page, "Die.")
            await page.get_by_text("needs a little longer").wait_for()
            await page.get_by_text("could not go on. That was not your fault").wait_for()
            await _is_usable(page)
            for said in range(2):
                await _say(page, f"Hello {said}")
                await _answered(page, said + 1)
            await page.get_by_role("button", name="Rate this conversation").click()
            await _rate(page, engaging=3, quality=3)
            await page.get_by_role("heading", name="Thank you").wait_for()
            rating = await _ratings(suite, bots.collection_id)
            assert [each["scores"] for each in rating["conversations"]] == [{}, {"engaging": 3, "quality": 3}]
            assert rating["preferred"] is None
            await visit.sign_in("admin")
            pages = [await visit.open(f"/bots/{bot_id}", size=SMALLEST) for bot_id in bots.ids]
            did = [page.get_by_role("region", name="How it did") for page in pages]
            shown = sorted([await each.inner_text() for each in did], key=len)
            assert ["Median reply" in each for each in shown] == [True, False]
            assert ["1 conversation failed at its turn" in each for each in shown] == [False, True]
            for page in pages:
                await _is_usable(page)

    async def test_compares_the_partners_on_each_question_where_the_collection_asks(
        self, visit: Visit, suite: RunningSuite
    ):
        async with partners(suite, minimum_turns=2, maximum_turns=2, compares="each_question") as bots:
            page = await visit.open(entry_of(suite, bots.collection_id, interactor="p-19"), size=PHONE)
            await page.get_by_role("button", name="Begin").click()
            for number in range(2):
                await _say(page, f"Hello {number}")
                await _rate(page, engaging=3, quality=4)
            await page.get_by_role("heading", name="Compare the two conversations").wait_for()
            await _is_usable(page)
            await page.set_viewport_size(_DESK)
            await _is_usable(page)
            await page.locator("#q-engaging").get_by_label("No difference").check()
            await page.locator("#q-all-in-all").get_by_label("The first").check()
            await page.get_by_role("button", name="Send").click()
            await expect(page.get_by_role("alert")).to_contain_text("Was it good?")
            await _is_usable(page)
            await page.goto(page.url.removesuffix("/preferred"))
            assert await page.locator("#q-engaging").get_by_label("No difference").is_checked()  # kept by the browser
            await page.locator("#q-quality").get_by_label("The second").check()
            await page.get_by_role("button", name="Send").click()
            await page.get_by_role("heading", name="Thank you").wait_for()
            rating = await _ratings(suite, bots.collection_id)
            first, second = [each["conversation_id"] for each in rating["conversations"]]
            assert (rating["preferred"], rating["preferences"]) == (first, {"engaging": None, "quality": second})
            analyst = await visit.sign_in("analyst", after=f"/conversations/{bots.collection_id}/ratings")
            await expect(analyst.get_by_text("4 better", exact=True)).to_have_count(1)
            await _is_usable(analyst)
            await analyst.goto(visit.address(f"/conversations/{bots.collection_id}/{second}"))
            await analyst.get_by_text("better than the other").wait_for()
            await _is_usable(analyst)
        visit.complaints = [each for each in visit.complaints if "422" not in each]

    async def test_shows_the_first_words_that_the_collection_gives(self, visit: Visit, suite: RunningSuite):
        async with partners(suite, opening={"begins": "bot", "first_words": "Hi! How are you?"}) as bots:
            page = await visit.open(entry_of(suite, bots.collection_id, interactor="p-21"), size=PHONE)
            await page.get_by_role("button", name="Begin").click()
            await page.get_by_text("Every conversation begins with these words.").wait_for()
            assert await page.locator("#talk .partner p").all_inner_texts() == ["Hi! How are you?"]
            await expect(page.locator("#left")).to_contain_text("3 more turns")
            await _say(page, "Fine.")
            await _answered(page, 2)
            await _is_usable(page)
            await _say(page, "And you?")
            await page.get_by_role("heading", name="How was your first partner?").wait_for()

    async def test_shows_the_person_whom_to_play(self, visit: Visit, suite: RunningSuite):
        personas = ["i ski.\ni <b>read</b>.", "i cook."]
        dialogue = {"key": "d1", "split": "openings", "turns": ["Hi.", "Hello."], "persona": personas}
        corpus_id = await add_corpus(suite, "personachat", [dialogue])
        async with partners(suite, personas={"corpus_id": corpus_id}) as bots:
            page = await visit.open(entry_of(suite, bots.collection_id, interactor="p-23"), size=PHONE)
            await page.get_by_role("button", name="Begin").click()
            played = page.get_by_role("region", name="In this conversation you are the person described here.")
            assert await played.get_by_role("listitem").all_inner_texts() == ["i ski.", "i <b>read</b>."]
            assert await page.get_by_text("i cook.").count() == 0
            await _is_usable(page)

    async def test_waits_for_the_partner_who_begins(self, visit: Visit, suite: RunningSuite):
        async with partners(suite, opening={"begins": "bot"}) as bots:
            page = await visit.open(entry_of(suite, bots.collection_id, interactor="p-22"), size=PHONE)
            await page.get_by_role("button", name="Begin").click()
            await _answered(page, 1)
            await _say(page, "Hello")
            await _answered(page, 2)
            await _is_usable(page)

    async def test_begins_after_the_person_has_read_the_instructions_and_consented(
        self, visit: Visit, suite: RunningSuite
    ):
        terms = {"instructions": "Talk <b>freely</b>.", "consent": "I am an adult.", "pay_per_chat": "1.67"}
        async with partners(suite, currency="USD", **terms) as bots:
            page = await visit.open(entry_of(suite, bots.collection_id, interactor="p-23"), size=PHONE)
            await page.get_by_text("Talk <b>freely</b>.").wait_for()
            await page.get_by_text("You get 1.67 USD for two conversations that you rate.").wait_for()
            await page.get_by_text("I am an adult.").wait_for()
            await _is_usable(page)
            await page.set_viewport_size(_DESK)
            await _is_usable(page)
            await page.get_by_role("button", name="I consent: begin").click()
            await page.get_by_text("You begin.").wait_for()
            admin = await suite.client("conversations", "admin")
            (person,) = (await admin.get(f"/v1/collections/{bots.collection_id}/chat-people")).json()["items"]
            assert person["consent_sha256"] == hashlib.sha256(b"I am an adult.").hexdigest()

    async def test_ends_when_the_person_withdraws_their_consent_and_begins_again_with_it(
        self, visit: Visit, suite: RunningSuite
    ):
        async with partners(suite, consent="I am an adult.") as bots:
            page = await visit.open(entry_of(suite, bots.collection_id, interactor="p-24"), size=PHONE)
            await page.get_by_role("button", name="I consent: begin").click()
            await _say(page, "Hello")
            await _answered(page, 1)
            await page.get_by_text("Leave the study").click()
            await _is_usable(page)
            await page.route("**/withdraw*", _answer_late)  # so that the chat's end is heard before
            await page.get_by_role("button", name="Take my consent back").click()
            await page.get_by_role("heading", name="Your consent is taken back").wait_for()
            await _is_usable(page)
            admin = await suite.client("conversations", "admin")
            (person,) = (await admin.get(f"/v1/collections/{bots.collection_id}/chat-people")).json()["items"]
            assert person["consent_withdrawn_at"] is not None
            await page.get_by_role("link", name="Go on all the same").click()
            await page.get_by_role("button", name="I consent: begin").click()
            await page.get_by_text("You begin.").wait_for()

    async def test_shows_the_code_of_a_rated_chat_after_the_withdrawal(self, visit: Visit, suite: RunningSuite):
        settings = {"minimum_turns": 2, "maximum_turns": 2, "bots_per_chat": 1, "consent": "I am an adult."}
        async with partners(suite, **settings) as bots:
            page = await visit.open(entry_of(suite, bots.collection_id, interactor="p-25", code="C0DE"), size=PHONE)
            await page.get_by_role("button", name="I consent: begin").click()
            await _say(page, "Hello")
            await page.get_by_text("Leave the study").wait_for()
            await _rate(page, engaging=3, quality=4)
            await page.get_by_text("Leave the study").click()
            await page.get_by_role("button", name="Take my consent back").click()
            await page.get_by_text("C0DE").wait_for()
            await page.get_by_role("link", name="Go on all the same").click()
            await page.get_by_role("heading", name="Thank you").wait_for()
            await expect(page.get_by_text("Leave the study")).to_have_count(0)

    async def test_offers_another_chat_until_the_person_has_had_as_many_as_one_may(
        self, visit: Visit, suite: RunningSuite
    ):
        settings = {"minimum_turns": 2, "maximum_turns": 2, "bots_per_chat": 1, "conversations_per_person": 2}
        async with partners(suite, **settings) as bots:
            page = await visit.open(entry_of(suite, bots.collection_id, interactor="p-20", code="C0DE"), size=PHONE)
            await page.get_by_text("You may have up to 2 conversations in all.").wait_for()
            await page.get_by_role("button", name="Begin").click()
            for left in (1, 0):
                await _say(page, "Hello")
                await _rate(page, engaging=3, quality=4)
                await page.get_by_text("C0DE").wait_for()
                await _is_usable(page)
                if left:
                    await page.get_by_text("You have begun one conversation. You may have one more.").wait_for()
                    await page.get_by_role("button", name="Begin another one").click()
            await page.get_by_text("You have begun 2 conversations, and there is no room for another").wait_for()
            await expect(page.get_by_role("button", name="Begin another one")).to_have_count(0)
            analyst = await suite.client("conversations", "analyst")
            rated = (await analyst.get(f"/v1/collections/{bots.collection_id}/ratings")).json()["items"]
            assert len(rated) == 2


class TestLinks:
    async def test_are_made_by_an_administrator_for_each_person(self, visit: Visit, suite: RunningSuite):
        async with partners(suite) as bots:
            page = await visit.sign_in("admin", after=f"/chats/{bots.collection_id}/links")
            await page.get_by_label("Days").fill("0")
            await page.get_by_role("button", name="Make links").click()
            await page.get_by_text("Give a number of days from 1 to 366.").wait_for()
            await page.get_by_label("Days").fill("3")
            await page.get_by_label("People", exact=True).fill("anna\nben\nanna\n")
            await page.get_by_role("button", name="Make links").click()
            lines = (await page.locator("#links").inner_text()).splitlines()
            assert [line.split("\t")[0] for line in lines] == ["anna", "ben"]
            await _is_usable(page)
            await page.goto(lines[1].split("\t")[1])
            await page.get_by_role("button", name="Begin").click()
            await page.get_by_text("You begin.").wait_for()
            admin = await suite.client("conversations", "admin")
            (chat,) = (await admin.get(f"/v1/collections/{bots.collection_id}/chats")).json()["items"]
            assert chat["person"] == "ben"
        visit.complaints.clear()  # Chromium reports the status 422
