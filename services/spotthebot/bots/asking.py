"""Asking a bot under its limits: how many at once, how often, how long, how many times again, and when no more."""

import asyncio
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from spotthebot.bots.domain.dialogue import Context
from spotthebot.bots.domain.replies import COUNTS_AGAINST, Fault, Reply, accepted
from spotthebot.bots.domain.restraint import Circuit, Pace, RetryBudget
from spotthebot.bots.protocols.speaker import Speaker
from spotthebot.contracts.bots import Limits, ReplyFailure

MAX_ATTEMPTS = 4
_FIRST_WAIT_SECONDS = 0.1
_jitter = random.SystemRandom()


@dataclass
class Line:
    """The way to one version of a bot, in this process. `asked` names the version in idempotency keys."""

    asked: str
    speaker: Speaker
    limits: Limits
    on_open: Callable[[str], Awaitable[None]]

    def __post_init__(self) -> None:
        self.circuit = Circuit()
        self._places = asyncio.Semaphore(self.limits.concurrency)
        self._pace = Pace(self.limits.requests_per_minute)
        self._budget = RetryBudget()

    async def replies(self, contexts: Sequence[Context]) -> list[Reply]:
        """Ask for one reply to each context; results come in order, and no failure holds up another context."""
        if len(contexts) == 1:
            return [await self.reply(contexts[0])]
        return list(await asyncio.gather(*map(self.reply, contexts)))

    async def reply(self, context: Context) -> Reply:
        """Ask once, and again where that may help, within the bot's time-out. Waiting for a place does not count."""
        async with self._places:
            if self.circuit.is_open:
                return not_asked(
                    ReplyFailure.CIRCUIT_OPEN, "The bot failed repeatedly: it is asked again after a probe."
                )
            started = time.monotonic()
            wait = self._pace.wait_seconds(started, self.limits.timeout_seconds)
            if wait is None:
                return not_asked(ReplyFailure.RATE_LIMITED, "The bot's requests per minute are used up.")
            if wait:
                await asyncio.sleep(wait)
            return await self._ask(context, context.key(self.asked) or secrets.token_hex(16))

    async def _ask(self, context: Context, key: str) -> Reply:
        started = time.perf_counter()
        deadline = started + self.limits.timeout_seconds
        attempts = 0
        while True:
            attempts += 1
            try:
                said = await self._within(deadline - time.perf_counter(), self.speaker.ask(context, key))
                text = accepted(said, self.limits.longest_reply_characters)
            except Fault as fault:
                wait = self._wait_before_another(fault, attempts, deadline - time.perf_counter())
                if wait is not None:
                    await asyncio.sleep(wait)
                    continue
                await self._count(fault)
                return Reply(None, fault.failure, fault.detail, attempts, _since(started))
            self.circuit.succeeded()
            self._budget.earn()
            return Reply(text, None, None, attempts, _since(started))

    async def _within(self, seconds: float, asking: Awaitable[str]) -> str:
        try:
            async with asyncio.timeout(seconds):
                return await asking
        except TimeoutError:
            detail = f"No reply within {self.limits.timeout_seconds:g} s."
            raise Fault(ReplyFailure.TIMEOUT, detail) from None

    def _wait_before_another(self, fault: Fault, attempts: int, seconds_left: float) -> float | None:
        if not fault.transient or attempts >= MAX_ATTEMPTS or self.circuit.is_open:
            return None
        wait = fault.retry_after_seconds
        if wait is None:
            wait = _jitter.uniform(0.5, 1.0) * _FIRST_WAIT_SECONDS * 2.0 ** (attempts - 1)
        return wait if wait < seconds_left and self._budget.spend() else None

    async def _count(self, fault: Fault) -> None:
        if fault.failure not in COUNTS_AGAINST:
            self.circuit.succeeded()
        elif self.circuit.failed():
            await self.on_open(fault.detail)


def not_asked(failure: ReplyFailure, detail: str) -> Reply:
    """Return the reply of a bot that was not asked at all."""
    return Reply(None, failure, detail, 0, 0.0)


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
