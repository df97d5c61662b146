"""Researchers read conversations: collections, searches, one conversation with what is known of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import pytest
from playwright.async_api import Page, expect

from spotthebot.contracts.conversations.conversations import ConversationState
from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.contracts.fed.score_jobs import BaselineOut
from spotthebot.conversations.searches.domain import SEARCHED_AT_ONCE
from spotthebot.fed.score_sets.domain import ScoredContext
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.ids import new_id
from tests.factories.annotating import claim, save, submit, work_through
from tests.factories.browsing import PHONE, SMALLEST, Visit, barriers, overflow, violations
from tests.factories.campaigns import open_campaign
from tests.factories.exported import exported
from tests.factories.frontends import open_chats, rate, ratings, start, talk, two_bots
from tests.factories.running_suite import RunningSuite
from tests.factories.stored_collections import bot, store_collection, store_conversations
from tests.factories.stored_scores import store_scores
from tests.factories.studies import conversation, created, import_conversations

HOSTILE = (
    "<script>window.hacked = true</script><img src=x onerror='window.hacked = true'>",
    "[a link](javascript:alert(1)) **bold** {{ 7 * 7 }}",
    "\u202egnp.exe\u202c and then what follows",
    "شكرا جزيلا، كيف حالك اليوم؟",
    "x" * 10_000,
    "👩‍👩‍👧‍👦 fine   \n\n  two lines",
)
NAME = "<b>evil</b> \u05d1bot"


@dataclass(frozen=True)
class Study:
    collection: str
    hostile: str
    """The conversation of hostile texts, the last but one of 31."""
    campaign: str


@pytest.fixture
async def suite(module_suite: RunningSuite) -> RunningSuite:
    """The file's services with the data of the file."""
    return module_suite


@pytest.fixture(scope="module")
async def study(module_suite: RunningSuite) -> Study:
    """A collection of 31 conversations, all of the first four of which are annotated."""
    admin = await module_suite.client("conversations", "admin")
    opened = {"mode": "import", "name": "exported", "domain": "everyday"}
    collection = (await created(admin, "/v1/collections", opened))["id"]
    held = [exported(number) for number in range(29)]
    whole = held[0]
    turns = tuple(
        whole.turns[0].model_copy(update={"speaker": "AB"[place % 2], "text": text, "latency_ms": 1234.0})
        for place, text in enumerate(HOSTILE)
    )
    held.append(whole.model_copy(update={"id": "hostile", "turns": turns}))
    failure = {"id": "broken", "state": ConversationState.FAILED, "failure": "bob answered 500 <i>thrice</i>"}
    held.append(whole.model_copy(update=failure))
    answer = await admin.post(f"/v1/collections/{collection}/uploads", content=b"".join(map(_line, held)))
    assert answer.json()["stored"] == 31, answer.text
    found = (await admin.get(f"/v1/collections/{collection}/conversations", params={"text": "gnp.exe"})).json()
    campaign = await open_campaign(module_suite, collection, package_size=100, segments=[1, 2])
    for annotator in ("worker-1", "worker-2", "worker-3", "worker-4"):
        await work_through(module_suite, await claim(module_suite, campaign, annotator))
    return Study(collection, found["items"][0]["id"], campaign["id"])


class TestCollection:
    async def test_is_found_searched_and_read_page_by_page(self, visit: Visit, study: Study):
        page = await visit.sign_in("analyst", after="/conversations")
        await page.get_by_role("link", name="exported").click()
        await page.wait_for_url(visit.address(f"/conversations/{study.collection}"))
        rows = page.locator("ol.rows > li")
        await expect(rows).to_have_count(25)
        await page.get_by_role("link", name="More").click()
        await expect(rows).to_have_count(6)
        await expect(page.get_by_text("bob answered 500 <i>thrice</i>")).to_be_visible()
        await page.get_by_label("Said in it").fill("TURN 3 OF 17")
        await page.get_by_role("button", name="Search").click()
        await expect(rows).to_have_count(1)
        assert (await page.locator("mark").inner_text()).lower() == "turn 3 of 17"
        await page.get_by_label("Ended by").select_option(label="failed")
        await page.get_by_role("button", name="Search").click()
        await expect(page.get_by_role("heading", name="Nothing matches")).to_be_visible()
        assert await violations(page) == []
        await page.get_by_label("Said in it").fill("")
        await page.get_by_role("button", name="Search").click()
        await expect(rows).to_have_count(1)
        await page.get_by_role("link", name="Clear").click()
        await expect(rows).to_have_count(25)
        await page.get_by_label("Fewest turns").fill("5")
        await page.get_by_label("Fewest turns").press("Enter")
        await expect(rows).to_have_count(1)

    async def test_is_searched_on_where_one_request_stopped(self, visit: Visit, suite: RunningSuite):
        database = Database(suite.database.app["conversations"], pool_size=1)
        async with database.write() as session:
            sides = [bot(new_id(), name) for name in ("one", "two")]
            collection = await store_collection(session, sides, name="many", state="complete")
            await store_conversations(session, collection, SEARCHED_AT_ONCE, turns=("hay",), state="complete")
            await store_conversations(session, collection, 1, turns=("a needle",), state="complete")
        await database.close()
        await visit.sign_in("analyst", after="/conversations")
        page = await visit.open(f"/conversations/{collection}?text=needle", size=SMALLEST)
        await expect(page.get_by_role("heading", name="Nothing among these yet")).to_be_visible()
        assert await violations(page) == []
        await page.get_by_role("link", name="Search on").click()
        await expect(page.locator("mark")).to_have_text("needle")

    async def test_is_closed_to_teams_and_to_strangers(self, visit: Visit, study: Study):
        page = await visit.open(f"/conversations/{study.collection}")
        assert "/sign-in?after=/conversations/" in page.url
        await visit.sign_in("team", team="blue", after="/leaderboard")
        for path in (
            "",
            f"/{study.collection}",
            f"/{study.collection}/{study.hostile}",
            f"/{study.collection}/ratings",
        ):
            page = await visit.open(f"/conversations{path}")
            await expect(page.get_by_role("heading", name="Not open to you")).to_be_visible()
            assert "gnp.exe" not in await page.content()
        visit.complaints.clear()  # Chromium reports the statuses


class TestConversation:
    async def test_shows_hostile_texts_as_texts(self, visit: Visit, study: Study):
        await visit.sign_in("analyst", after="/conversations")
        page = await visit.open(f"/conversations/{study.collection}/{study.hostile}")
        bubbles = page.locator(".turn:not(.is-opening) .bubble > .text")
        shown = [await bubbles.nth(place).text_content() for place in range(len(HOSTILE))]
        assert shown == [*HOSTILE]
        assert await page.evaluate("window.hacked") is None
        assert await _direction(page, 3) == "rtl"
        assert await _direction(page, 2) == "ltr"
        assert await page.get_by_text("1.23 s").count() == len(HOSTILE)
        assert await barriers(page) == []

    async def test_marks_where_annotators_decided_and_hides_who_they_are(
        self, visit: Visit, suite: RunningSuite, study: Study
    ):
        await visit.sign_in("analyst", after="/conversations")
        page = await visit.open(f"/conversations/{study.collection}/{study.hostile}", size=PHONE)
        marks = page.locator(".divider.mark")
        assert await marks.all_inner_texts() == [
            f"after {read} · 2 annotations · A: 2\u00a0human · B: 2\u00a0bot" for read in ("1 exchange", "2 exchanges")
        ]
        speakers = (await (await suite.analytics("analyst")).fooling_rates(study.campaign)).speakers
        colours = {each.name: each.colour for each in speakers}
        in_legend = await page.locator(".legend li").evaluate_all(
            "rows => rows.map(row => [row.querySelector('bdi').textContent, "
            "row.querySelector('.mark .on-light').getAttribute('fill')])"
        )
        assert in_legend == [[name, colours[name]] for name in ("ann", "bob")]
        assert await page.locator(".turn .side .mark").count() == await page.locator(".turn").count()
        table = page.get_by_role("table").first
        assert await table.get_by_role("row").count() == 1 + 4
        assert "entity A" in await table.inner_text()
        assert "worker" not in await page.content()
        await expect(page.get_by_text("No score job of this collection is complete.")).to_be_visible()

    async def test_lists_the_answers_of_a_protocol_that_asks_much_of_each_turn(self, visit: Visit, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation("a", "one", "two")])
        campaign = await open_campaign(suite, collection, protocol="turn_likert")
        assignment = await claim(suite, campaign, "w")
        asked = [each["id"] for each in assignment["protocol"]["steps"][0]["questions"]]
        turns = [str(number) for number, _ in enumerate(assignment["items"][0]["turns"])]
        answer = {question: dict.fromkeys(turns, 3) | {"5": 1} for question in asked}
        assert (await save(suite, assignment, 0, answer)).json()["missing"] == []
        assert (await submit(suite, assignment)).status_code == 200
        await visit.sign_in("analyst", after=f"/conversations/{collection}")
        page = await visit.open(f"/conversations/{collection}", size=SMALLEST)
        await page.locator("ol.rows a").click()
        await page.locator("details summary").click()
        answers = page.locator(".answers > div")
        assert await answers.count() == len(asked) * 6
        assert (await answers.filter(has_text="grammatical, turn 6").inner_text()).split()[-1] == "1"
        assert await violations(page) == []
        assert await overflow(page) == 0

    async def test_stands_with_its_scores_beside_what_length_alone_says(
        self, visit: Visit, suite: RunningSuite, study: Study
    ):
        await _score(suite, study, {"ann": 2.0, "bob": 1.25})
        await visit.sign_in("analyst", after="/conversations")
        page = await visit.open(f"/conversations/{study.collection}/{study.hostile}")
        for name, row in (("ann", "2.00 1.50 +0.50"), ("bob", "1.25 1.50 -0.25")):
            scores = page.get_by_role("region", name=f"FED {name}").get_by_role("row", name="fluent")
            assert " ".join((await scores.inner_text()).split()) == f"fluent {row}"
        await expect(page.get_by_text("after turn 3", exact=False)).to_be_visible()  # two of the opening
        widths = [float(await bar.get_attribute("width") or 0) for bar in await page.locator(".bar rect").all()]
        assert widths == [50, 25]  # one scale for both bots
        assert await violations(page) == []

    async def test_is_read_from_one_to_the_next_by_keys_within_a_search(self, visit: Visit, study: Study):
        await visit.sign_in("analyst", after="/conversations")
        page = await visit.open(f"/conversations/{study.collection}?text=turn+3+of+1&participant=ann")
        first = page.locator("ol.rows a").first
        await first.click()
        await page.wait_for_url("**/conversations/*/*")
        address = page.url
        assert await page.get_by_role("link", name="Previous").count() == 0
        await page.keyboard.press("ArrowRight")
        await page.wait_for_url(lambda url: url != address)
        assert "text=turn+3+of+1&participant=ann" in page.url
        await expect(page.get_by_text("turn 3 of 10")).to_be_visible()
        await page.keyboard.press("ArrowLeft")
        await page.wait_for_url(address)

    async def test_a_person_with_a_bot_stands_with_the_ratings(self, visit: Visit, suite: RunningSuite):
        people = await open_chats(suite, await two_bots(suite))
        chat = await start(suite, people)
        await talk(suite, chat)
        assert (await rate(suite, chat, ratings(1, 2, preferred=2))).status_code == 200
        await visit.sign_in("analyst", after="/conversations")
        page = await visit.open(f"/conversations/{people}")
        await page.get_by_role("link", name="How people rated their chats").click()
        better = page.get_by_role("row").filter(has_text="yes")
        assert (await better.inner_text()).split()[-3:] == ["4", "2", "yes"]
        assert await violations(page) == []
        await better.get_by_role("link").click()
        await expect(page.get_by_text("The person found it the better one.")).to_be_visible()
        assert "p1" not in await page.locator("main").inner_text()
        assert await violations(page) == []

    async def test_is_not_found_in_another_collection(self, visit: Visit, suite: RunningSuite, study: Study):
        admin = await suite.client("conversations", "admin")
        other = await created(admin, "/v1/collections", {"mode": "import", "name": NAME, "domain": "everyday"})
        await visit.sign_in("analyst", after="/conversations")
        page = await visit.open(f"/conversations/{other['id']}/{study.hostile}")
        await expect(page.get_by_role("heading", name="Nothing here")).to_be_visible()
        page = await visit.open("/conversations")
        await expect(page.get_by_role("link", name=NAME)).to_be_visible()
        visit.complaints.clear()  # Chromium reports the status 404


async def _score(suite: RunningSuite, study: Study, scores: Mapping[str, float]) -> None:
    """Store a complete score job, as the worker of `fed` does: the length of 20 characters alone says 1 + 10 / 20."""
    baseline = BaselineOut(intercept=1.0, slope=10.0, r2=None, contexts=9)
    contexts = [
        ScoredContext(UUID(study.hostile), turn, bot, 20, 0, (score,))
        for turn, (bot, score) in enumerate(scores.items(), 5)
    ]
    await store_scores(suite, study.collection, contexts, baseline=baseline)


async def _direction(page: Page, place: int) -> str:
    """Return the direction in which a browser sets a turn's text: where its first letter stands."""
    return str(
        await page.locator(".turn:not(.is-opening) .bubble > .text")
        .nth(place)
        .evaluate("node => getComputedStyle(node).direction")
    )


def _line(conversation: ExportedConversation) -> bytes:
    return conversation.model_dump_json().encode() + b"\n"
