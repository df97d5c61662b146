"""Events on their way: signed, tried again, kept apart by subscriber, lost by nobody's death."""

import asyncio
import os
import textwrap
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from standardwebhooks import Webhook, WebhookVerificationError

from spotthebot.contracts.conversations.events import EventType
from spotthebot.conversations.events.store import EVENTS
from spotthebot.kit.crypto.signatures import new_signing_secret
from spotthebot.kit.crypto.vault import Vault
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.events.domain import Delivery, DeliveryState, Subscription
from spotthebot.kit.processes.child import Child
from tests.factories.bot_servers import bot, never_answers, raw_server, says
from tests.factories.databases import DatabaseUrls
from tests.factories.processes import launched
from tests.factories.running_suite import EAGER_DELIVERIES, RunningSuite, run_suite
from tests.factories.studies import add_bot, created
from tests.factories.subscribers import FINISHED, deliveries, happen, ids, settled, subscribe, true, until


@pytest.fixture(scope="module")
def settings_of() -> dict[str, dict[str, Any]]:
    return {"conversations": EAGER_DELIVERIES}


class TestMessages:
    async def test_are_verified_by_the_official_library_and_by_the_ten_lines_in_the_docs(
        self, suite: RunningSuite, outbox: Database
    ):
        async with bot(lambda _: {}) as (subscriber, url):
            made = await subscribe(suite, url)
            (event_id,) = await happen(outbox)
            (delivery,) = await settled(suite, made)
        message = Webhook(made["secret"]).verify(subscriber.bodies[0], subscriber.headers[0])
        assert (message["type"], message["data"]) == ("collection.finished", FINISHED)
        assert datetime.now(UTC) - datetime.fromisoformat(message["timestamp"]) < timedelta(minutes=1)
        assert subscriber.headers[0]["webhook-id"] == f"evt_{event_id.replace('-', '')}"
        assert subscriber.headers[0]["content-type"] == "application/json"
        assert (delivery["state"], delivery["status"], delivery["attempts"]) == ("delivered", 200, 1)
        assert (delivery["error"], delivery["next_attempt_at"]) == (None, None)
        with pytest.raises(WebhookVerificationError):
            Webhook(made["secret"]).verify(subscriber.bodies[0] + b" ", subscriber.headers[0])
        _verify_by_the_docs(subscriber.bodies[0], subscriber.headers[0], made["secret"])

    async def test_carry_two_signatures_while_two_secrets_overlap(self, suite: RunningSuite, outbox: Database):
        admin = await suite.client("conversations", "admin")
        async with bot(lambda _: {}) as (subscriber, url):
            made = await subscribe(suite, url)
            path = f"/v1/subscriptions/{made['id']}/secret"
            rotated = await created(admin, path, {})
            await happen(outbox)
            await settled(suite, made)
            final = await created(admin, path, {"overlap_seconds": 0})
            await happen(outbox)
            await settled(suite, made, 2)
        first, second = zip(subscriber.bodies, subscriber.headers, strict=True)
        for secret in (made["secret"], rotated["secret"]):
            assert Webhook(secret).verify(*first)
        assert len(first[1]["webhook-signature"].split(" ")) == 2
        assert rotated["old_secret_until"] is not None
        assert Webhook(final["secret"]).verify(*second)
        assert len(second[1]["webhook-signature"].split(" ")) == 1
        with pytest.raises(WebhookVerificationError):
            Webhook(rotated["secret"]).verify(*second)

    async def test_are_not_sent_after_a_rollback_and_tests_go_to_one_subscriber_only(
        self, suite: RunningSuite, outbox: Database
    ):
        async def fail() -> None:
            async with outbox.write() as session:
                await EVENTS.outbox.add_event(session, EventType.COLLECTION_FINISHED, FINISHED)
                raise LookupError

        admin = await suite.client("conversations", "admin")
        async with bot(lambda _: {}) as (subscriber, url):
            made, other = await subscribe(suite, url), await subscribe(suite, url)
            with pytest.raises(LookupError):
                await fail()
            sent = await created(admin, f"/v1/subscriptions/{made['id']}/test", {})
            assert (await settled(suite, made))[0]["id"] == sent["id"]
            assert await deliveries(suite, other) == []
        assert [each["type"] for each in subscriber.asked] == ["subscription.test"]


class TestAttempts:
    async def test_are_repeated_under_the_same_id_until_one_succeeds(self, suite: RunningSuite, outbox: Database):
        answers: Iterator[tuple[int, dict[str, Any]]] = iter([(500, {}), (404, {}), (204, {})])
        async with bot(lambda _: next(answers)) as (subscriber, url):
            made = await subscribe(suite, url)
            await happen(outbox)
            (delivery,) = await settled(suite, made)
        assert delivery["state"] == "delivered"
        assert delivery["attempts"] == 3
        assert delivery["status"] == 204
        assert len(set(ids(subscriber))) == 1
        assert len(subscriber.asked) == 3
        assert len(set(subscriber.bodies)) == 1
        for body, headers in zip(subscriber.bodies, subscriber.headers, strict=True):
            assert Webhook(made["secret"]).verify(body, headers)

    async def test_end_after_the_last_wait_and_keep_the_reason(self, suite: RunningSuite, outbox: Database):
        async with bot(lambda _: (500, {"error": "out of paper"})) as (subscriber, url):
            made = await subscribe(suite, url)
            await happen(outbox)
            (delivery,) = await settled(suite, made)
        assert (delivery["state"], delivery["attempts"], delivery["status"]) == ("failed", 4, 500)  # three waits
        assert "out of paper" in delivery["error"]
        assert delivery["next_attempt_at"] is None
        assert len(subscriber.asked) == 4

    async def test_stop_after_410_until_the_subscription_is_active_again(self, suite: RunningSuite, outbox: Database):
        admin = await suite.client("conversations", "admin")
        statuses = iter([410, 200, 200])
        async with bot(lambda _: (next(statuses), {})) as (subscriber, url):
            made = await subscribe(suite, url)
            await happen(outbox)
            (delivery,) = await settled(suite, made)
            path = f"/v1/subscriptions/{made['id']}"
            found = (await admin.get(path)).json()
            assert (delivery["state"], delivery["status"], delivery["attempts"]) == ("failed", 410, 1)
            assert (found["active"], "410" in found["inactive_reason"]) == (False, True)
            (missed,) = await happen(outbox)
            await asyncio.sleep(0.3)
            assert len(subscriber.asked) == 1
            assert (await admin.patch(path, json={"active": True})).json()["inactive_reason"] is None
            await created(admin, f"/v1/events/{missed}/replay", {})
            assert len(await settled(suite, made, 2)) == 2

    async def test_count_by_status_and_follow_no_redirect(self, suite: RunningSuite, outbox: Database):
        """Redirects are not followed, large answers not read, and addresses checked when they are called."""
        large = says(b"a" * 5_000_000, headers=b"Content-Type: text/html\r\n")
        async with bot(lambda _: {}) as (elsewhere, target), raw_server(large) as talkative:
            location = f"Location: {target}/\r\n".encode()
            async with raw_server(says(b"", headers=location, status=b"307 Over there")) as redirecting:
                urls = [talkative, redirecting, "http://127.0.0.1:9/"]
                made = [await subscribe(suite, url) for url in urls]
                async with outbox.write() as session:  # its name stands for another address by now
                    await EVENTS.subscriptions.change_subscription(
                        session, made[2]["id"], url="http://169.254.169.254/"
                    )
                await happen(outbox)
                found = [(await settled(suite, each))[0] for each in made]
        assert [(each["state"], each["status"]) for each in found] == [
            ("delivered", 200),
            ("failed", 307),
            ("failed", None),
        ]
        assert found[0]["error"] is None
        assert "not followed" in found[1]["error"]
        assert "may not be called" in found[2]["error"]
        assert elsewhere.asked == []


class TestSubscribers:
    async def test_hang_without_delaying_other_subscribers(self, suite: RunningSuite, outbox: Database):
        release = asyncio.Event()

        async def hang(_question: dict[str, Any]) -> dict[str, Any]:
            await release.wait()
            return {}

        async with bot(hang) as (hanging, slow), bot(lambda _: {}) as (quick, fast):
            stuck, other = await subscribe(suite, slow), await subscribe(suite, fast)
            await happen(outbox, 30)
            assert len(await settled(suite, other, 30)) == 30
            assert hanging.max_at_once == 4  # deliveries_at_once
            assert {each["state"] for each in await deliveries(suite, stuck)} == {"pending"}
            release.set()
        assert sorted(ids(quick)) == sorted(set(ids(quick)))

    async def test_fail_an_attempt_by_a_time_out(self, database_urls: DatabaseUrls, outbox_alone: Database):
        short = EAGER_DELIVERIES | {"delivery_timeout_seconds": 0.2, "delivery_waits_seconds": (0.05,)}
        async with run_suite(database_urls, conversations=short) as suite, raw_server(never_answers) as url:
            made = await subscribe(suite, url)
            await happen(outbox_alone)
            (delivery,) = await settled(suite, made)
        assert (delivery["state"], delivery["attempts"], delivery["status"]) == ("failed", 2, None)
        assert "within 0.2 s" in delivery["error"]

    async def test_receive_events_of_their_own_bots_only_as_teams(self, suite: RunningSuite, outbox: Database):
        ours = await suite.client("bots", "team", team="ours")
        body = {"name": "mine", "domains": ["everyday"], "protocol": {"kind": "builtin", "model": "dull"}}
        mine = (await created(ours, "/v1/bots", body))["id"]
        others = await add_bot(suite, "parrot")
        async with bot(lambda _: {}) as (team, team_url), bot(lambda _: {}) as (operator, url):
            made = await subscribe(suite, team_url, "bot.failing", team="ours")
            every = await subscribe(suite, url, "bot.failing")
            for bot_id, name in ((others, "parrot"), (mine, "mine")):
                failing = {"bot": {"id": bot_id, "name": name}, "reason": "timeout", "collections": ["secret-1"]}
                await happen(outbox, data=failing, kind=EventType.BOT_FAILING)
            await settled(suite, every, 2)
            await settled(suite, made, 1)
            client = await suite.client("conversations", "team", team="ours")
            seen = (await client.get("/v1/events")).json()["items"]
            again = await created(client, f"/v1/subscriptions/{made['id']}/replay", {"since": "2020-01-01T00:00:00Z"})
        visible = [{"bot": {"id": mine, "name": "mine"}, "reason": "timeout"}]
        assert [each["data"] for each in team.asked[:1]] == visible
        assert [each["data"] for each in seen] == visible
        assert again == {"deliveries": 1}
        assert sorted(each["data"]["bot"]["name"] for each in operator.asked) == ["mine", "parrot"]
        assert all(each["data"]["collections"] == ["secret-1"] for each in operator.asked)

    async def test_receive_events_without_a_bot_while_the_service_bots_is_down(
        self, database_urls: DatabaseUrls, outbox_alone: Database
    ):
        away = EAGER_DELIVERIES | {"bots_url": "http://127.0.0.1:9"}
        async with run_suite(database_urls, conversations=away) as suite, bot(lambda _: {}) as (subscriber, url):
            made = await subscribe(suite, url, "bot.failing", "collection.finished")
            failing = {"bot": {"id": "00000000-0000-7000-8000-000000000000", "name": "x"}, "reason": "?"}
            await happen(outbox_alone, data=failing, kind=EventType.BOT_FAILING)
            await happen(outbox_alone)
            await settled(suite, made)
            assert [each["type"] for each in subscriber.asked] == ["collection.finished"]


class TestWorkers:
    async def test_lose_no_event_when_one_is_killed(self, database_urls: DatabaseUrls, outbox_alone: Database):
        """A worker of its own takes the deliveries and is killed while the subscriber thinks; another makes them."""
        release = asyncio.Event()

        async def think(_question: dict[str, Any]) -> dict[str, Any]:
            await release.wait()
            return {}

        async with bot(think) as (subscriber, url):
            environment, subscription = await _subscribed(database_urls, outbox_alone, url)
            await happen(outbox_alone, 6)
            async with _worker(environment) as first:
                await true(lambda: subscriber.at_once >= 2)
                first.kill()
                await first.wait()
            release.set()
            async with _worker(environment):
                found = await _all_settled(outbox_alone, subscription, 6)
        assert {each.state for each in found} == {DeliveryState.DELIVERED}
        assert len(set(ids(subscriber))) == 6
        assert max(each.attempts for each in found) == 2

    async def test_share_deliveries_and_keep_to_the_limit_for_each_subscriber(
        self, database_urls: DatabaseUrls, outbox_alone: Database
    ):
        async with bot(lambda _: {}) as (subscriber, url):
            environment, subscription = await _subscribed(database_urls, outbox_alone, url, timeout_seconds=15)
            await happen(outbox_alone, 60)
            async with _worker(environment), _worker(environment):
                await _all_settled(outbox_alone, subscription, 60)
        assert Counter(ids(subscriber)).most_common(1)[0][1] == 1
        assert len(subscriber.asked) == 60
        assert subscriber.max_at_once <= 4  # deliveries_at_once, over both


def _verify_by_the_docs(body: bytes, headers: dict[str, str], secret: str) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "events.md").read_text()
    namespace: dict[str, Any] = {}
    exec(textwrap.dedent(guide.split("```python")[1].split("```")[0]), namespace)  # noqa: S102 - our own words
    assert namespace["verified"](body, headers, secret)["data"] == FINISHED
    old = {"webhook-timestamp": str(int(headers["webhook-timestamp"]) - 301)}
    for wrong in ((body + b" ", headers), (body, headers | {"webhook-id": "evt_0"}), (body, headers | old)):
        with pytest.raises(ValueError, match=r"signed|old"):
            namespace["verified"](*wrong, secret)


async def _subscribed(
    database: DatabaseUrls, outbox: Database, url: str, *, timeout_seconds: int = 1
) -> tuple[dict[str, str], Subscription]:
    """Subscribe a URL; returns the environment of a worker that serves it, too."""
    key = Fernet.generate_key().decode()
    async with outbox.write() as session:
        subscription = await EVENTS.subscriptions.add_subscription(
            session,
            team=None,
            url=url,
            events=(EventType.COLLECTION_FINISHED,),
            sealed_secret=Vault(key).seal(new_signing_secret()),
        )
    settings = {
        "DATABASE_URL": database.app["conversations"],
        "SERVICE_KEY": "stb_service_unused",
        "SECRETS_KEY": key,
        "ALLOWED_NETWORKS": '["127.0.0.0/8"]',
        "DELIVERY_TIMEOUT_SECONDS": str(timeout_seconds),
        "DELIVERY_POLL_SECONDS": "0.05",
    }
    return os.environ | {f"SPOTTHEBOT_CONVERSATIONS_{name}": value for name, value in settings.items()}, subscription


async def _all_settled(outbox: Database, subscription: Subscription, number: int) -> list[Delivery]:
    async def all_settled() -> list[Delivery]:
        async with outbox.read() as session:
            found = await EVENTS.deliveries.list_deliveries(
                session, subscription.id, state=None, after=None, limit=1000
            )
        done = [each for each in found if each.state is not DeliveryState.PENDING]
        return done if len(done) >= number else []

    return await until(all_settled, seconds=60)


@asynccontextmanager
async def _worker(environment: dict[str, str]) -> AsyncIterator[Child]:
    worker = await launched("conversations", "work", environment)
    try:
        yield worker
    finally:
        worker.kill()
        await worker.wait()
