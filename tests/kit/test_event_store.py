"""The store of events at its bounds, on transactions that are rolled back: who gets what, and which pages there are."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from cryptography.fernet import Fernet
from sqlalchemy import func, select, update

from spotthebot.contracts.conversations.events import EventType
from spotthebot.conversations.events.store import EVENTS
from spotthebot.conversations.metadata import EVENT_TABLES
from spotthebot.kit.crypto.vault import Vault
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.events.depths import read_event_queues
from spotthebot.kit.events.domain import TEST_EVENT, AttemptOutcome, ClaimedDelivery, DeliveryState, Subscription
from spotthebot.kit.events.errors import NoSuchEvent, NoSuchSubscription
from spotthebot.kit.events.signer import EventSigner
from spotthebot.kit.events.subscriptions import Subscriptions
from spotthebot.kit.ids import new_id
from spotthebot.kit.outbound.owners import HttpByOwner
from tests.factories.databases import DatabaseUrls
from tests.factories.savepoints import rolled_back

LEASE = timedelta(minutes=1)
OF_TEAMS, OF_NO_TEAM = EventType.BOT_FAILING, EventType.COLLECTION_FINISHED
OUTBOX, QUEUE, SUBSCRIPTIONS = EVENTS.outbox, EVENTS.deliveries, EVENTS.subscriptions


@pytest.fixture
async def session(shared_urls: DatabaseUrls) -> AsyncIterator[WriteSession]:
    """One transaction: its `now()` is the same in every statement."""
    async with rolled_back(shared_urls.app["conversations"]) as database, database.write() as opened:
        yield opened


async def _now(session: WriteSession) -> datetime:
    """Return the time that all statements of the transaction see."""
    found: datetime = (await session.execute(select(func.now()))).scalar_one()
    return found


async def _subscribe(
    session: WriteSession, team: str | None = None, events: tuple[str, ...] = (OF_TEAMS, OF_NO_TEAM)
) -> Subscription:
    return await SUBSCRIPTIONS.add_subscription(session, team=team, url="http://a", events=events, sealed_secret=b"s")


async def _distributed(session: WriteSession, event_type: str = OF_NO_TEAM, team: str | None = None) -> UUID:
    event_id = await OUTBOX.add_event(session, event_type, {"reason": "why"})
    await OUTBOX.distribute(session, await OUTBOX.get_event(session, event_id, team=None), team=team)
    return event_id


async def _events_of(
    session: WriteSession, to: Subscription, state: DeliveryState | None = None, after: UUID | None = None
) -> list[UUID]:
    found = await QUEUE.list_deliveries(session, to.id, state=state, after=after, limit=100)
    return [each.event_id for each in found]


async def _claim(session: WriteSession, *, limit: int = 10, limit_each: int = 4) -> list[ClaimedDelivery]:
    due = await QUEUE.has_due(session)
    claimed = await QUEUE.claim_due(session, limit=limit, limit_each=limit_each, lease=LEASE)
    assert due or not claimed, "a delivery that is due was overlooked"
    return claimed


class TestOutbox:
    async def test_lists_new_events_page_by_page_until_they_are_distributed(self, session: WriteSession):
        made = [await OUTBOX.add_event(session, OF_NO_TEAM, {}) for _ in range(3)]
        for after, limit, expected in ((None, 2, made[:2]), (made[0], 2, made[1:]), (made[2], 2, [])):
            found = await OUTBOX.list_new_events(session, after=after, limit=limit)
            assert [each.id for each in found] == expected
        await OUTBOX.distribute(session, await OUTBOX.get_event(session, made[1], team=None), team=None)
        found = await OUTBOX.list_new_events(session, after=None, limit=9)
        assert [each.id for each in found] == [made[0], made[2]]

    async def test_lists_numbered_events_by_type_team_and_position(self, session: WriteSession):
        made = [await _distributed(session, *given) for given in ((OF_NO_TEAM, None), (OF_TEAMS, "red")) * 2]
        await OUTBOX.add_event(session, OF_NO_TEAM, {})  # is not distributed yet
        await OUTBOX.number_events(session)
        every = await OUTBOX.list_events(session, team=None, event_type=None, after=None, limit=9)
        assert [each.id for each in every] == made
        cases = [
            (None, OF_NO_TEAM, None, [made[0], made[2]]),
            (None, None, every[1].position, made[2:]),
            ("red", None, None, [made[1], made[3]]),
            ("red", OF_TEAMS, every[1].position, [made[3]]),
            ("blue", None, None, []),
        ]
        for team, event_type, after, expected in cases:
            found = await OUTBOX.list_events(session, team=team, event_type=event_type, after=after, limit=9)
            assert [each.id for each in found] == expected
        with pytest.raises(NoSuchEvent):
            await OUTBOX.get_event(session, made[0], team="red")
        assert (await OUTBOX.get_event(session, made[1], team="red")).team == "red"

    async def test_says_whether_an_event_is_to_be_distributed_or_numbered(self, session: WriteSession):
        found = [await OUTBOX.has_new_events(session)]
        event_id = await OUTBOX.add_event(session, OF_NO_TEAM, {})
        found.append(await OUTBOX.has_new_events(session))
        await OUTBOX.distribute(session, await OUTBOX.get_event(session, event_id, team=None), team=None)
        found.append(await OUTBOX.has_new_events(session))
        await OUTBOX.number_events(session)
        found.append(await OUTBOX.has_new_events(session))
        assert found == [False, True, True, False]

    async def test_numbers_nothing_twice(self, session: WriteSession):
        await _distributed(session)
        positions = []
        for _ in range(2):
            await OUTBOX.number_events(session)
            (found,) = await OUTBOX.list_events(session, team=None, event_type=None, after=None, limit=9)
            positions.append(found.position)
        assert positions[0] == positions[1]

    async def test_makes_the_deliveries_of_an_event_once(self, session: WriteSession):
        to = await _subscribe(session)
        event = await OUTBOX.get_event(session, await _distributed(session), team=None)
        (claimed,) = await _claim(session)
        await QUEUE.record_outcome(session, claimed, AttemptOutcome(200, None), wait=None)
        await OUTBOX.distribute(session, event, team=None)
        assert await _events_of(session, to, DeliveryState.DELIVERED) == [event.id]

    async def test_sends_an_event_to_the_active_subscribers_it_is_for(self, session: WriteSession):
        operator, red, blue = [await _subscribe(session, team) for team in (None, "red", "blue")]
        others, idle = await _subscribe(session, "red", (OF_NO_TEAM,)), await _subscribe(session, "red")
        await SUBSCRIPTIONS.change_subscription(session, idle.id, active=False)
        mine, nobodys = await _distributed(session, OF_TEAMS, "red"), await _distributed(session, OF_NO_TEAM, "red")
        assert [await _events_of(session, each) for each in (operator, red, blue, others, idle)] == [
            *([mine, nobodys], [mine], [], [], []),
        ]

    async def test_shows_a_team_the_test_of_its_own_subscription(self, session: WriteSession):
        red, other = await _subscribe(session, "red"), await _subscribe(session, "red")
        delivery_id = await OUTBOX.add_private_event(session, TEST_EVENT, {"a": 1}, red.id, team="red")
        assert await OUTBOX.list_new_events(session, after=None, limit=9) == []
        await OUTBOX.number_events(session)
        (shown,) = await OUTBOX.list_events(session, team="red", event_type=None, after=None, limit=9)
        assert (shown.type, shown.data) == (TEST_EVENT, {"a": 1})
        assert await OUTBOX.list_events(session, team="blue", event_type=None, after=None, limit=9) == []
        assert (await QUEUE.get_delivery(session, delivery_id)).event_id == shown.id
        assert await _events_of(session, other) == []


class TestReplays:
    async def test_reach_a_teams_own_subscribers_only_where_a_team_asks(self, session: WriteSession):
        event_id = await _distributed(session, OF_TEAMS, "red")
        operator, red, blue = [await _subscribe(session, team) for team in (None, "red", "blue")]
        assert await OUTBOX.replay_event(session, event_id, team="red") == 1
        assert [await _events_of(session, each) for each in (operator, red, blue)] == [[], [event_id], []]
        assert await OUTBOX.replay_event(session, event_id, team=None) == 2
        assert [await _events_of(session, each) for each in (operator, red, blue)] == [[event_id], [event_id], []]
        with pytest.raises(NoSuchEvent):
            await OUTBOX.replay_event(session, event_id, team="blue")

    async def test_since_a_time_hold_the_distributed_events_of_the_types_from_then_on(self, session: WriteSession):
        made = [await _distributed(session, *given) for given in ((OF_TEAMS, "red"), (OF_TEAMS, "blue"))]
        made.append(await _distributed(session))
        await OUTBOX.add_event(session, OF_TEAMS, {})  # is not distributed yet
        to, other = await _subscribe(session), await _subscribe(session)
        now = await _now(session)
        moment = timedelta(microseconds=1)
        cases = [
            (now, (OF_TEAMS,), "red", made[:1]),
            (now, (OF_TEAMS,), None, made[:2]),
            (now - moment, (OF_TEAMS, OF_NO_TEAM), None, made),
            (now + moment, (OF_TEAMS,), None, []),
        ]
        for since, types, team, expected in cases:
            sent = await OUTBOX.replay_since(session, to.id, types=types, team=team, since=since)
            assert sent == len(expected)
            assert (await _events_of(session, to))[: len(expected)] == expected
        assert await _events_of(session, other) == []

    async def test_begin_a_delivery_again_from_its_first_attempt(self, session: WriteSession):
        to, event_id = await _subscribe(session), await _distributed(session)
        (claimed,) = await _claim(session)
        await QUEUE.record_outcome(session, claimed, AttemptOutcome(410, "gone"), wait=None)
        (failed,) = await QUEUE.list_deliveries(session, to.id, state=DeliveryState.FAILED, after=None, limit=9)
        assert failed.attempts == 1
        assert failed.status == 410
        assert failed.error == "gone"
        assert failed.next_attempt_at is None
        await OUTBOX.replay_event(session, event_id, team=None)
        (again,) = await QUEUE.list_deliveries(session, to.id, state=None, after=None, limit=9)
        assert (again.id, again.state, again.attempts) == (failed.id, DeliveryState.PENDING, 0)
        assert (again.status, again.error, again.next_attempt_at is not None) == (None, None, True)


class TestPurges:
    async def test_take_what_is_older_than_a_time_and_not_what_is_of_this_time(self, session: WriteSession):
        event_id = await _distributed(session)
        now = await _now(session)
        assert await OUTBOX.purge(session, before=now, limit=9) == 0
        assert await OUTBOX.purge(session, before=now + timedelta(microseconds=1), limit=9) == 1
        with pytest.raises(NoSuchEvent):
            await OUTBOX.get_event(session, event_id, team=None)


class TestDeliveries:
    async def test_are_listed_by_state_and_page_by_page(self, session: WriteSession):
        to = await _subscribe(session)
        made = [await _distributed(session) for _ in range(3)]
        (claimed,) = await _claim(session, limit=1)
        await QUEUE.record_outcome(session, claimed, AttemptOutcome(200, None), wait=None)
        (done,) = await QUEUE.list_deliveries(session, to.id, state=DeliveryState.DELIVERED, after=None, limit=9)
        pending = [each for each in made if each != done.event_id]
        assert await _events_of(session, to, DeliveryState.PENDING) == pending
        every = await QUEUE.list_deliveries(session, to.id, state=None, after=None, limit=2)
        assert [each.event_id for each in every] == made[:2]
        assert await _events_of(session, to, after=every[0].id) == made[1:]

    async def test_are_claimed_up_to_the_limits_the_longest_due_first(self, session: WriteSession):
        to, other = await _subscribe(session), await _subscribe(session)
        made = [await _distributed(session) for _ in range(3)]
        due = EVENT_TABLES.deliveries.c
        for number, event_id in enumerate(made):  # the last one is due for the longest time
            waiting = update(EVENT_TABLES.deliveries).where(due.event_id == event_id)
            await session.execute(waiting.values(next_attempt_at=func.now() - timedelta(seconds=number)))
        claimed = await _claim(session, limit=3, limit_each=2)
        assert len(claimed) == 3
        assert {each.event.id for each in claimed} == set(made[1:])
        rest = await _claim(session, limit_each=2)
        assert len(rest) == 1
        assert {(each.subscription.id, each.attempts) for each in claimed + rest} == {(to.id, 1), (other.id, 1)}
        assert await _claim(session, limit_each=2) == []
        assert [each.event.id for each in await _claim(session, limit_each=3)] == made[:1] * 2

    async def test_wait_for_their_time_and_for_the_end_of_a_lease(self, session: WriteSession):
        to, table = await _subscribe(session), EVENT_TABLES.deliveries
        await _distributed(session)
        late, soon = func.now() + timedelta(microseconds=1), func.now()
        for column in (table.c.next_attempt_at, table.c.leased_until):
            for moment, count in ((late, 0), (soon, 1)):
                await session.execute(update(table).values(leased_until=None, next_attempt_at=func.now()))
                await session.execute(update(table).values({column: moment}))
                claimed = await _claim(session)
                assert len(claimed) == count
        await SUBSCRIPTIONS.change_subscription(session, to.id, active=False)
        await session.execute(update(table).values(leased_until=None))
        assert await _claim(session) == []
        assert not await QUEUE.has_due(session)

    async def test_wait_before_the_next_attempt_for_the_time_given(self, session: WriteSession):
        await _subscribe(session)
        await _distributed(session)
        (claimed,) = await _claim(session)
        assert await QUEUE.record_outcome(session, claimed, AttemptOutcome(500, "no"), wait=timedelta(seconds=5))
        found = await QUEUE.get_delivery(session, claimed.delivery_id)
        now = await _now(session)
        assert (found.state, found.next_attempt_at) == (DeliveryState.PENDING, now + timedelta(seconds=5))
        assert (found.last_attempt_at, found.error) == (now, "no")
        assert not await QUEUE.record_outcome(session, claimed, AttemptOutcome(200, None), wait=None)


class TestChanges:
    async def test_leave_what_they_do_not_name_as_it_is(self, session: WriteSession):
        signer = EventSigner(Vault(Fernet.generate_key().decode()))
        mounted = Subscriptions(EVENTS, signer, HttpByOwner(allowed=("127.0.0.0/8",), operator=()))
        nothing: dict[str, Any] = {"url": None, "events": None, "active": None}
        made, _ = await mounted.subscribe(session, None, url="http://127.0.0.1:9/", events=(OF_NO_TEAM,), secret=None)

        async def change(changes: dict[str, Any]) -> Subscription:
            return await mounted.change(session, None, made.id, **nothing | changes)

        states = [await change(each) for each in ({}, {"url": "http://127.0.0.1:8/"}, {"active": True})]
        await SUBSCRIPTIONS.change_subscription(session, made.id, active=False, inactive_reason="gone")
        states += [
            await change(each)
            for each in ({"events": (OF_TEAMS,)}, {"active": False}, {"active": True}, {"active": False})
        ]
        assert [(each.url[-2:], each.events, each.active, each.inactive_reason) for each in states] == [
            ("9/", (OF_NO_TEAM,), True, None),
            ("8/", (OF_NO_TEAM,), True, None),
            ("8/", (OF_NO_TEAM,), True, None),
            ("8/", (OF_TEAMS,), False, "gone"),
            ("8/", (OF_TEAMS,), False, "gone"),
            ("8/", (OF_TEAMS,), True, None),
            ("8/", (OF_TEAMS,), False, "Switched off."),
        ]
        assert states[0] == made


class TestSubscriptions:
    async def test_do_not_show_their_sealed_secrets(self, session: WriteSession):
        made = await _subscribe(session)
        await SUBSCRIPTIONS.replace_secret(session, made.id, b"sealed", overlap=LEASE)
        found = await SUBSCRIPTIONS.get_subscription(session, made.id, team=None)
        assert (found.sealed_secret, found.old_sealed_secret) == (b"sealed", b"s")
        assert "sealed" not in repr(found)

    async def test_are_found_by_their_team_and_the_operator_alone(self, session: WriteSession):
        made = await _subscribe(session, "red")
        for team in ("red", None):
            assert await SUBSCRIPTIONS.get_subscription(session, made.id, team=team) == made
        for subscription_id, team in ((made.id, "blue"), (new_id(), None)):
            with pytest.raises(NoSuchSubscription):
                await SUBSCRIPTIONS.get_subscription(session, subscription_id, team=team)

    async def test_are_listed_and_counted_by_team_page_by_page(self, session: WriteSession):
        made = [(await _subscribe(session, team)).id for team in (None, "red", None, "red")]
        cases = [(None, None, made), ("red", None, [made[1], made[3]]), (None, made[1], made[2:]), ("blue", None, [])]
        for team, after, expected in cases:
            found = await SUBSCRIPTIONS.list_subscriptions(session, team=team, after=after, limit=9)
            assert [each.id for each in found] == expected
        assert len(await SUBSCRIPTIONS.list_subscriptions(session, team=None, after=None, limit=3)) == 3
        counts = [await SUBSCRIPTIONS.count_subscriptions(session, team=team) for team in (None, "red", "blue")]
        assert counts == [2, 2, 0]

    async def test_are_signed_by_the_old_secret_too_while_the_two_overlap(self, session: WriteSession):
        made, other = await _subscribe(session), await _subscribe(session)
        for number, overlap in enumerate((timedelta(hours=1), timedelta())):
            await SUBSCRIPTIONS.replace_secret(session, made.id, b"%d" % number, overlap=overlap)
            found = await SUBSCRIPTIONS.get_subscription(session, made.id, team=None)
            now = await _now(session)
            assert (found.sealed_secret, found.old_sealed_secret) == (b"%d" % number, b"s" if overlap else None)
            assert found.old_secret_until == (now + overlap if overlap else None)
            ends = now + overlap
            assert found.sealed_secrets(ends) == (b"%d" % number,)
            if overlap:
                assert found.sealed_secrets(ends - timedelta(microseconds=1)) == (b"0", b"s")
        assert await SUBSCRIPTIONS.get_subscription(session, other.id, team=None) == other

    async def test_take_only_their_own_deliveries_away_with_them(self, session: WriteSession):
        gone, kept = await _subscribe(session), await _subscribe(session)
        event_id = await _distributed(session)
        await SUBSCRIPTIONS.delete_subscription(session, gone.id)
        assert [await _events_of(session, each) for each in (gone, kept)] == [[], [event_id]]


class TestDepths:
    async def test_count_what_waits_from_the_first_on(self, session: WriteSession):
        to = await _subscribe(session)
        for minutes in (3, 5):
            event_id = await OUTBOX.add_event(session, OF_NO_TEAM, {})
            made = {"created_at": func.now() - timedelta(minutes=minutes)}
            await session.execute(
                update(EVENT_TABLES.events).where(EVENT_TABLES.events.c.id == event_id).values(**made)
            )
        deliveries = EVENT_TABLES.deliveries
        due = {"late": -timedelta(seconds=40), "leased": -timedelta(seconds=90), "later": timedelta(seconds=40)}
        for name, wait in due.items():
            event_id = await _distributed(session)
            leased = {"leased_until": func.now() + LEASE} if name == "leased" else {}
            of_event = update(deliveries).where(deliveries.c.event_id == event_id)
            await session.execute(of_event.values(next_attempt_at=func.now() + wait, **leased))
        outbox, queue = await read_event_queues(session, "conversations")
        assert (outbox.waiting, outbox.oldest_seconds, outbox.running) == (2, 300, None)
        assert (queue.waiting, queue.oldest_seconds, queue.running) == (1, 40, 1)
        assert await _events_of(session, to, DeliveryState.PENDING)
