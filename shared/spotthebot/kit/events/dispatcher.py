"""Delivers events to subscribers. Each event arrives at least once, and no subscriber slows down another.

The deliveries are a queue in a table of their own. In a queue of jobs one subscriber would delay the others. A job that
waits a day for its next attempt holds back all later jobs with the same lock, and hanging jobs fill a worker.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from spotthebot.kit.crypto.vault import Unreadable
from spotthebot.kit.database.sessions import DATABASE_TROUBLE, Database
from spotthebot.kit.events.domain import GONE, AttemptOutcome, ClaimedDelivery, Event
from spotthebot.kit.events.errors import TeamLookupFailed
from spotthebot.kit.events.settings import EventSettings
from spotthebot.kit.events.signer import EventSigner, message_body
from spotthebot.kit.events.store.event_store import EventStore
from spotthebot.kit.outbound.errors import CallFailed
from spotthebot.kit.outbound.owners import HttpByOwner
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.telemetry.tracing import linked_trace
from spotthebot.kit.waits.cancellation import pause, raise_if_cancelled
from spotthebot.kit.waits.clock import Clock, system_clock

_MAX_ANSWER_BYTES = 16 * 1024
_MAX_ATTEMPTS_UNDER_WAY = 256
_EVENTS_PER_BATCH = 200
_PURGED_PER_BATCH = 1000
_PURGE_SECONDS = 600.0
_TEAM_LOOKUP_SECONDS = 5.0

_log = get_logger(__name__)

FindTeam = Callable[[Event], Awaitable[str | None]]
"""Returns the team that an event belongs to, None for the operator; raises TeamLookupFailed."""


@dataclass(frozen=True)
class DeliverySchedule:
    """When attempts are made, how many run at once for one subscriber, and how long events are kept."""

    waits_seconds: Sequence[float]
    timeout_seconds: float
    max_at_once: int
    poll_seconds: float
    retention: timedelta


class EventDispatcher:
    """Delivers the events of one service. Any number of dispatchers share the work."""

    def __init__(
        self,
        database: Database,
        store: EventStore,
        signer: EventSigner,
        http: HttpByOwner,
        find_team: FindTeam,
        schedule: DeliverySchedule,
        clock: Clock = system_clock,
    ) -> None:
        self._database = database
        self._store = store
        self._signer = signer
        self._http = http
        self._find_team = find_team
        self._schedule = schedule
        self._clock = clock
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Deliver until cancelled. If an attempt is interrupted by this, another dispatcher repeats it."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._repeat(self._distribute, self._schedule.poll_seconds))
            group.create_task(self._deliver())
            group.create_task(self._repeat(self.purge, _PURGE_SECONDS))

    async def purge(self) -> None:
        """Delete distributed events that are older than the retention, and their deliveries, batch by batch."""
        before = self._clock() - self._schedule.retention
        while True:
            async with self._database.write() as session:
                purged = await self._store.outbox.purge(session, before=before, limit=_PURGED_PER_BATCH)
            if purged:
                _log.info("events.purged", events=purged)
            if purged < _PURGED_PER_BATCH:
                return

    async def _repeat(self, step: Callable[[], Awaitable[None]], seconds: float) -> None:
        while True:
            try:
                await step()
            except DATABASE_TROUBLE as error:
                _log.warning("dispatcher.waits", error=type(error).__name__)
            await pause(seconds)

    async def _distribute(self) -> None:
        """Create the deliveries of all new events. After that, give positions to all distributed events.

        If the team of an event can't be found now, the event waits for the next round.
        """
        if not await self._store.outbox.has_new_events(self._database):  # as nearly always
            return
        after: UUID | None = None
        teams_answer = True
        while True:
            async with self._database.read() as session:
                events = await self._store.outbox.list_new_events(session, after=after, limit=_EVENTS_PER_BATCH)
            for event in events:
                team = None
                if event.type in self._store.catalogue.for_teams:
                    if not teams_answer:
                        continue
                    try:
                        async with asyncio.timeout(_TEAM_LOOKUP_SECONDS):
                            team = await self._find_team(event)
                    except (TeamLookupFailed, TimeoutError):
                        teams_answer = False
                        _log.warning("events.wait", event_type=event.type, reason="its team can't be found")
                        continue
                async with self._database.write() as session:
                    await self._store.outbox.distribute(session, event, team=team)
                self._wake.set()
            async with self._database.write() as session:
                await self._store.outbox.number_events(session)
            if len(events) < _EVENTS_PER_BATCH:
                return
            after = events[-1].id

    async def _deliver(self) -> None:
        under_way: set[asyncio.Task[None]] = set()

        def ended(task: asyncio.Task[None]) -> None:
            under_way.discard(task)
            self._wake.set()

        try:
            while True:
                raise_if_cancelled()
                self._wake.clear()
                for claimed in await self._claim(_MAX_ATTEMPTS_UNDER_WAY - len(under_way)):
                    task = asyncio.create_task(self._attempt(claimed))
                    under_way.add(task)
                    task.add_done_callback(ended)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._schedule.poll_seconds):
                        await self._wake.wait()
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _claim(self, limit: int) -> list[ClaimedDelivery]:
        if limit <= 0:
            return []
        # Twice the time of an attempt: by then its outcome is written, or its dispatcher is dead.
        lease = timedelta(seconds=2 * self._schedule.timeout_seconds)
        try:
            if not await self._store.deliveries.has_due(self._database):  # as nearly always
                return []
            async with self._database.write() as session:
                return await self._store.deliveries.claim_due(
                    session, limit=limit, limit_each=self._schedule.max_at_once, lease=lease
                )
        except DATABASE_TROUBLE as error:
            _log.warning("dispatcher.waits", error=type(error).__name__)
            return []

    async def _attempt(self, claimed: ClaimedDelivery) -> None:
        """Attempt a delivery in a trace of its own. The subscriber receives no trace headers."""
        attributes: dict[str, str | int] = {"event_type": claimed.event.type, "attempt": claimed.attempts}
        with linked_trace("deliver event", attributes, claimed.event.trace):
            outcome = await self._send(claimed)
            try:
                await self._record(claimed, outcome)
            except DATABASE_TROUBLE as error:  # the attempt is repeated when its lease ends
                reason = type(error).__name__
                _log.warning("delivery.not_recorded", delivery=str(claimed.delivery_id), error=reason)

    async def _record(self, claimed: ClaimedDelivery, outcome: AttemptOutcome) -> None:
        wait = outcome.wait_before_retry(claimed.attempts, self._schedule.waits_seconds)
        async with self._database.write() as session:
            recorded = await self._store.deliveries.record_outcome(session, claimed, outcome, wait=wait)
            if recorded and outcome.status == GONE:
                await self._store.subscriptions.change_subscription(
                    session, claimed.subscription.id, active=False, inactive_reason="Its URL answered 410 (gone)."
                )

    async def _send(self, claimed: ClaimedDelivery) -> AttemptOutcome:
        event, subscription = claimed.event, claimed.subscription
        body = message_body(event, self._store.catalogue.visible_data(event, subscription.team))
        try:
            signed = self._signer.signed_headers(event, body, subscription, self._clock())
        except Unreadable:
            return AttemptOutcome(None, "The signing secret can't be decrypted: rotate it.")
        headers = {"Content-Type": "application/json"} | signed
        try:
            async with asyncio.timeout(self._schedule.timeout_seconds):
                answer = await self._http.of(subscription.team).post(
                    subscription.url, body, headers, largest=_MAX_ANSWER_BYTES
                )
        except TimeoutError:
            return AttemptOutcome(None, f"There was no whole answer within {self._schedule.timeout_seconds:g} s.")
        except CallFailed as failed:
            if failed.status is not None and 200 <= failed.status < 300:
                return AttemptOutcome(failed.status, None)  # only the body is wrong, and nobody reads it
            return AttemptOutcome(failed.status, failed.detail, failed.retry_after_seconds)
        return AttemptOutcome(answer.status, None)


def dispatcher_of(
    settings: EventSettings, database: Database, store: EventStore, find_team: FindTeam, http: HttpByOwner
) -> EventDispatcher:
    """Return the dispatcher of a service with these settings."""
    schedule = DeliverySchedule(
        waits_seconds=settings.delivery_waits_seconds,
        timeout_seconds=settings.delivery_timeout_seconds,
        max_at_once=settings.deliveries_at_once,
        poll_seconds=settings.delivery_poll_seconds,
        retention=timedelta(days=settings.event_retention_days),
    )
    return EventDispatcher(database, store, EventSigner(settings.open_vault()), http, find_team, schedule)
