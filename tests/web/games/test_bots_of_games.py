"""The pages of a game about its bots and its winner."""

import re

import pytest

from tests.factories.annotating import claim, save, submit
from tests.factories.campaigns import open_campaign
from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

PAID = {"pay_per_package": "1.00", "currency": "EUR"}


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics", "web")


async def _game(suite: RunningSuite) -> str:
    """Let ann label a person and a bot rightly, and bob neither, at the first exchange; return the campaign's id."""
    collection = await import_conversations(suite, [conversation("c", "HU", "X")])
    game = {"protocol": "spot_the_bot_gamified", "protocol_version": 1, "segments": [3], "annotations_per_segment": 2}
    campaign = await open_campaign(suite, collection, **game, **PAID)
    frontend = await suite.client("annotation", "annotation")
    for annotator, labels in (("ann", {"A": "human", "B": "bot"}), ("bob", {"A": "bot", "B": "human"})):
        assignment = await claim(suite, campaign, annotator)
        await frontend.post(f"/v1/assignments/{assignment['id']}/items/0/exchanges", json={"open": 1})
        assert (await save(suite, assignment, 0, {"entity": labels})).status_code == 200
        assert (await submit(suite, assignment)).status_code == 200
    return str(campaign["id"])


async def test_show_when_each_speaker_was_spotted(suite: RunningSuite):
    campaign = await _game(suite)
    async with signed_in(suite, "analyst") as visitor:
        page = (await visitor.get(f"/campaigns/{campaign}/decisions")).text
        german = (await visitor.get(f"/campaigns/{campaign}/decisions", headers={"Accept-Language": "de"})).text
    assert "Exact times" in page
    assert "after 3 exchanges" in page
    assert "Genaue Zeiten" in german


async def test_pay_the_winner_once(suite: RunningSuite):
    campaign = await _game(suite)
    path = f"/admin/campaigns/{campaign}/payments"
    async with signed_in(suite, "admin") as visitor:
        page = (await visitor.get(path)).text
        assert "Most points: ann." in page
        form = {"amount": "5.00", "reason": "Most points in the game"}
        async with signed_in(suite, "admin") as another:
            for each in (visitor, visitor, another):  # an Idempotency-Key is of one API key, and for a day
                assert (await each.post(f"{path}/winner", data=form)).status_code == 303
        page = re.sub("<[^>]+>", " ", (await visitor.get(path)).text)
        bad = await visitor.post(f"{path}/winner", data={"amount": "-5", "reason": "x"})
    assert "Bonuses 5.00" in " ".join(page.split())
    assert bad.status_code == 422
