"""The page of a collection of chats shows how long people chat."""

import pytest

from spotthebot.contracts.services import SERVICE_NAMES
from spotthebot.web.layout.domain import Numbers
from tests.factories.frontends import open_chats, rate, ratings, start, talk, two_bots
from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return SERVICE_NAMES


async def test_the_time_of_chats_stands_above_their_ratings(suite: RunningSuite):
    people = await open_chats(suite, await two_bots(suite))
    async with signed_in(suite, "analyst") as analyst:
        assert "Time of a chat" not in (await analyst.get(f"/conversations/{people}/ratings")).text
        chat = await start(suite, people)
        await talk(suite, chat)
        assert (await rate(suite, chat, ratings(1, 2, preferred=2))).status_code == 200
        analytics = await suite.client("analytics", "analyst")
        times = (await analytics.get(f"/v1/collections/{people}/chat-times")).json()["time"]
        shown = (await analyst.get(f"/conversations/{people}/ratings")).text
        assert f"<b>{Numbers('en').duration(times['median_seconds'])}</b>" in shown
        assert "1 chat · 1 person" in shown
        analyst.cookies.set("language", "de")
        assert "Dauer eines Chats" in (await analyst.get(f"/conversations/{people}/ratings")).text
