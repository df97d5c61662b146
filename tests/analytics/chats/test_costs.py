"""What annotating and chatting cost, where they cross, and how long people chat (Spot The Bot, 5.3 and Table 4)."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from spotthebot.analytics.results.domain.chat_times import chat_times
from spotthebot.analytics.stats.evaluation_cost import evaluation_cost
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.conversations.chats import ChatState, ChatSummaryOut
from spotthebot.contracts.conversations.collections import CollectionOut
from tests.factories.frontends import open_chats, start, talk, two_bots
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

PAPER: dict[str, Any] = {
    "bots": 5,
    "conversations_per_pair": 40,
    "annotations_per_conversation": 1,
    "seconds_per_annotation": 24,
    "chats_per_bot": 100,
    "seconds_per_chat": 240,
    "hourly_wage": 10,
}
BEGAN = datetime(2026, 11, 27, tzinfo=UTC)


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics")


class TestCrossing:
    def test_is_at_the_51_systems_of_the_paper(self):
        """A pair takes 40 * 24 s = 16 minutes, 5 systems 10 * 16 = 160 minutes; a chat takes 4 minutes."""
        found = evaluation_cost(**PAPER)
        assert found.annotation_hours == pytest.approx(160 / 60)
        assert found.chatting_hours == pytest.approx(5 * 100 * 4 / 60)
        assert found.cheaper_up_to == 51
        assert evaluation_cost(**PAPER | {"bots": 51}).ratio == pytest.approx(1)
        assert evaluation_cost(**PAPER | {"bots": 52}).ratio < 1

    def test_is_below_two_bots_where_chatting_is_always_cheaper(self):
        assert evaluation_cost(**PAPER | {"seconds_per_chat": 4.7}).cheaper_up_to == 1

    async def test_is_answered_by_the_service(self, suite: RunningSuite):
        analyst = await suite.client("analytics", "analyst")
        found = (await analyst.get("/v1/designs/cost")).json()
        assert (found["cheaper_up_to"], found["annotation_hours"]) == (51, pytest.approx(160 / 60))
        assert (await analyst.get("/v1/designs/cost", params={"bots": 1})).status_code == 422


def _chat(seconds: float, person: str, *, conversations: int = 1, state: ChatState = ChatState.RATED) -> ChatSummaryOut:
    return ChatSummaryOut(
        id=UUID(int=1),
        interactor=person,
        interactor_kind=AnnotatorKind.PERSON,
        person=None,
        link=None,
        state=state,
        bots=(),
        conversations=tuple(UUID(int=at) for at in range(conversations)),
        created_at=BEGAN,
        last_turn_at=BEGAN + timedelta(seconds=seconds),
    )


class TestChatTimes:
    def test_are_seconds_of_one_conversation_in_finished_chats(self):
        chats = [
            _chat(100, "a"),
            _chat(400, "b", conversations=2),
            _chat(300, "c"),
            _chat(9, "d", state=ChatState.ABANDONED),
            _chat(9, "d", state=ChatState.CHATTING),
        ]
        stated: dict[str, Any] = {"id": UUID(int=9), "name": "people"}
        found = chat_times(CollectionOut.model_construct(**stated), chats)
        assert (found.time.median_seconds, found.time.mean_seconds, found.time.n) == (200, 200, 3)
        assert found.annotators == 3

    async def test_are_answered_by_the_service(self, suite: RunningSuite):
        people = await open_chats(suite, await two_bots(suite))
        await talk(suite, await start(suite, people))
        analyst = await suite.client("analytics", "analyst")
        found = (await analyst.get(f"/v1/collections/{people}/chat-times")).json()
        assert (found["name"], found["time"]["n"]) == ("people", 1)
        assert 0 <= found["time"]["median_seconds"] < 600
        assert (await analyst.get(f"/v1/collections/{UUID(int=1)}/chat-times")).status_code == 404
        imported = await import_conversations(suite, [conversation("c", "x", "y")])
        refused = await analyst.get(f"/v1/collections/{imported}/chat-times")
        assert refused.status_code == 409
        assert "holds no chats of people with bots" in refused.json()["detail"]
