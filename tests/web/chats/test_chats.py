"""Who may open a chat's pages, what comes next in one, and what the browser's cookie holds."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
from cryptography.fernet import Fernet
from starlette.requests import Request
from starlette.responses import Response

from spotthebot.contracts.conversations.chats import (
    DIALOGUE_LIKERT,
    ChatConversationOut,
    ChatOut,
    ChatState,
    Compares,
    Question,
)
from spotthebot.kit.crypto.vault import Vault
from spotthebot.kit.web.sessions.sealed_cookie import SealedCookie
from spotthebot.web.catalogues import Texts
from spotthebot.web.chats.domain import ChatLink, ChatPerson, Next, Step, next_of, ratings_of
from spotthebot.web.chats.forms import OVERALL, read_preferences, read_scores
from spotthebot.web.visitors.domain import SignedIn
from tests.factories.frontends import chats_of, open_chats, rate, ratings, start, talk, two_bots
from tests.factories.pages import entry_of, seal
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

QUESTIONS = (Question(name="engaging", text="Engaging?"), Question(name="quality", text="Good?"))
ID = UUID(int=7)
HTML = {"Accept": "text/html"}


def _chat(state: ChatState, *conversations: str) -> ChatOut:
    """Return a chat whose conversations are `on`, `over` or `broken`."""
    return ChatOut(
        id=ID,
        state=state,
        conversations=tuple(
            ChatConversationOut(
                number=number, over=each != "on", broken_off=each == "broken", turns=(), opening=0, persona=None
            )
            for number, each in enumerate(conversations, start=1)
        ),
        partners=2,
        minimum_turns=2,
        maximum_turns=6,
        awaits_reply=False,
        may_advance=False,
        questions=QUESTIONS,
        compares=Compares.OVERALL,
        asks_consent=False,
        last_event=0,
    )


class TestQuestions:
    def test_from_abc_eval_stand_word_for_word_in_english(self):
        english = Texts("en")
        assert [english(f"chat.questions.{each.name}") for each in DIALOGUE_LIKERT] == [
            each.text for each in DIALOGUE_LIKERT
        ]
        assert [english(f"chat.comparisons.{each.name}") for each in DIALOGUE_LIKERT] == [
            each.comparison for each in DIALOGUE_LIKERT
        ]


class TestNext:
    @pytest.mark.parametrize(
        ("state", "conversations", "rated", "expected"),
        [
            ("chatting", ["on"], [], Next(Step.TALK, 1)),
            ("chatting", ["over", "on"], [], Next(Step.RATE, 1)),
            ("chatting", ["over", "on"], [1], Next(Step.TALK, 2)),
            ("chatting", ["broken", "on"], [], Next(Step.TALK, 2)),
            ("rating", ["over", "over"], [1], Next(Step.RATE, 2)),
            ("rating", ["over", "over"], [], Next(Step.RATE, 1)),
            ("rating", ["over", "over"], [1, 2], Next(Step.COMPARE)),
            ("rating", ["over", "broken"], [1], Next(Step.SEND)),
            ("rating", ["broken", "broken"], [], Next(Step.SEND)),
            ("rated", ["over", "over"], [], Next(Step.FINISHED)),
            ("abandoned", ["over", "over"], [], Next(Step.ABANDONED)),
        ],
    )
    def test_follows_from_the_chat_and_the_scores_so_far(
        self, state: str, conversations: list[str], rated: list[int], expected: Next
    ):
        assert next_of(_chat(ChatState(state), *conversations), dict.fromkeys(rated, (3, 3))) == expected


class TestScores:
    def test_name_the_questions_that_have_none(self):
        found = read_scores({"score.engaging": "6", "score.quality": "5", "score.x": "1"}, QUESTIONS)
        assert (found.answers, found.missing) == ({"quality": 5}, ["engaging"])

    def test_by_comparison_name_the_questions_that_have_none(self):
        typed = {"preference.engaging": "0", "preference.quality": "3", "preferred": "2", "preference.all-in-all": "1"}
        found = read_preferences(typed, ["engaging", "quality", OVERALL])
        assert (found.answers, found.missing) == ({"engaging": None, OVERALL: 2}, ["quality"])

    def test_are_sent_for_each_conversation_that_did_not_break_off(self):
        chat = _chat(ChatState.RATING, "over", "broken")
        sent = ratings_of(chat, {1: (4, 2), 2: (1, 1)})
        assert [(each.number, each.scores) for each in sent.conversations] == [(1, {"engaging": 4, "quality": 2})]

    def test_stay_in_the_cookie_however_long_the_names_are(self):
        """Fifty questions, two conversations, the longest id and code, in characters of four bytes."""
        cookie = SealedCookie("chat", Vault(Fernet.generate_key().decode()), lasts_seconds=60, secure=False)
        link = ChatLink(ID, datetime.now(UTC), code="🎉" * 200)
        scores = {1: (5,) * 50, 2: (1,) * 50}
        person = ChatPerson(ID, "🎉" * 200, link.name, link.until, code=link.code, chat_id=ID, scores=scores)
        response = Response()
        cookie.write(response, person.to_session())
        sent = response.headers["set-cookie"].partition(";")[0]
        content = cookie.read(Request({"type": "http", "headers": [(b"cookie", sent.encode())]}))
        assert content is not None
        assert ChatPerson.from_session(content) == person


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "web")


@pytest.fixture
async def browser(suite: RunningSuite) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(
        base_url=suite.urls["web"], headers={"Accept": "text/html"}, trust_env=False, timeout=30
    ) as client:
        yield client


@pytest.fixture
async def collection_id(suite: RunningSuite) -> str:
    return await open_chats(suite, await two_bots(suite))


def _remembered(suite: RunningSuite, person: ChatPerson) -> dict[str, str]:
    """Return the header by which a browser names a person who came in."""
    response = Response()
    suite.apps["web"].state.resources.visitors.chat_sessions.write(response, person.to_session())
    return {"Cookie": response.headers["set-cookie"].partition(";")[0]}


class TestAccess:
    async def test_needs_a_link_of_this_installation_that_has_not_ended(
        self, suite: RunningSuite, collection_id: str, browser: httpx.AsyncClient
    ):
        other = str(UUID(int=1))
        content = {"kind": "chat", "collection_id": collection_id, "interactor": "eve"}
        refused = [
            f"/chat/{collection_id}",
            f"/chat/{collection_id}/events",
            f"/chat/{collection_id}/enter",
            f"/chat/{collection_id}/enter?entry=made-up",
            f"/chat/{collection_id}/enter?entry={'ä' * 10}",
            f"/chat/{collection_id}/enter?entry={seal(suite, content)}",
            entry_of(suite, collection_id, hours=-1, interactor="eve"),
            entry_of(suite, collection_id, interactor="eve").replace(collection_id, other),
        ]
        for path in refused:
            answer = await browser.get(path)
            assert (answer.status_code, "Open your link" in answer.text) == (401, True), path

    async def test_is_for_the_person_and_the_collection_of_the_link(
        self, suite: RunningSuite, collection_id: str, browser: httpx.AsyncClient
    ):
        entered = await browser.get(entry_of(suite, collection_id, interactor="ann"))
        assert (entered.status_code, entered.headers["location"]) == (303, f"/chat/{collection_id}")
        assert (await browser.get(f"/chat/{collection_id}")).status_code == 200
        assert (await browser.get(f"/chat/{UUID(int=1)}")).status_code == 401
        early = await browser.get(f"/chat/{collection_id}/events", headers={"Accept": "text/event-stream"})
        assert (early.status_code, early.json()["detail"]) == (
            409,
            "You have not started a chat: open the link that you were given, and begin there.",
        )
        own = browser.cookies["spotthebot_chat_person"]
        assert (await browser.get(f"/chat/{collection_id}/enter?entry={own}")).status_code == 401
        browser.cookies.set("spotthebot_session", own)
        browser.cookies.delete("spotthebot_chat_person")
        assert (await browser.get(f"/chat/{collection_id}")).status_code == 401

    async def test_by_a_panels_link_takes_the_person_from_the_url(
        self, suite: RunningSuite, collection_id: str, browser: httpx.AsyncClient
    ):
        entry = entry_of(suite, collection_id, parameter="PROLIFIC_PID")
        without = await browser.get(entry)
        assert (without.status_code, "PROLIFIC_PID" in without.text) == (422, True)
        assert (await browser.get(f"{entry}&PROLIFIC_PID=5f1&STUDY_ID=9")).status_code == 303
        assert (await browser.post(f"/chat/{collection_id}/begin")).status_code == 303
        admin = await suite.client("conversations", "admin")
        (chat,) = (await admin.get(f"/v1/collections/{collection_id}/chats")).json()["items"]
        assert chat["person"] == "5f1"

    async def test_to_links_is_for_administrators(
        self, suite: RunningSuite, collection_id: str, browser: httpx.AsyncClient
    ):
        assert (await browser.get(f"/chats/{collection_id}/links")).headers["location"].startswith("/sign-in")
        await browser.post("/sign-in", data={"key": await suite.keys.make("team", team="blue")})
        assert (await browser.get(f"/chats/{collection_id}/links")).status_code == 403

    async def test_in_another_browser_leads_to_the_chat_that_there_is(
        self, suite: RunningSuite, collection_id: str, browser: httpx.AsyncClient
    ):
        chat = await start(suite, collection_id, "ann")
        entry = entry_of(suite, collection_id, interactor="ann", code="C0DE")
        await browser.get(entry)
        assert (
            "Write to your partner" in (await browser.get(f"/chat/{collection_id}")).text
        )  # begun elsewhere, it goes on here
        await talk(suite, chat)
        assert (await rate(suite, chat, ratings(1, 2))).status_code == 200
        async with httpx.AsyncClient(base_url=suite.urls["web"], headers=HTML, trust_env=False) as other:
            await other.get(entry)
            finished = await other.get(f"/chat/{collection_id}")
            assert ("Thank you" in finished.text, "C0DE" in finished.text) == (True, True)
            await other.post(f"/chat/{collection_id}/begin")  # a form that stood open meanwhile
        assert len(await chats_of(suite, collection_id)) == 1

    async def test_ends_with_a_link_that_was_revoked_but_for_a_chat_under_way(
        self, suite: RunningSuite, collection_id: str, browser: httpx.AsyncClient
    ):
        mine, other = [entry_of(suite, collection_id, interactor=name) for name in ("ann", "bob")]
        async with httpx.AsyncClient(base_url=suite.urls["web"], headers=HTML, trust_env=False) as early:
            await early.get(mine)
            signed_in = Response()
            admin = SignedIn(await suite.keys.make("admin"), "admin")
            suite.apps["web"].state.resources.visitors.sessions.write(signed_in, admin.to_session())
            session = {"Cookie": signed_in.headers["set-cookie"].partition(";")[0]}
            form = f"/chats/{collection_id}/links/revoke"
            for wrong, fault in (("", "one link at least"), (f"{mine}\nnonsense", "no link into this collection")):
                refused = await browser.post(form, data={"revoked": wrong}, headers=session)
                assert (refused.status_code, fault in refused.text) == (422, True)
            assert (await browser.get(mine)).status_code == 303  # nothing was revoked
            pasted = {"revoked": f"ann\thttps://spot.example.org{mine}"}
            assert (await browser.post(form, data=pasted)).status_code in {303, 401}
            done = await browser.post(form, data=pasted, headers=session)
            assert "One link is revoked." in done.text
            browser.cookies.clear()
            for text in (mine, mine.replace("entry=", "entry=%21"), f"{mine}%0A"):  # read as the same link, or as none
                assert (await browser.get(text)).status_code in {401, 403}
            refused = await browser.get(mine, headers={"Accept-Language": "de"})
            assert "Dieser Link gilt nicht mehr" in refused.text
            assert (await early.post(f"/chat/{collection_id}/begin")).status_code == 403
            assert (await browser.get(other)).status_code == 303
            await start(suite, collection_id, "ann")
            assert (await early.post(f"/chat/{collection_id}/begin")).status_code == 303

    async def test_comes_back_with_a_link_that_replaces_a_revoked_one(
        self, suite: RunningSuite, collection_id: str, browser: httpx.AsyncClient
    ):
        first = ChatLink(UUID(collection_id), datetime.now(UTC) + timedelta(hours=1), interactor="ann", code="OLD")
        second = replace(first, until=first.until + timedelta(hours=1), code="NEW")
        assert (
            await browser.get(f"/chat/{collection_id}/enter?entry={seal(suite, first.to_content())}")
        ).status_code == 303
        admin = await suite.client("conversations", "admin")
        await created(admin, f"/v1/collections/{collection_id}/revoked-links", {"link": first.name})
        assert (await browser.post(f"/chat/{collection_id}/begin")).status_code == 403
        replacing = f"/chat/{collection_id}/enter?entry={seal(suite, second.to_content())}"
        assert (await browser.get(replacing)).status_code == 303
        assert (await browser.post(f"/chat/{collection_id}/begin")).status_code == 303
        assert (await browser.get(replacing)).status_code == 303  # opened again, it leaves the chat as it is
        assert "Write to your partner" in (await browser.get(f"/chat/{collection_id}")).text

    async def test_ends_with_an_expired_link_but_for_a_chat_under_way(
        self, suite: RunningSuite, collection_id: str, browser: httpx.AsyncClient
    ):
        ended = ChatLink(UUID(collection_id), datetime.now(UTC) - timedelta(seconds=1), interactor="ann")
        came = _remembered(suite, ChatPerson(UUID(collection_id), "ann", ended.name, ended.until))
        refused = await browser.post(f"/chat/{collection_id}/begin", headers=came)
        assert (refused.status_code, "This link expired before you began" in refused.text) == (403, True)
        assert await chats_of(suite, collection_id) == []
        await start(suite, collection_id, "ann")
        assert (await browser.post(f"/chat/{collection_id}/begin", headers=came)).status_code == 303


class TestPages:
    async def test_work_without_a_script_and_take_a_second_click_for_the_first(
        self, suite: RunningSuite, collection_id: str, browser: httpx.AsyncClient
    ):
        await browser.get(entry_of(suite, collection_id, interactor="ann"))
        for _ in range(2):  # begins one chat
            await browser.post(f"/chat/{collection_id}/begin")
        turn: dict[str, Any] = {"number": 1, "position": 0, "text": " Hi.\r\nYou? "}
        for _ in range(2):  # says it once
            assert (await browser.post(f"/chat/{collection_id}/turns", data=turn)).status_code == 303
        state = (await browser.get(f"/chat/{collection_id}/state")).json()
        assert state["conversations"][0]["turns"][0]["text"] == "Hi.\nYou?"
        for wrong, said in (("", "write something first"), ("x" * 2001, "2,001 characters")):
            refused = await browser.post(f"/chat/{collection_id}/turns", data=turn | {"text": wrong})
            assert (refused.status_code, said in refused.text) == (422, True)

    @pytest.mark.parametrize(("language", "question"), [("de", "Blieb Ihr Gegenüber ohne Widersprüche?"), ("en", None)])
    async def test_ask_in_the_readers_language_or_as_the_collection_words_it(
        self, suite: RunningSuite, browser: httpx.AsyncClient, language: str, question: str | None
    ):
        own = Question(name="consistent", text="Was it the same person throughout?")
        asked = own if question is None else next(each for each in DIALOGUE_LIKERT if each.name == "consistent")
        collection_id = await open_chats(suite, await two_bots(suite), maximum_turns=2, questions=[asked.model_dump()])
        await browser.get(entry_of(suite, collection_id, interactor="ann"))
        await browser.post(f"/chat/{collection_id}/begin")
        await browser.post(f"/chat/{collection_id}/turns", data={"number": 1, "position": 0, "text": "Hello!"})
        async with browser.stream("GET", f"/chat/{collection_id}/events") as events:
            async for line in events.aiter_lines():
                if line == "event: next":
                    break
        page = await browser.get(f"/chat/{collection_id}", headers={"Accept-Language": language})
        assert (question or own.text) in page.text

    async def test_say_that_a_chat_was_closed_and_offer_another(
        self, suite: RunningSuite, collection_id: str, browser: httpx.AsyncClient
    ):
        await browser.get(entry_of(suite, collection_id, interactor="ann"))
        await browser.post(f"/chat/{collection_id}/begin")
        await (await suite.client("conversations", "admin")).post(f"/v1/collections/{collection_id}/finish")
        page = await browser.get(f"/chat/{collection_id}")
        assert "This conversation has ended" in page.text
        state = (await browser.get(f"/chat/{collection_id}/state")).json()
        quiet = await browser.get(f"/chat/{collection_id}/events?after={state['last_event']}")
        assert quiet.status_code == 204  # EventSource asks no more
        missed = await browser.get(f"/chat/{collection_id}/events")
        assert [line for line in missed.text.splitlines() if line.startswith("event:")] == ["event: done"]
