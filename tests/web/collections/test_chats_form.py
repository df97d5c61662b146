"""The form that opens chats of people with bots."""

import pytest

from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "web")


async def test_chats_are_opened_with_the_chosen_bots_and_faults_stand_by_their_fields(suite: RunningSuite):
    bots = [await add_bot(suite, name) for name in ("eliza", "dull")]
    typed = {"name": "people", "domain": "everyday", "bots": bots, "pay_per_chat": "1,50", "currency": "EUR"}
    async with signed_in(suite, "admin") as client:
        client.headers["Accept"] = "text/html"
        form = (await client.get("/admin/collections/chats")).text
        assert all(f'name="bots" value="{bot}"' in form for bot in bots)
        wrong = await client.post("/admin/collections/chats", data=typed | {"name": "", "minimum_turns": "x"})
        assert (wrong.status_code, 'id="name-fault"' in wrong.text, 'id="minimum_turns-fault"' in wrong.text) == (
            422,
            True,
            True,
        )
        assert wrong.text.count(" checked") == 2
        stages = {"name": "", "minimum_turns": "9", "maximum_turns": "4", "currency": ""}  # alone, and together
        several = await client.post("/admin/collections/chats", data=typed | stages)
        for name in ("name", "minimum_turns", "pay_per_chat"):
            assert f'id="{name}-fault"' in several.text, name
        opened = await client.post("/admin/collections/chats", data=typed)
    conversations = await suite.conversations("admin")
    (made,) = (await conversations.list_collections().page()).items
    assert opened.headers["location"] == f"/chats/{made.id}/links"
    plan = await conversations.get_plan(made.id)
    assert plan.chats is not None
    assert (made.mode, sorted(map(str, plan.bots)), str(plan.chats.pay_per_chat)) == ("human_bot", sorted(bots), "1.50")
