"""Collections are paused, resumed, cancelled, put first, shared fairly, and wait for bots that fail."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from spotthebot.bots.questions.domain.circuit import FAILURES_TO_OPEN
from tests.factories.bot_servers import Bot, bot, well_behaved
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import RunningSuite, run_suite
from tests.factories.studies import add_bot, created, plan, until

SERVICES = ("bots", "conversations")
LIVELY = {"maintenance_seconds": 0.2, "bot_patience_seconds": 60}


def after(seconds: float):
    async def answer(question: dict[str, Any]) -> dict[str, str]:
        await asyncio.sleep(seconds)
        return well_behaved(question)

    return answer


async def register(suite: RunningSuite, name: str, url: str, **limits: Any) -> str:
    registry = await suite.client("bots", "admin")
    body = {"name": name, "domains": ["everyday"], "protocol": {"kind": "webhook", "url": url}, "limits": limits}
    return (await created(registry, "/v1/bots", body))["id"]


@asynccontextmanager
async def registered(suite: RunningSuite, *answers: Any, **limits: Any) -> AsyncIterator[tuple[list[Bot], list[str]]]:
    """Serve and register one bot for each way to answer; what the probe asked is forgotten."""
    async with AsyncExitStack() as stack:
        bots, ids = [], []
        for number, answer in enumerate(answers):
            made, url = await stack.enter_async_context(bot(answer))
            ids.append(await register(suite, f"bot-{number}", url, **limits))
            made.asked.clear()
            made.max_at_once = 0
            bots.append(made)
        yield bots, ids


async def _start(admin: httpx.AsyncClient, bots: list[str], **more: Any) -> str:
    return f"/v1/collections/{(await created(admin, '/v1/collections', plan(bots, **more)))['id']}"


async def _when(admin: httpx.AsyncClient, path: str, is_so: Any) -> dict[str, Any]:
    pause = 0.02
    async with asyncio.timeout(60):
        while not is_so(found := (await admin.get(path)).json()):
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, 0.15)  # to ask takes time from what is awaited
    return found


async def _conversations(admin: httpx.AsyncClient, path: str) -> list[dict[str, Any]]:
    return (await admin.get(f"{path}/conversations", params={"limit": 1000})).json()["items"]


class TestPause:
    async def test_requests_no_turn_until_the_collection_is_resumed_and_loses_none(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        async with registered(suite, after(0.05), after(0.05)) as (bots, ids):
            path = await _start(admin, ids, exchanges=10, conversations_per_pair=3)
            await _when(admin, path, lambda found: found["turns"] >= 6)
            assert (await admin.post(f"{path}/pause")).json()["state"] == "paused"
            await asyncio.sleep(1.5)  # what was on its way has come
            asked, turns = sum(len(each.asked) for each in bots), (await admin.get(path)).json()["turns"]
            await asyncio.sleep(0.5)
            assert (sum(len(each.asked) for each in bots), (await admin.get(path)).json()["turns"]) == (asked, turns)
            assert asked == turns < 60
            assert (await admin.post(f"{path}/resume")).json()["state"] == "collecting"
            done = await until(admin, path, "complete")
            assert (done["complete"], done["turns"]) == (3, 60)
            assert sum(len(each.asked) for each in bots) == 60  # no question was asked twice

    async def test_is_refused_for_a_collection_that_has_ended(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        path = await _start(admin, [await add_bot(suite, model) for model in ("eliza", "dull")])
        await until(admin, path, "complete")
        for verb in ("pause", "resume", "cancel"):
            answer = await admin.post(f"{path}/{verb}")
            assert (answer.status_code, f"nothing to {verb}" in answer.json()["detail"]) == (409, True)


class TestCancel:
    async def test_ends_running_conversations_and_keeps_their_turns(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        async with registered(suite, after(0.05), after(0.05)) as (bots, ids):
            path = await _start(admin, ids, exchanges=50, conversations_per_pair=4)
            await _when(admin, path, lambda found: found["turns"] >= 8)
            cancelled = (await admin.post(f"{path}/cancel")).json()
            assert (cancelled["state"], cancelled["cancelled"]) == ("cancelled", 4)
            assert (await admin.post(f"{path}/cancel")).json()["cancelled"] == 4  # a repeat changes nothing
            await asyncio.sleep(0.5)
            asked = sum(len(each.asked) for each in bots)
            await asyncio.sleep(0.3)
            assert sum(len(each.asked) for each in bots) == asked
        held = await _conversations(admin, path)
        assert {(each["state"], each["failure"]) for each in held} == {("cancelled", "The collection was cancelled.")}
        assert sum(len(each["turns"]) for each in held) == (await admin.get(path)).json()["turns"] >= 8


class TestOrder:
    async def test_a_collection_of_higher_priority_overtakes(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        async with registered(suite, after(0.02), after(0.02), concurrency=2) as (_, ids):
            slow = await _start(admin, ids, exchanges=10, conversations_per_pair=20)
            urgent = await _start(admin, ids, exchanges=2, conversations_per_pair=4, priority=5)
            await until(admin, urgent, "complete")
            assert (await admin.get(slow)).json()["turns"] < 400 / 2
            assert (await admin.post(f"{slow}/cancel")).status_code == 200

    async def test_a_small_collection_does_not_wait_for_a_large_one_which_can_be_changed(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        async with registered(suite, after(0.02), after(0.02), concurrency=4) as (_, ids):
            large = await _start(admin, ids, exchanges=10, conversations_per_pair=400)
            small = await _start(admin, ids, exchanges=2, conversations_per_pair=4)
            await until(admin, small, "complete")
            assert (await admin.get(large)).json()["complete"] < 40
            changed = await admin.patch(large, json={"priority": -3})
            assert (changed.status_code, changed.json()["priority"]) == (200, -3)
            renamed = [(await admin.patch(large, json={"name": " the large one "})).json() for _ in range(2)]
            assert {(each["name"], each["priority"]) for each in renamed} == {("the large one", -3)}
            assert (await admin.patch(large, json={"name": ""})).status_code == 422
            named = await admin.get("/v1/collections", params={"name": "the large one"})
            assert [each["id"] for each in named.json()["items"]] == [renamed[0]["id"]]
            assert (await admin.post(f"{large}/cancel")).json()["cancelled"] > 360

    async def test_every_pair_gets_its_first_conversation_before_any_gets_its_second(self, database_urls: DatabaseUrls):
        batch = {"conversations_per_batch": 3, "worker_concurrency": 1}
        async with run_suite(database_urls, only=SERVICES, conversations=batch) as suite:
            admin = await suite.client("conversations", "admin")
            async with registered(suite, *[after(0.02)] * 3) as (_, ids):
                path = await _start(admin, ids, exchanges=2, conversations_per_pair=10)
                found = await _when(admin, path, lambda found: found["complete"] >= 6)
                pairs = (await admin.get(f"{path}/pairs")).json()["items"]
                by_two = {tuple(sorted(each["participants"])): 0 for each in pairs}
                for each in pairs:
                    by_two[tuple(sorted(each["participants"]))] += each["conversations"].get("complete", 0)
                assert found["complete"] < 30
                assert max(by_two.values()) - min(by_two.values()) <= 3


class TestLimits:
    async def test_a_bots_concurrency_is_used_in_full_and_never_exceeded(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        async with registered(suite, after(0.03), concurrency=3) as (bots, ids):
            path = await _start(admin, ids, mode="self_play", exchanges=2, conversations_per_pair=9)
            done = await until(admin, path, "complete")
        assert (done["complete"], done["failed"]) == (9, 0)
        assert bots[0].max_at_once == 3

    async def test_a_slow_bot_does_not_delay_conversations_of_other_bots(self, database_urls: DatabaseUrls):
        few = {"conversations_per_batch": 4, "worker_concurrency": 1}
        async with run_suite(database_urls, only=SERVICES, conversations=few) as suite:
            admin = await suite.client("conversations", "admin")
            async with (
                registered(suite, after(0.01), after(0.01)) as (_, quick),
                bot(after(0.6)) as (_, url),
            ):
                slow = await register(suite, "slow", url, concurrency=1)
                path = await _start(admin, [slow, *quick], exchanges=2, conversations_per_pair=8)

                async def done() -> int:
                    pairs = (await admin.get(f"{path}/pairs")).json()["items"]
                    return sum(
                        each["conversations"].get("complete", 0) for each in pairs if "slow" not in each["participants"]
                    )

                async with asyncio.timeout(60):
                    while await done() < 8:
                        await asyncio.sleep(0.2)
                assert (await admin.post(f"{path}/cancel")).json()["cancelled"] > 8


class TestBotsThatFail:
    async def test_conversations_wait_for_a_failing_bot_until_it_recovers(self, database_urls: DatabaseUrls):
        async with run_suite(database_urls, only=SERVICES, conversations=LIVELY) as suite:
            admin = await suite.client("conversations", "admin")
            is_well = True

            def moody(question: dict[str, Any]) -> Any:
                return well_behaved(question) if is_well else (500, {"error": "out of order"})

            async with registered(suite, moody, well_behaved, well_behaved) as (_, ids):
                is_well = False
                path = await _start(admin, ids, exchanges=3, conversations_per_pair=6)
                waiting = await _when(admin, path, lambda found: found["waiting"] == 12 and found["complete"] == 6)
                assert waiting["failed"] == 0
                assert waiting["state"] == "collecting"
                assert waiting["seconds_left"] is None
                (waiting,) = (await admin.get(f"{path}/failures")).json()["items"]
                assert waiting["state"] == "waiting"
                assert waiting["bot"] == "bot-0"
                assert waiting["conversations"] == 12
                left = datetime.fromisoformat(waiting["until"]) - datetime.now(UTC)
                assert 30 < left.total_seconds() < LIVELY["bot_patience_seconds"]
                (later,) = (await admin.get(f"{path}/failures")).json()["items"]
                assert later["until"] == waiting["until"]
                is_well = True
                done = await until(admin, path, "complete")
                assert done["complete"] == 18
                assert done["failed"] == 0
                assert done["waiting"] == 0
                assert done["turns"] == 108

    async def test_a_bot_that_never_recovers_fails_its_conversations_with_the_reason(self, database_urls: DatabaseUrls):
        impatient = LIVELY | {"bot_patience_seconds": 1}
        async with run_suite(database_urls, only=SERVICES, conversations=impatient) as suite:
            admin = await suite.client("conversations", "admin")
            is_well = True

            def broken(question: dict[str, Any]) -> Any:
                return well_behaved(question) if is_well else (500, {"error": "out of order"})

            async with registered(suite, broken, well_behaved, well_behaved) as (bots, ids):
                is_well = False
                path = await _start(admin, ids, exchanges=3, conversations_per_pair=6)
                done = await until(admin, path, "complete")
                assert (done["complete"], done["failed"]) == (6, 12)
                (failed,) = (await admin.get(f"{path}/failures")).json()["items"]
                assert (failed["state"], failed["bot"], failed["conversations"]) == ("failed", "bot-0", 12)
                assert failed["until"] is None
                assert "bot-0 did not recover" in failed["reason"]
                questions = [each for each in bots[0].asked if each["conversation_id"] is not None]
                assert len(questions) < 12 + FAILURES_TO_OPEN  # once its circuit was open, only probes came

    async def test_conversations_wait_for_a_suspended_bot(self, database_urls: DatabaseUrls):
        async with run_suite(database_urls, only=SERVICES, conversations=LIVELY) as suite:
            admin, registry = await suite.client("conversations", "admin"), await suite.client("bots", "admin")
            async with registered(suite, after(0.05), well_behaved) as (_, ids):
                path = await _start(admin, ids, exchanges=10, conversations_per_pair=2)
                await _when(admin, path, lambda found: found["turns"] >= 4)
                bot_path = f"/v1/bots/{ids[0]}"
                assert (await registry.patch(bot_path, json={"status": "suspended"})).status_code == 200
                await _when(admin, path, lambda found: found["waiting"] == 2)
                assert (await registry.patch(bot_path, json={"status": "active"})).status_code == 200
                done = await until(admin, path, "complete")
                assert (done["complete"], done["turns"]) == (2, 40)

    async def test_a_bot_that_fails_one_time_in_three_loses_no_conversation(self, database_urls: DatabaseUrls):
        async with run_suite(database_urls, only=SERVICES, conversations=LIVELY) as suite:
            admin = await suite.client("conversations", "admin")
            calls = 0

            def unsteady(question: dict[str, Any]) -> Any:
                nonlocal calls
                calls += 1
                return (
                    (500, {"error": "no"}) if calls % 3 == 0 and question["conversation_id"] else well_behaved(question)
                )

            async with registered(suite, unsteady, well_behaved) as (_, ids):
                path = await _start(admin, ids, exchanges=3, conversations_per_pair=6)
                done = await until(admin, path, "complete")
                assert (done["complete"], done["failed"], done["turns"]) == (6, 0, 36)


class TestEvents:
    async def test_stream_the_progress_until_the_collection_has_finished(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        async with registered(suite, after(0.1), well_behaved) as (_, ids):
            path = await _start(admin, ids, exchanges=12, conversations_per_pair=2)
            reported: list[list[Any]] = []
            async with admin.stream("GET", f"{path}/events", timeout=30) as answer:
                assert answer.headers["content-type"].startswith("text/event-stream")
                async for line in answer.aiter_lines():
                    field, _, value = line.partition(": ")
                    if field == "event":
                        reported.append([value])
                    elif field == "data":
                        reported[-1].append(json.loads(value))
        assert [kind for kind, _ in reported[:-1]] == ["progress"] * (len(reported) - 1)
        kind, last = reported[-1]
        assert (kind, last["state"], last["turns"]) == ("finished", "complete", 48)
        turns = [each["turns"] for _, each in reported]
        assert turns == sorted(turns)
        assert any(each["rate_turns_per_second"] and each["seconds_left"] for _, each in reported[:-1])

    async def test_an_unknown_collection_is_not_found(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        answer = await admin.get("/v1/collections/00000000-0000-7000-8000-000000000000/events")
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


@pytest.mark.parametrize("role", ["team", "annotation"])
async def test_only_administrators_control_collections(suite: RunningSuite, role: str):
    admin = await suite.client("conversations", "admin")
    path = await _start(admin, [await add_bot(suite, model) for model in ("eliza", "dull")])
    caller = await suite.client("conversations", role, team="x" if role == "team" else None)
    for verb in ("pause", "resume", "cancel"):
        assert (await caller.post(f"{path}/{verb}")).status_code == 403
    for read in ("pairs", "failures", "events"):
        assert (await caller.get(f"{path}/{read}")).status_code == 403
