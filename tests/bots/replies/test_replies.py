"""Replies of bots over HTTP: typed failures, retries, circuits and limits."""

import asyncio
import base64
from typing import Any
from uuid import uuid4

from tests.factories.bot_servers import bot, webhook, well_behaved
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

SECRET = "whsec_" + base64.b64encode(b"a key of at least 24 bytes").decode()


class TestReplies:
    async def test_come_in_order_with_a_typed_failure_each(self, suite: RunningSuite):
        def picky(question: dict[str, Any]) -> Any:
            last = question["turns"][-1]["text"] if question["turns"] else ""
            said = {"nothing": {"text": ""}, "error": (500, {"error": "boom"}), "number": {"text": 4}}
            return said.get(last, {"text": f"You said {last}."})

        async with bot(picky) as (_, url):
            admin = await suite.client("bots", "admin")
            out = await created(admin, "/v1/bots", webhook(url))
            contexts = [{"turns": [text]} for text in ("a", "nothing", "b", "error", "number", "c")]
            answer = (await admin.post(f"/v1/bots/{out['id']}/replies", json={"contexts": contexts})).json()
        assert [each["text"] for each in answer["replies"]] == [
            "You said a.",
            None,
            "You said b.",
            None,
            None,
            "You said c.",
        ]
        assert [each["failure"] for each in answer["replies"]] == [None, "empty", None, "http_error", "invalid", None]
        assert [each["attempts"] for each in answer["replies"]] == [1] * 6  # none of it would mend itself
        assert (answer["version"], answer["configuration_sha256"]) == (1, out["configuration_sha256"])

    async def test_are_retried_after_transient_failures_only(self, suite: RunningSuite):
        failures = {"busy": [503, 503], "limited": [429], "broken": [500] * 9, "down": [502] * 9}
        left = {name: list(statuses) for name, statuses in failures.items()}

        def fails(question: dict[str, Any]) -> Any:
            last = question["turns"][-1]["text"] if question["turns"] else ""
            return (left[last].pop(), {}) if left.get(last) else {"text": f"Fine, {last}!"}

        async with bot(fails) as (served, url):
            admin = await suite.client("bots", "admin")
            out = await created(admin, "/v1/bots", webhook(url))
            contexts = [{"turns": [name], "conversation_id": str(uuid4())} for name in failures]
            probed = len(served.asked)
            replies = (await admin.post(f"/v1/bots/{out['id']}/replies", json={"contexts": contexts})).json()["replies"]
        assert [(each["failure"], each["attempts"]) for each in replies] == [
            (None, 3),
            (None, 2),
            ("http_error", 1),
            ("http_error", 4),
        ]
        keys: dict[str, set[str]] = {}
        for question, headers in zip(served.asked[probed:], served.headers[probed:], strict=True):
            keys.setdefault(question["turns"][0]["text"], set()).add(headers["idempotency-key"])
        assert {name: len(found) for name, found in keys.items()} == dict.fromkeys(failures, 1)

    async def test_stop_after_five_failures_until_a_probe_succeeds(self, suite: RunningSuite):
        """A rival once repeated one deterministic 500 for 24 days: ours opens the circuit and asks a probe instead."""
        is_broken = False

        def breaks(question: dict[str, Any]) -> Any:
            return (500, {}) if is_broken else well_behaved(question)

        async with bot(breaks) as (served, url):
            admin = await suite.client("bots", "admin")
            out = await created(admin, "/v1/bots", webhook(url, limits={"concurrency": 1}))
            path = f"/v1/bots/{out['id']}"
            is_broken = True
            before = len(served.asked)
            answer = await admin.post(f"{path}/replies", json={"contexts": [{"turns": ["a"]}] * 100})
            failures = [each["failure"] for each in answer.json()["replies"]]
            assert failures == ["http_error"] * 5 + ["circuit_open"] * 95
            assert (await admin.get(path)).json()["status"] == "failing"
            asked = len(served.asked) - before
            assert 5 <= asked <= 8  # five, and what heartbeats asked meanwhile
            again = await admin.post(f"{path}/replies", json={"contexts": [{"turns": ["a"]}]})
            assert again.json()["replies"][0]["failure"] == "circuit_open"
            is_broken = False
            async with asyncio.timeout(20):
                while (await admin.get(path)).json()["status"] != "active":
                    await asyncio.sleep(0.05)
            healed = await admin.post(f"{path}/replies", json={"contexts": [{"turns": ["a"]}]})
            assert healed.json()["replies"][0]["failure"] is None
            triggers = {each["trigger"] for each in (await admin.get(f"{path}/probes")).json()["items"]}
            assert triggers == {"registration", "heartbeat"}

    async def test_respect_the_limits_of_the_bot(self, suite: RunningSuite):
        async def slowly(question: dict[str, Any]) -> dict[str, str]:
            await asyncio.sleep(0.02)
            return well_behaved(question)

        async with bot(slowly) as (served, url):
            admin = await suite.client("bots", "admin")
            out = await created(admin, "/v1/bots", webhook(url, limits={"concurrency": 3, "timeout_seconds": 1}))
            path = f"/v1/bots/{out['id']}"
            served.max_at_once = 0
            await asyncio.gather(
                *(admin.post(f"{path}/replies", json={"contexts": [{"turns": ["a"]}] * 10}) for _ in range(4))
            )
            assert served.max_at_once == 3
            limits = {"requests_per_minute": 120, "timeout_seconds": 1}
            await admin.patch(path, json={"limits": limits})
            answer = await admin.post(f"{path}/replies", json={"contexts": [{"turns": ["a"]}] * 10})
            failures = [each["failure"] for each in answer.json()["replies"]]
            # Two may come at once, then one every half a second, as far as a wait of a second goes.
            assert failures.count(None) == 4
            assert failures.count("rate_limited") == 6
