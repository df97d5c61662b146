"""Delivering events to subscribers: at least once, each subscriber at its own pace.

The deliveries are a queue in their own table. A queue of jobs would make one subscriber wait for another: a job that
waits for its next attempt, a day away, keeps back all later ones under its lock, and hanging ones fill a worker.
"""

import asyncio
import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from spotthebot.conversations import store
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.domain.errors import UnknownBot
from spotthebot.conversations.domain.events import GONE, Event, Outcome, wait_before_next
from spotthebot.conversations.store.deliveries import Claimed
from spotthebot.kit.client import PeerRefused, PeerUnavailable
from spotthebot.kit.database import DATABASE_TROUBLE, Database
from spotthebot.kit.logs import get_logger
from spotthebot.kit.outbound import CallFailed, GuardedHttp
from spotthebot.kit.signing import signed_headers
from spotthebot.kit.vault import Unreadable, Vault

_LARGEST_ANSWER = 16 * 1024
_AT_ONCE = 256
_EVENTS_AT_ONCE = 200
_TEAM_SECONDS = 5.0

_log = get_logger(__name__)


@dataclass(frozen=True)
class Schedule:
    """When and how long is tried: the waits between attempts, and how many of a subscriber are made at once."""

    waits_seconds: Sequence[float]
    timeout_seconds: float
    at_once: int
    poll_seconds: float


class Courier:
    """Takes events from the outbox to subscribers, beside any number of others that do the same."""

    def __init__(self, database: Database, bots: Bots, http: GuardedHttp, vault: Vault, schedule: Schedule) -> None:
        self._database = database
        self._bots = bots
        self._http = http
        self._vault = vault
        self._schedule = schedule
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Deliver until cancelled; attempts that are under way then are made again by whoever runs next."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._distribute())
            group.create_task(self._deliver())

    async def _distribute(self) -> None:
        while True:
            try:
                await self._distribute_new()
            except DATABASE_TROUBLE as error:
                _log.warning("courier.waits", error=type(error).__name__)
            await asyncio.sleep(self._schedule.poll_seconds)

    async def _distribute_new(self) -> None:
        after: UUID | None = None
        bots_answer = True
        while True:
            async with self._database.read() as session:
                events = await store.outbox.list_new_events(session, after=after, limit=_EVENTS_AT_ONCE)
            for event in events:
                if event.bot_id is not None and not bots_answer:
                    continue
                try:
                    team = await self._team(event)
                except (PeerUnavailable, PeerRefused, TimeoutError):
                    bots_answer = False
                    _log.warning("events.wait", event_type=event.type, reason="nobody says whose the bot is")
                    continue
                async with self._database.write() as session:
                    await store.outbox.distribute(session, event, team=team)
                self._wake.set()
            if len(events) < _EVENTS_AT_ONCE:
                return
            after = events[-1].id

    async def _team(self, event: Event) -> str | None:
        if event.bot_id is None:
            return None
        try:
            async with asyncio.timeout(_TEAM_SECONDS):
                return (await self._bots.recall(event.bot_id)).team
        except UnknownBot:
            return None

    async def _deliver(self) -> None:
        under_way: set[asyncio.Task[None]] = set()

        def ended(task: asyncio.Task[None]) -> None:
            under_way.discard(task)
            self._wake.set()

        try:
            while True:
                self._wake.clear()
                for claimed in await self._claim(_AT_ONCE - len(under_way)):
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

    async def _claim(self, most: int) -> list[Claimed]:
        if most <= 0:
            return []
        # As long again as an attempt may take: by then its outcome is kept, or whoever made it is dead.
        held = timedelta(seconds=2 * self._schedule.timeout_seconds)
        try:
            async with self._database.write() as session:
                return await store.deliveries.claim(session, most=most, max_each=self._schedule.at_once, held=held)
        except DATABASE_TROUBLE as error:
            _log.warning("courier.waits", error=type(error).__name__)
            return []

    async def _attempt(self, claimed: Claimed) -> None:
        outcome = await self._send(claimed)
        wait = wait_before_next(outcome, claimed.attempts, self._schedule.waits_seconds)
        try:
            async with self._database.write() as session:
                kept = await store.deliveries.record(session, claimed, outcome, wait=wait)
                if kept and outcome.status == GONE:
                    await store.subscriptions.change_subscription(
                        session, claimed.subscription.id, active=False, inactive_reason="Its URL answered 410 (gone)."
                    )
        except DATABASE_TROUBLE as error:  # it is made again when it is held no longer
            _log.warning("delivery.not_kept", delivery=str(claimed.delivery_id), error=type(error).__name__)

    async def _send(self, claimed: Claimed) -> Outcome:
        event, subscription = claimed.event, claimed.subscription
        now = datetime.now(UTC)
        body = payload(event, subscription.team)
        try:
            secrets = [self._vault.open(each) for each in subscription.sealed_secrets(now)]
        except Unreadable:
            return Outcome(None, "The signing secret can't be decrypted: rotate it.")
        headers = {"Content-Type": "application/json"} | signed_headers(f"evt_{event.id.hex}", now, body, secrets)
        try:
            async with asyncio.timeout(self._schedule.timeout_seconds):
                answer = await self._http.post(subscription.url, body, headers, largest=_LARGEST_ANSWER)
        except TimeoutError:
            return Outcome(None, f"There was no whole answer within {self._schedule.timeout_seconds:g} s.")
        except CallFailed as failed:
            if failed.status is not None and 200 <= failed.status < 300:
                return Outcome(failed.status, None)  # what is wrong is in the body, which nobody needs
            return Outcome(failed.status, failed.detail, failed.retry_after_seconds)
        return Outcome(answer.status, None)


def payload(event: Event, team: str | None) -> bytes:
    """Return the body that a team, or the operator (None), is sent: the same bytes at each attempt."""
    told = {"type": event.type, "timestamp": event.created_at.astimezone(UTC).isoformat(), "data": event.told(team)}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
