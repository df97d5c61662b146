"""The client of one bot version: asks within the bot's limits, retries, and opens the circuit of a failing bot."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from spotthebot.bots.domain.circuit import Circuit
from spotthebot.bots.domain.dialogue import Context
from spotthebot.bots.domain.replies import COUNTS_AGAINST, Fault, Reply, accepted
from spotthebot.bots.domain.retries import MAX_ATTEMPTS, RetryBudget, backoff_seconds
from spotthebot.bots.domain.token_bucket import TokenBucket
from spotthebot.bots.protocols.speaker import Speaker
from spotthebot.contracts.bots import Limits, ReplyFailure
from spotthebot.kit.tracing import span, span_of


@dataclass
class BotClient:
    """Asks one version of a bot, in this process. `version_key` names the version in idempotency keys."""

    version_key: str
    speaker: Speaker
    limits: Limits
    on_open: Callable[[str], Awaitable[None]]
    """Runs with the last failure's detail when the circuit opens."""

    def __post_init__(self) -> None:
        self.circuit = Circuit()
        self._slots = asyncio.Semaphore(self.limits.concurrency)
        self._bucket = TokenBucket(self.limits.requests_per_minute)
        self._budget = RetryBudget()

    async def replies(self, contexts: Sequence[Context]) -> list[Reply]:
        """Ask for one reply to each context and return them in order; a failed one delays no other."""
        if len(contexts) == 1:
            return [await self.reply(contexts[0])]
        return list(await asyncio.gather(*map(self.reply, contexts)))

    async def reply(self, context: Context) -> Reply:
        """Ask, with retries, within the bot's time-out; waiting for a concurrency slot does not count."""
        async with self._slots:
            if self.circuit.is_open:
                return not_asked(
                    ReplyFailure.CIRCUIT_OPEN, "The bot failed repeatedly: it is asked again after a probe."
                )
            started = time.monotonic()
            wait = self._bucket.wait_seconds(started, self.limits.timeout_seconds)
            if wait is None:
                return not_asked(ReplyFailure.RATE_LIMITED, "The bot's requests per minute are used up.")
            if wait:
                await asyncio.sleep(wait)
            return await self._ask(context, context.key(self.version_key) or secrets.token_hex(16))

    async def _ask(self, context: Context, key: str) -> Reply:
        started = time.perf_counter()
        deadline = started + self.limits.timeout_seconds
        attempts = 0
        while True:
            attempts += 1
            try:
                with self._span(context, attempts):
                    text = await self._within(deadline - time.perf_counter(), self.speaker.ask(context, key))
                text = accepted(text, self.limits.longest_reply_characters)
            except Fault as fault:
                wait = self._wait_before_retry(fault, attempts, deadline - time.perf_counter())
                if wait is not None:
                    await asyncio.sleep(wait)
                    continue
                await self._count(fault)
                return Reply(None, fault.failure, fault.detail, attempts, _milliseconds_since(started))
            self.circuit.succeeded()
            self._budget.earn()
            return Reply(text, None, None, attempts, _milliseconds_since(started))

    def _span(self, context: Context, attempt: int) -> AbstractContextManager[object]:
        attributes: dict[str, str | int] = {
            "bot": self.version_key,
            "turns_before": len(context.turns),
            "attempt": attempt,
        }
        if context.conversation_id is None:
            return span("ask bot", attributes)
        return span_of(context.conversation_id, "ask bot", attributes)

    async def _within(self, seconds: float, answer: Awaitable[str]) -> str:
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            detail = f"No reply within {self.limits.timeout_seconds:g} s."
            raise Fault(ReplyFailure.TIMEOUT, detail) from None

    def _wait_before_retry(self, fault: Fault, attempts: int, seconds_left: float) -> float | None:
        if not fault.transient or attempts >= MAX_ATTEMPTS or self.circuit.is_open:
            return None
        wait = fault.retry_after_seconds
        if wait is None:
            wait = backoff_seconds(attempts)
        return wait if wait < seconds_left and self._budget.spend() else None

    async def _count(self, fault: Fault) -> None:
        if fault.failure not in COUNTS_AGAINST:
            self.circuit.succeeded()
        elif self.circuit.failed():
            await self.on_open(fault.detail)


def not_asked(failure: ReplyFailure, detail: str) -> Reply:
    """Return the reply for a bot that got no request."""
    return Reply(None, failure, detail, 0, 0.0)


def _milliseconds_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
