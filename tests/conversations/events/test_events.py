"""Events as subscribers receive them: when they happen, and again in a replay."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from spotthebot.kit.database.sessions import Database
from tests.factories.bot_servers import bot, webhook, well_behaved
from tests.factories.frontends import webhook_bot
from tests.factories.running_suite import EAGER_DELIVERIES, RunningSuite
from tests.factories.studies import add_bot, created, plan
from tests.factories.subscribers import distributed, happen, ids, settled, subscribe, true


@pytest.fixture(scope="module")
def settings_of() -> dict[str, dict[str, Any]]:
    return {"conversations": EAGER_DELIVERIES}


class TestEvents:
    async def test_include_a_finished_collection_once(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        bots = [await add_bot(suite, model) for model in ("eliza", "dull")]
        async with bot(lambda _: {}) as (subscriber, url):
            made = await subscribe(suite, url)
            collection = await created(admin, "/v1/collections", plan(bots))
            await settled(suite, made)
        (message,) = subscriber.asked
        assert (
            message["data"]["collection"] | {"id": collection["id"], "name": "small"} == message["data"]["collection"]
        )
        assert message["data"]["conversations"] == 2
        assert message["data"]["complete"] == 2
        assert message["data"]["turns"] == 8

    async def test_include_a_cancelled_collection_once(self, suite: RunningSuite, outbox: Database):
        admin = await suite.client("conversations", "admin")
        async with bot(lambda _: {}) as (subscriber, url), bot(lambda _: (500, {})) as (_, silent):
            made = await subscribe(suite, url, "collection.cancelled", "collection.finished")
            bots = [await webhook_bot(suite, silent), await add_bot(suite, "dull")]
            collection = await created(admin, "/v1/collections", plan(bots))
            for _ in range(2):  # the second time changes nothing
                assert (await admin.post(f"/v1/collections/{collection['id']}/cancel")).status_code == 200
            await distributed(outbox)
            await settled(suite, made)
        (message,) = subscriber.asked
        assert (message["type"], message["data"]["collection"]["id"]) == ("collection.cancelled", collection["id"])
        assert (message["data"]["conversations"], message["data"]["cancelled"]) == (2, 2)

    async def test_include_failure_and_recovery_of_a_bot_for_its_team(self, suite: RunningSuite):
        well = asyncio.Event()
        well.set()
        ours = await suite.client("bots", "team", team="ours")
        async with (
            bot(lambda question: well_behaved(question) if well.is_set() else (500, {})) as (_, bot_url),
            bot(lambda _: {}) as (subscriber, url),
        ):
            mine = (await created(ours, "/v1/bots", webhook(f"{bot_url}/reply")))["id"]
            made = await subscribe(suite, url, "bot.failing", "bot.recovered", team="ours")
            well.clear()
            admin = await suite.client("conversations", "admin")
            request = plan([mine, await add_bot(suite, "dull")], exchanges=4, conversations_per_pair=8)
            await created(admin, "/v1/collections", request)
            await settled(suite, made)
            well.set()
            await settled(suite, made, 2)
        assert [each["type"] for each in subscriber.asked[:2]] == ["bot.failing", "bot.recovered"]
        assert {each["data"]["bot"]["id"] for each in subscriber.asked} == {mine}


class TestReplay:
    async def test_sends_again_under_the_old_ids_from_a_time_on(self, suite: RunningSuite, outbox: Database):
        admin = await suite.client("conversations", "admin")
        async with bot(lambda _: {}) as (subscriber, url):
            await happen(outbox, 2)
            await distributed(outbox)  # before anybody subscribed
            made = await subscribe(suite, url)
            await happen(outbox, 3)
            await settled(suite, made, 3)
            first = Counter(ids(subscriber))
            path = f"/v1/subscriptions/{made['id']}/replay"
            events = (await admin.get("/v1/events", params={"type": "collection.finished"})).json()["items"]
            assert await created(admin, path, {"since": events[-1]["timestamp"]}) == {"deliveries": 1}
            await true(lambda: len(subscriber.asked) == 4)
            assert await created(admin, path, {"since": events[0]["timestamp"]}) == {"deliveries": 5}
            await true(lambda: len(subscriber.asked) == 9)
        expected = Counter({f"evt_{each['id'].replace('-', '')}": 1 for each in events}) + first
        expected[f"evt_{events[-1]['id'].replace('-', '')}"] += 1
        assert Counter(ids(subscriber)) == expected

    async def test_sends_one_event_to_all_subscribers_it_is_for(self, suite: RunningSuite, outbox: Database):
        admin = await suite.client("conversations", "admin")
        async with bot(lambda _: {}) as (first, url), bot(lambda _: {}) as (second, another):
            made = [await subscribe(suite, each) for each in (url, another)]
            (event_id,) = await happen(outbox)
            for each in made:
                await settled(suite, each)
            assert await created(admin, f"/v1/events/{event_id}/replay", {}) == {"deliveries": 2}
            await true(lambda: len(first.asked) == len(second.asked) == 2)
        assert len(set(ids(first) + ids(second))) == 1

    async def test_needs_a_time_with_a_zone_and_an_existing_event(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        made = await subscribe(suite, "http://127.0.0.1:9/")
        naive = await admin.post(f"/v1/subscriptions/{made['id']}/replay", json={"since": "2026-01-01T00:00:00"})
        assert (naive.status_code, naive.json()["errors"][0]["pointer"]) == (422, "/since")
        assert (await admin.post(f"/v1/events/{made['id']}/replay")).status_code == 404
