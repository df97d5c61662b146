"""Events mounted by a service that is none of ours: a post office, on a schema of its own."""

import asyncio
import base64
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from cryptography.fernet import Fernet
from fastapi import FastAPI
from pydantic import SecretStr
from sqlalchemy import create_engine, update
from sqlalchemy.engine import make_url
from standardwebhooks import Webhook

from spotthebot.kit.crypto.vault import Vault
from spotthebot.kit.database.sessions import Database, schema_metadata
from spotthebot.kit.events.dispatcher import DeliverySchedule, EventDispatcher
from spotthebot.kit.events.domain import TEST_EVENT, AttemptOutcome, DeliveryState, Event, EventCatalogue
from spotthebot.kit.events.errors import NoSuchEvent, TeamLookupFailed
from spotthebot.kit.events.router import events_router
from spotthebot.kit.events.signer import EventSigner
from spotthebot.kit.events.store.event_store import EventStore
from spotthebot.kit.events.subscriptions import Subscriptions
from spotthebot.kit.events.tables import event_tables
from spotthebot.kit.ids import new_id
from spotthebot.kit.outbound.owners import HttpByOwner
from spotthebot.kit.processes.sockets import bind
from spotthebot.kit.service.process import migrate_access
from spotthebot.kit.settings import ServiceSettings
from spotthebot.kit.waits.clock import Clock, system_clock
from spotthebot.kit.web.api import build_service
from spotthebot.kit.web.database.tables import idempotency_table
from spotthebot.local.postgres.cluster import Cluster
from spotthebot.local.postgres.provision import Provisioned, logins, provision
from tests.factories.bot_servers import Bot, bot
from tests.factories.clock import MovableClock
from tests.factories.running_suite import Keys, served

SCHEMA = "letters"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class LetterEvent(StrEnum):
    SORTED = "letters.sorted"
    LOST = "letter.lost"


METADATA = schema_metadata(SCHEMA)
IDEMPOTENCY = idempotency_table(METADATA)
TABLES = event_tables(METADATA)
CATALOGUE = EventCatalogue(LetterEvent, for_teams=frozenset({LetterEvent.LOST}), team_fields=("letter",))
STORE = EventStore(TABLES, CATALOGUE)


@dataclass
class PostOffice:
    """The mounted application and its database; `owners` says whose letter is whose, None that nobody knows now."""

    url: str
    keys: Keys
    database: Database
    signer: EventSigner
    http: HttpByOwner
    owners: dict[str, str] | None = field(default_factory=dict)

    @asynccontextmanager
    async def client(self, team: str | None = None) -> AsyncIterator[httpx.AsyncClient]:
        key = await self.keys.make("team" if team else "admin", team=team)
        headers = {"Authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(base_url=self.url, headers=headers, trust_env=False) as client:
            yield client

    async def subscribe(self, url: str, *events: LetterEvent, team: str | None = None) -> dict[str, Any]:
        async with self.client(team) as client:
            answer = await client.post("/v1/subscriptions", json={"url": url, "events": events})
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    async def publish(self, event_type: LetterEvent, **data: Any) -> UUID:
        async with self.database.write() as session:
            return await STORE.outbox.add_event(session, event_type, data)

    async def find_team(self, event: Event) -> str | None:
        if self.owners is None:
            raise TeamLookupFailed
        return self.owners.get(event.data["letter"])

    @asynccontextmanager
    async def dispatching(self, clock: Clock = system_clock) -> AsyncIterator[EventDispatcher]:
        """Run a dispatcher while the block lasts."""
        schedule = DeliverySchedule(
            waits_seconds=(0.05, 0.05),
            timeout_seconds=5,
            max_at_once=4,
            poll_seconds=0.02,
            retention=timedelta(days=30),
        )
        async with self.http as http:
            dispatcher = EventDispatcher(self.database, STORE, self.signer, http, self.find_team, schedule, clock)
            running = asyncio.create_task(dispatcher.run())
            try:
                yield dispatcher
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)


@pytest.fixture
def provisioned(cluster: Cluster) -> Iterator[Provisioned]:
    """A database with API keys and the post office's schema, with the tables of events in it."""
    name = f"office_{secrets.token_hex(4)}"
    made = provision(cluster.admin_url, name, [SCHEMA], {login: secrets.token_hex(8) for login in logins([SCHEMA])})
    migrate_access(made.owner_urls["access"])
    engine = create_engine(make_url(made.owner_urls[SCHEMA]).set(drivername="postgresql+psycopg"))
    METADATA.create_all(engine)
    engine.dispose()
    yield made
    with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def office(provisioned: Provisioned) -> AsyncIterator[PostOffice]:
    url = provisioned.app_urls[SCHEMA]
    signer = EventSigner(Vault(Fernet.generate_key().decode()))
    http = HttpByOwner(allowed=("127.0.0.0/8",), operator=())
    app = _app(url)
    app.state.resources = SimpleNamespace(subscriptions=Subscriptions(STORE, signer, http))
    database = Database(url, pool_size=2)
    async with served(app, bind("127.0.0.1", 0)) as address, Keys(provisioned.owner_urls["access"]) as keys:
        yield PostOffice(address, keys, database, signer, http)
    await database.close()


class TestMountedByAnotherService:
    async def test_delivers_an_event_that_the_official_library_verifies(self, office: PostOffice):
        async with bot(lambda _: {}) as (subscriber, url), office.dispatching():
            subscription = await office.subscribe(url, LetterEvent.SORTED)
            event_id = await office.publish(LetterEvent.SORTED, letters=3)
            await _received(subscriber, 1)
        message = Webhook(subscription["secret"]).verify(subscriber.bodies[0], subscriber.headers[0])
        assert (message["type"], message["data"]) == ("letters.sorted", {"letters": 3})
        assert subscriber.headers[0]["webhook-id"] == f"evt_{event_id.hex}"

    async def test_delivers_nothing_of_a_transaction_that_is_rolled_back(self, office: PostOffice):
        async def fail() -> None:
            async with office.database.write() as session:
                await STORE.outbox.add_event(session, LetterEvent.SORTED, {"letters": 1})
                raise LookupError

        async with bot(lambda _: {}) as (subscriber, url), office.dispatching():
            await office.subscribe(url, LetterEvent.SORTED)
            with pytest.raises(LookupError):
                await fail()
            await office.publish(LetterEvent.SORTED, letters=2)
            await _received(subscriber, 1)
        assert [each["data"] for each in subscriber.asked] == [{"letters": 2}]

    async def test_accepts_and_describes_its_own_types_of_events_only(self, office: PostOffice):
        async with office.client() as admin:
            body = {"url": "http://127.0.0.1:9/", "events": ["letters.sorted", "collection.finished"]}
            answer = await admin.post("/v1/subscriptions", json=body)
            schemas = (await admin.get("/openapi.json")).json()["components"]["schemas"]
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/events/1")
        assert schemas["LetterEvent"]["enum"] == ["letters.sorted", "letter.lost"]
        assert schemas["SubscriptionIn"]["properties"]["events"]["items"] == {
            "$ref": "#/components/schemas/LetterEvent"
        }

    async def test_sends_a_test_event_to_a_team(self, office: PostOffice):
        async with bot(lambda _: {}) as (subscriber, url), office.dispatching(), office.client("reds") as reds:
            subscription = await office.subscribe(url, LetterEvent.LOST, team="reds")
            sent = await reds.post(f"/v1/subscriptions/{subscription['id']}/test")
            await _received(subscriber, 1)
        assert (sent.status_code, sent.json()["type"]) == (201, TEST_EVENT)
        assert subscriber.asked[0]["data"] == {"subscription": {"id": subscription["id"]}}


class TestTeams:
    async def test_receive_only_their_own_events_and_only_the_fields_for_teams(self, office: PostOffice):
        office.owners = {"to Ann": "reds", "to Bob": "blues"}
        async with bot(lambda _: {}) as (reds, url), bot(lambda _: {}) as (operator, other), office.dispatching():
            await office.subscribe(url, LetterEvent.LOST, team="reds")
            await office.subscribe(other, LetterEvent.LOST)
            for letter in ("to Bob", "to Ann", "to nobody"):
                await office.publish(LetterEvent.LOST, letter=letter, by="the new postman")
            await _received(operator, 3)
            await _received(reds, 1)
            async with office.client("reds") as client:
                seen = (await client.get("/v1/events")).json()["items"]
        assert [each["data"] for each in reds.asked] == [{"letter": "to Ann"}]
        assert [each["data"] for each in seen] == [{"letter": "to Ann"}]
        assert all(each["data"]["by"] == "the new postman" for each in operator.asked)

    async def test_may_not_subscribe_to_events_that_belong_to_no_team(self, office: PostOffice):
        async with office.client("reds") as reds:
            body = {"url": "http://127.0.0.1:9/", "events": ["letters.sorted"]}
            answer = await reds.post("/v1/subscriptions", json=body)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/events")

    async def test_get_their_event_later_where_the_team_is_not_found_at_first(self, office: PostOffice):
        office.owners = None
        async with bot(lambda _: {}) as (subscriber, url), office.dispatching():
            await office.subscribe(url, LetterEvent.LOST, LetterEvent.SORTED)
            await office.publish(LetterEvent.LOST, letter="to Ann")
            await office.publish(LetterEvent.SORTED, letters=1)
            await _received(subscriber, 1)
            assert subscriber.asked[0]["type"] == "letters.sorted"  # which needs no team
            office.owners = {"to Ann": "reds"}
            await _received(subscriber, 2)
        assert subscriber.asked[1]["type"] == "letter.lost"


class TestPurge:
    async def test_deletes_distributed_events_older_than_the_retention_with_their_deliveries(self, office: PostOffice):
        clock = MovableClock()
        async with (
            bot(lambda _: {}) as (subscriber, url),
            office.dispatching(clock) as dispatcher,
            office.client() as admin,
        ):
            subscription = await office.subscribe(url, LetterEvent.SORTED)
            event_id = await office.publish(LetterEvent.SORTED, letters=1)
            await _received(subscriber, 1)
            clock.advance(days=29)
            await dispatcher.purge()
            assert (await admin.post(f"/v1/events/{event_id}/replay")).json() == {"deliveries": 1}
            clock.advance(days=1)
            await dispatcher.purge()
            assert (await admin.get("/v1/events")).json()["items"] == []
            assert (await admin.get(f"/v1/subscriptions/{subscription['id']}/deliveries")).json()["items"] == []
            assert (await admin.post(f"/v1/events/{event_id}/replay")).status_code == 404

    async def test_keeps_events_that_are_not_distributed_yet_and_deletes_in_batches(self, office: PostOffice):
        made = [await office.publish(LetterEvent.SORTED) for _ in range(5)]
        later = datetime.now(UTC) + timedelta(days=1)
        async with office.database.write() as session:
            assert await STORE.outbox.purge(session, before=later, limit=10) == 0
            await session.execute(update(TABLES.events).where(TABLES.events.c.id != made[0]).values(distributed=True))
            assert await STORE.outbox.purge(session, before=later - timedelta(days=2), limit=3) == 0
            assert await STORE.outbox.purge(session, before=later, limit=3) == 3
            assert await STORE.outbox.purge(session, before=later, limit=3) == 1
            (kept,) = await STORE.outbox.list_new_events(session, after=None, limit=10)
        assert kept.id == made[0]

    async def test_leaves_no_delivery_to_a_replay_of_the_same_moment(self, office: PostOffice):
        """The replay waits for the purge and then finds no event, instead of a foreign key that fails."""
        event_id = await office.publish(LetterEvent.SORTED)
        await office.subscribe("http://127.0.0.1:9/", LetterEvent.SORTED)
        async with office.database.write() as session:
            await session.execute(update(TABLES.events).values(distributed=True))

        async def replay() -> int:
            async with office.database.write() as session:
                return await STORE.outbox.replay_event(session, event_id, team=None)

        async with office.database.write() as session:
            await STORE.outbox.purge(session, before=datetime.now(UTC) + timedelta(days=1), limit=10)
            replaying = asyncio.create_task(replay())
            await asyncio.sleep(0.2)
        with pytest.raises(NoSuchEvent):
            await replaying


class TestLists:
    async def test_miss_no_event_that_is_committed_after_later_ones_were_read(self, office: PostOffice):
        async with office.client() as admin, office.dispatching():
            async with office.database.write() as late:
                first = await STORE.outbox.add_event(late, LetterEvent.SORTED, {})
                others = [await office.publish(LetterEvent.SORTED, letters=number) for number in (2, 3)]
                read, cursor = await _read(admin, None, 1)
                assert read == others[:1]
            assert (await _read(admin, cursor, 2))[0] == [others[1], first]

    async def test_have_every_event_once_in_one_order_while_many_commit(self, office: PostOffice):
        async def publish(number: int) -> UUID:
            async with office.database.write() as session:
                event_id = await STORE.outbox.add_event(session, LetterEvent.SORTED, {"letters": number})
                await asyncio.sleep(0.05 * (number % 3))
                return event_id

        async with office.client() as admin, office.dispatching():
            publishing = [asyncio.create_task(publish(number)) for number in range(40)]
            read, cursor = list[UUID](), ""
            while len(read) < 39:  # the last one has no next page
                page, cursor = await _read(admin, cursor, 1)
                read += page
            assert set(read) < set(await asyncio.gather(*publishing))
        assert len(set(read)) == len(read)

    async def test_refuse_a_cursor_from_elsewhere(self, office: PostOffice):
        cursor = base64.urlsafe_b64encode(new_id().bytes).decode()
        async with office.client() as admin:
            assert (await admin.get(f"/v1/events?cursor={cursor}")).status_code == 422


async def _read(admin: httpx.AsyncClient, cursor: str | None, limit: int) -> tuple[list[UUID], str]:
    """Read the next page as soon as it is full."""
    parameters: dict[str, Any] = {"limit": limit, **({"cursor": cursor} if cursor else {})}
    async with asyncio.timeout(60):
        while True:
            page = (await admin.get("/v1/events", params=parameters)).json()
            if len(page["items"]) == limit and (page["next_cursor"] or limit > 1):
                return [UUID(each["id"]) for each in page["items"]], page["next_cursor"]
            await asyncio.sleep(0.02)


class TestLeases:
    async def test_void_the_outcome_of_an_attempt_that_a_replay_overtook(self, office: PostOffice):
        await office.subscribe("http://127.0.0.1:9/", LetterEvent.SORTED)
        event_id = await office.publish(LetterEvent.SORTED)
        lease = timedelta(minutes=1)
        async with office.database.write() as session:
            await STORE.outbox.distribute(
                session, await STORE.outbox.get_event(session, event_id, team=None), team=None
            )
        async with office.database.write() as session:
            (overtaken,) = await STORE.deliveries.claim_due(session, limit=10, limit_each=4, lease=lease)
        async with office.database.write() as session:
            assert await STORE.deliveries.claim_due(session, limit=10, limit_each=4, lease=lease) == []
            assert await STORE.outbox.replay_event(session, event_id, team=None) == 1
        async with office.database.write() as session:
            (again,) = await STORE.deliveries.claim_due(session, limit=10, limit_each=4, lease=lease)
            failed = AttemptOutcome(500, "broken")
            assert not await STORE.deliveries.record_outcome(session, overtaken, failed, wait=None)
            assert await STORE.deliveries.record_outcome(session, again, AttemptOutcome(200, None), wait=None)
            delivery = await STORE.deliveries.get_delivery(session, again.delivery_id)
        assert (delivery.state, delivery.attempts, delivery.status) == (DeliveryState.DELIVERED, 1, 200)

    async def test_bound_the_attempts_under_way_for_each_subscriber(self, office: PostOffice):
        await office.subscribe("http://127.0.0.1:9/", LetterEvent.SORTED)
        for _ in range(5):
            event_id = await office.publish(LetterEvent.SORTED)
            async with office.database.write() as session:
                event = await STORE.outbox.get_event(session, event_id, team=None)
                await STORE.outbox.distribute(session, event, team=None)
        claimed = []
        for _ in range(2):
            async with office.database.write() as session:
                claimed += await STORE.deliveries.claim_due(session, limit=10, limit_each=3, lease=timedelta(minutes=1))
        assert len({each.delivery_id for each in claimed}) == len(claimed) == 3


class TestAttemptOutcome:
    WAITS = (5.0, 300.0)

    @pytest.mark.parametrize(
        ("outcome", "attempts", "seconds"),
        [
            (AttemptOutcome(500, "broken"), 1, 5),
            (AttemptOutcome(500, "broken"), 2, 300),
            (AttemptOutcome(None, "no answer"), 3, None),
            (AttemptOutcome(429, "slow down", 60), 1, 60),
            (AttemptOutcome(429, "slow down", 60), 2, 300),
            (AttemptOutcome(410, "gone"), 1, None),
            (AttemptOutcome(204, None), 1, None),
        ],
    )
    def test_says_when_the_next_attempt_follows(self, outcome: AttemptOutcome, attempts: int, seconds: float | None):
        wait = outcome.wait_before_retry(attempts, self.WAITS)
        assert wait == (None if seconds is None else timedelta(seconds=seconds))

    def test_leaves_a_delivery_pending_delivered_or_failed(self):
        failed, delivered = AttemptOutcome(500, "broken"), AttemptOutcome(200, None)
        assert failed.next_state(timedelta(seconds=5)) is DeliveryState.PENDING
        assert failed.next_state(None) is DeliveryState.FAILED
        assert delivered.next_state(None) is DeliveryState.DELIVERED


class TestCatalogue:
    def test_shows_a_team_the_fields_for_teams_and_the_operator_all(self):
        event = Event(new_id(), LetterEvent.LOST, {"letter": "to Ann", "by": "Joe"}, "reds", NOW, 1, None)
        assert CATALOGUE.visible_data(event, "reds") == {"letter": "to Ann"}
        assert CATALOGUE.visible_data(event, None) == {"letter": "to Ann", "by": "Joe"}


def _app(database_url: str) -> FastAPI:
    settings = ServiceSettings(database_url=SecretStr(database_url))
    return build_service(
        "letters", summary="", settings=settings, routers=[events_router(LetterEvent)], idempotency_table=IDEMPOTENCY
    )


async def _received(subscriber: Bot, number: int) -> None:
    async with asyncio.timeout(60):
        while len(subscriber.asked) < number:
            await asyncio.sleep(0.01)
