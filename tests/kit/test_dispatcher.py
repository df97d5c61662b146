"""What a dispatcher makes of answers, of trouble and of its settings, on transactions that are rolled back."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr
from sqlalchemy.exc import OperationalError

from spotthebot.contracts.conversations.events import EventType
from spotthebot.conversations.events.store import EVENTS
from spotthebot.kit.crypto.signatures import new_signing_secret
from spotthebot.kit.crypto.vault import Vault
from spotthebot.kit.database.sessions import Database, WriteSession
from spotthebot.kit.events import dispatcher as dispatching
from spotthebot.kit.events.dispatcher import DeliverySchedule, EventDispatcher, FindTeam, dispatcher_of
from spotthebot.kit.events.domain import AttemptOutcome, ClaimedDelivery, Event, Subscription
from spotthebot.kit.events.errors import TeamLookupFailed
from spotthebot.kit.events.settings import EventSettings
from spotthebot.kit.events.signer import EventSigner
from spotthebot.kit.ids import new_id
from spotthebot.kit.outbound.errors import CallFailed, Failure
from spotthebot.kit.outbound.http import Answer
from spotthebot.kit.waits.clock import Clock
from tests.factories.clock import MovableClock
from tests.factories.databases import DatabaseUrls
from tests.factories.savepoints import SavepointDatabase, rolled_back

FINISHED = EventType.COLLECTION_FINISHED
NOW = datetime(2026, 1, 1, tzinfo=UTC)
VAULT = Vault(Fernet.generate_key().decode())


class _Subscriber:
    """Answers every message in one way, and notes what it got; a client of HTTP by owner, too."""

    def __init__(self, answer: Answer | CallFailed | None) -> None:
        self.answer, self.got = answer, list[tuple[str, bytes, Mapping[str, str], int]]()

    def of(self, _team: str | None) -> "_Subscriber":
        return self

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], *, largest: int) -> Answer:
        self.got.append((url, body, headers, largest))
        if self.answer is None:
            await asyncio.sleep(10)
        if isinstance(self.answer, CallFailed):
            raise self.answer
        assert self.answer is not None
        return self.answer


@pytest.fixture
async def database(shared_urls: DatabaseUrls) -> AsyncIterator[SavepointDatabase]:
    """Sessions on the tables of `conversations`, rolled back after the test."""
    async with rolled_back(shared_urls.app["conversations"]) as opened:
        yield opened


@pytest.fixture
async def away() -> AsyncIterator[Database]:
    """A database that nobody can connect to."""
    opened = Database("postgresql://nobody@127.0.0.1:1/none", pool_size=1)
    yield opened
    await opened.close()


async def _happened(database: SavepointDatabase, times: int = 1) -> Subscription:
    """Let events happen that have deliveries to one subscription."""
    async with database.write() as session:
        sealed = VAULT.seal(new_signing_secret())
        made = await EVENTS.subscriptions.add_subscription(
            session, team=None, url="http://a/", events=(FINISHED,), sealed_secret=sealed
        )
        for _ in range(times):
            event_id = await EVENTS.outbox.add_event(session, FINISHED, {"a": 1})
            event = await EVENTS.outbox.get_event(session, event_id, team=None)
            await EVENTS.outbox.distribute(session, event, team=None)
    return made


def _claimed(vault: Vault = VAULT) -> ClaimedDelivery:
    event = Event(new_id(), FINISHED, {"a": 1}, None, NOW, 1, None)
    subscription = Subscription(
        id=new_id(),
        team=None,
        url="http://a/",
        events=(FINISHED,),
        sealed_secret=vault.seal(new_signing_secret()),
        old_sealed_secret=None,
        old_secret_until=None,
        active=True,
        inactive_reason=None,
        created_at=NOW,
    )
    return ClaimedDelivery(new_id(), 1, NOW, event, subscription)


def _dispatcher(
    subscriber: Any,
    database: Any = None,
    clock: Clock = lambda: NOW,
    timeout_seconds: float = 0.01,
    find_team: FindTeam | None = None,
) -> EventDispatcher:
    async def nobody(_event: Event) -> str | None:
        return None

    schedule = DeliverySchedule((5.0,), timeout_seconds, 2, 0.5, timedelta(days=30))
    return EventDispatcher(database, EVENTS, EventSigner(VAULT), subscriber, find_team or nobody, schedule, clock)


class TestSending:
    @pytest.mark.parametrize(
        ("status", "is_delivered"), [(None, False), (199, False), (200, True), (299, True), (300, False), (500, False)]
    )
    async def test_counts_by_the_status_whatever_the_body(self, status: int | None, is_delivered: bool):
        failed = CallFailed(Failure.INVALID, "too long", retry_after_seconds=7, status=status)
        outcome = await _dispatcher(_Subscriber(failed))._send(_claimed())
        expected = AttemptOutcome(status, None) if is_delivered else AttemptOutcome(status, "too long", 7)
        assert outcome == expected

    async def test_gives_a_subscriber_signed_json_and_reads_16_kib_of_its_answer(self):
        subscriber = _Subscriber(Answer(204, "", b""))
        outcome = await _dispatcher(subscriber)._send(_claimed())
        assert outcome == AttemptOutcome(204, None)
        ((url, body, headers, largest),) = subscriber.got
        assert (url, largest) == ("http://a/", 16_384)
        assert body == b'{"type":"collection.finished","timestamp":"2026-01-01T00:00:00+00:00","data":{"a":1}}'
        assert headers["Content-Type"] == "application/json"
        assert headers["webhook-timestamp"] == "1767225600"  # the first second of 2026

    async def test_fails_where_no_whole_answer_comes_in_time(self):
        outcome = await _dispatcher(_Subscriber(None))._send(_claimed())
        assert outcome == AttemptOutcome(None, "There was no whole answer within 0.01 s.")

    async def test_fails_where_the_secret_was_sealed_by_another_key(self):
        subscriber = _Subscriber(Answer(204, "", b""))
        outcome = await _dispatcher(subscriber)._send(_claimed(Vault(Fernet.generate_key().decode())))
        assert outcome == AttemptOutcome(None, "The signing secret can't be decrypted: rotate it.")
        assert subscriber.got == []


class TestAttempts:
    @pytest.mark.parametrize(
        ("status", "is_overtaken", "state", "active"),
        [(500, False, "pending", True), (410, False, "failed", False), (410, True, "pending", True)],
    )
    async def test_end_a_subscription_whose_url_is_gone_unless_a_replay_overtook_them(
        self, database: SavepointDatabase, status: int, is_overtaken: bool, state: str, active: bool
    ):
        made = await _happened(database)
        dispatcher = _dispatcher(_Subscriber(CallFailed(Failure.HTTP_ERROR, "no", status=status)), database)
        (claimed,) = await dispatcher._claim(9)
        if is_overtaken:
            async with database.write() as session:
                await EVENTS.outbox.replay_event(session, claimed.event.id, team=None)
        await dispatcher._attempt(claimed)
        async with database.read() as session:
            found = await EVENTS.subscriptions.get_subscription(session, made.id, team=None)
            delivery = await EVENTS.deliveries.get_delivery(session, claimed.delivery_id)
        assert (found.active, found.inactive_reason) == (active, None if active else "Its URL answered 410 (gone).")
        assert (delivery.state, delivery.status) == (state, None if is_overtaken else status)

    async def test_are_left_to_their_lease_where_their_outcome_cannot_be_written(self, away: Database):
        subscriber = _Subscriber(Answer(200, "", b""))
        await _dispatcher(subscriber, away)._attempt(_claimed())
        assert len(subscriber.got) == 1


class TestClaims:
    @pytest.mark.parametrize(("limit", "found"), [(-1, 0), (0, 0), (1, 1), (9, 2)])
    async def test_are_made_where_there_is_room_for_twice_the_time_of_an_attempt(
        self, database: SavepointDatabase, limit: int, found: int
    ):
        await _happened(database, 3)
        claimed = await _dispatcher(None, database, timeout_seconds=50)._claim(limit)
        assert len(claimed) == found  # two at once for one subscriber
        for each in claimed:
            assert 60 < (each.leased_until - datetime.now(UTC)).total_seconds() <= 100

    async def test_are_none_where_the_database_is_away(self, away: Database):
        assert await _dispatcher(None, away)._claim(1) == []


class _Counting(SavepointDatabase):
    """Counts the transactions that may write."""

    writes = 0

    @asynccontextmanager
    async def write(self) -> AsyncIterator[WriteSession]:
        self.writes += 1
        async with super().write() as session:
            yield session


class TestRounds:
    async def test_with_nothing_to_do_begin_no_transaction(self, database: SavepointDatabase):
        await _happened(database)
        counted = _Counting(database.connection)
        dispatcher = _dispatcher(_Subscriber(Answer(204, "", b"")), counted)
        found = []
        for _ in range(2):
            before = counted.writes
            await dispatcher._distribute()
            for claimed in await dispatcher._claim(9):
                await dispatcher._attempt(claimed)
            found.append(counted.writes - before)
        assert found == [3, 0]  # the event is numbered, its delivery claimed and its outcome written


class TestPurges:
    @pytest.mark.parametrize("events", [4, 5])
    async def test_go_on_until_a_batch_is_not_full(
        self, database: SavepointDatabase, monkeypatch: pytest.MonkeyPatch, events: int
    ):
        monkeypatch.setattr(dispatching, "_PURGED_PER_BATCH", 2)
        await _happened(database, events)
        for days, expected in ((29, events), (31, 0)):
            clock = MovableClock()
            clock.advance(days=days)
            await _dispatcher(None, database, clock).purge()
            async with database.write() as session:
                await EVENTS.outbox.number_events(session)
                kept = await EVENTS.outbox.list_events(session, team=None, event_type=None, after=None, limit=9)
            assert len(kept) == expected


class TestDistribution:
    @pytest.mark.parametrize("events", [4, 5])
    async def test_goes_on_until_a_batch_is_not_full(
        self, database: SavepointDatabase, monkeypatch: pytest.MonkeyPatch, events: int
    ):
        monkeypatch.setattr(dispatching, "_EVENTS_PER_BATCH", 2)
        async with database.write() as session:
            made = [await EVENTS.outbox.add_event(session, FINISHED, {}) for _ in range(events)]
        await _dispatcher(None, database)._distribute()
        async with database.read() as reading:
            found = await EVENTS.outbox.list_events(reading, team=None, event_type=None, after=None, limit=9)
        assert [each.id for each in found] == made

    async def test_asks_for_no_other_team_once_one_was_not_found(self, database: SavepointDatabase):
        asked: list[UUID] = []

        async def find_team(event: Event) -> str | None:
            asked.append(event.id)
            raise TeamLookupFailed

        kinds = (EventType.BOT_FAILING, EventType.BOT_FAILING, FINISHED)
        async with database.write() as session:
            made = [await EVENTS.outbox.add_event(session, kind, {}) for kind in kinds]
        await _dispatcher(None, database, find_team=find_team)._distribute()
        async with database.read() as reading:
            left = await EVENTS.outbox.list_new_events(reading, after=None, limit=9)
        assert (asked, [each.id for each in left]) == (made[:1], made[:2])


async def test_a_dispatcher_distributes_and_delivers_all_the_time_and_purges_every_ten_minutes(
    monkeypatch: pytest.MonkeyPatch,
):
    dispatcher, repeated, delivered = _dispatcher(None), dict[str, float](), list[bool]()

    async def repeat(step: Callable[[], Awaitable[None]], seconds: float) -> None:
        repeated[step.__name__] = seconds

    async def deliver() -> None:
        delivered.append(True)

    monkeypatch.setattr(dispatcher, "_repeat", repeat)
    monkeypatch.setattr(dispatcher, "_deliver", deliver)
    await dispatcher.run()
    assert (delivered, repeated) == ([True], {"_distribute": 0.5, "purge": 600.0})


async def test_a_step_is_repeated_after_its_wait_also_where_the_database_is_away():
    times: list[float] = []
    trouble = OperationalError("SELECT 1", {}, Exception("away"))

    async def step() -> None:
        times.append(asyncio.get_running_loop().time())
        if len(times) == 3:
            raise asyncio.CancelledError
        raise trouble

    with pytest.raises(asyncio.CancelledError):
        await _dispatcher(None)._repeat(step, 0.01)
    assert all(second - first > 0.009 for first, second in pairwise(times))


async def test_a_dispatcher_keeps_to_the_settings_of_its_service(tmp_path: Path):
    settings = EventSettings(
        database_url=SecretStr("postgresql://a"),
        secrets_key_file=tmp_path / "key",
        delivery_waits_seconds=(1.0, 2.0),
        delivery_timeout_seconds=3.0,
        deliveries_at_once=4,
        delivery_poll_seconds=5.0,
        event_retention_days=6,
    )
    unused: Any = None
    made = dispatcher_of(settings, unused, EVENTS, unused, settings.make_http())
    assert made._schedule == DeliverySchedule((1.0, 2.0), 3.0, 4, 5.0, timedelta(days=6))
