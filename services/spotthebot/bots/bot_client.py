"""The client of one bot version: sends requests within the bot's limits, retries, and opens the bot's circuit."""

import asyncio
import math
import secrets
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from spotthebot.bots.protocols.speaker import Speaker
from spotthebot.bots.questions.domain.circuit import Circuit
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.bots.questions.domain.pauses import Pause
from spotthebot.bots.questions.domain.replies import COUNTS_AGAINST, Fault, accepted
from spotthebot.bots.questions.domain.request_rate import request_bucket
from spotthebot.bots.questions.domain.retries import MAX_ATTEMPTS, RetryBudget, backoff_seconds
from spotthebot.contracts.bots.protocols import Cleaning
from spotthebot.contracts.bots.registry import Limits
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyOut
from spotthebot.kit.errors import Conflict, Error, Invalid
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.telemetry.tracing import span

_log = get_logger(__name__)


@dataclass
class BotClient:
    """Sends requests to one version of a bot, for this process; `version_key` names the version in idempotency keys."""

    version_key: str
    speaker: Speaker
    limits: Limits
    on_open: Callable[[str], Awaitable[None]]
    """Runs with the last failure's detail when the circuit opens."""
    cleaning: Cleaning | None = None
    """How to treat text that is not part of a reply; None does not look for it."""
    on_pause: Callable[[float], Awaitable[None]] | None = None
    """Runs with the number of seconds of a pause that the bot's server requests (`Retry-After`)."""

    def __post_init__(self) -> None:
        self.circuit = Circuit()
        self.pause = Pause()
        self._first = asyncio.Lock()
        """Held by the single request that finds out whether a rate limit still holds."""
        self._slots = asyncio.Semaphore(self.limits.concurrency)
        self._bucket = request_bucket(self.limits.requests_per_minute)
        self._budget = RetryBudget()

    async def replies(self, contexts: Sequence[Context]) -> list[ReplyOut]:
        """Ask for a reply to each context, and return the replies in order; a failed reply delays no other reply."""
        if len(contexts) == 1:
            return [await self.reply(contexts[0])]
        return list(await asyncio.gather(*map(self.reply, contexts)))

    async def reply(self, context: Context) -> ReplyOut:
        """Ask for a reply, with retries, within the bot's time-out; a wait for a concurrency slot does not count."""
        async with self._slots:
            if self.circuit.is_open:
                return ReplyOut.failed(
                    ReplyFailure.CIRCUIT_OPEN, "The bot failed repeatedly: it is asked again after a probe."
                )
            while self.pause.in_doubt and self._first.locked():
                async with self._first:
                    pass
                if self.pause.left(time.monotonic()):
                    return self._not_asked_in_pause()
            async with self._first if self.pause.in_doubt else nullcontext():
                return await self._reply(context)

    async def _reply(self, context: Context) -> ReplyOut:
        started = time.monotonic()
        left = self.pause.left(started)
        if left > self.limits.timeout_seconds:
            return self._not_asked_in_pause()
        wait = self._bucket.take(started, self.limits.timeout_seconds)
        if wait is None:
            return ReplyOut.failed(ReplyFailure.RATE_LIMITED, "The bot's requests per minute are used up.")
        if (longer := max(wait, left)) > 0:
            await asyncio.sleep(longer)
        return await self._ask(context, context.key(self.version_key) or secrets.token_hex(16))

    def _not_asked_in_pause(self) -> ReplyOut:
        left = self.pause.left(time.monotonic())
        detail = f"The bot's server limits requests: it is asked again in {math.ceil(left)} s."
        return ReplyOut.failed(ReplyFailure.RATE_LIMITED, detail, retry_after_seconds=left)

    async def _ask(self, context: Context, key: str) -> ReplyOut:
        started = time.perf_counter()
        deadline = started + self.limits.timeout_seconds
        attempts = 0
        while True:
            attempts += 1
            try:
                with self._span(context, attempts):
                    reply = await self._attempt(context, key, deadline - time.perf_counter())
            except Fault as fault:
                paused = await self._pause_after(fault)
                wait = self._wait_before_retry(fault, attempts, deadline - time.perf_counter())
                if wait is not None:
                    await asyncio.sleep(wait)
                    continue
                await self._count(fault)
                return ReplyOut.failed(
                    fault.failure,
                    fault.detail,
                    attempts=attempts,
                    latency_ms=_milliseconds_since(started),
                    retry_after_seconds=paused,
                )
            self.circuit.succeeded()
            self.pause.answered(is_reply=True)
            self._budget.earn()
            return reply.model_copy(update={"attempts": attempts, "latency_ms": _milliseconds_since(started)})

    async def _attempt(self, context: Context, key: str, seconds: float) -> ReplyOut:
        """Ask for a reply once. Raises Fault for every failure, so that a bot's failure fails only this context.

        Raises Conflict or Invalid for a version that can't be asked any more.
        """
        try:
            said = await self._within(seconds, self.speaker.ask(context, key))
            return accepted(said, self.limits.longest_reply_characters, self.cleaning)
        except (Fault, Conflict, Invalid):
            raise
        except Error as error:  # our own service or model does not answer
            raise Fault(ReplyFailure.UNREACHABLE, error.detail, transient=True) from error
        except Exception as error:  # an unexpected answer, which may be in the error's text
            _log.warning("bot.answer_unreadable", bot=self.version_key, error=type(error).__name__, at=_place(error))
            detail = f"The answer can't be read ({type(error).__name__})."
            raise Fault(ReplyFailure.INVALID, detail) from error

    async def _pause_after(self, fault: Fault) -> float | None:
        """Begin the pause that a bot's server requests with a fault, and return its seconds; None without a pause."""
        now, seconds = time.monotonic(), fault.retry_after_seconds
        if fault.failure is ReplyFailure.RATE_LIMITED:
            self.pause.in_doubt = True
        else:
            self.pause.answered(is_reply=False)
        if seconds is None and fault.failure is ReplyFailure.RATE_LIMITED:
            seconds = self.pause.unnamed_seconds(now)
        if seconds and self.pause.begin(now, seconds) and self.on_pause is not None:
            await self.on_pause(seconds)
        return seconds

    def _span(self, context: Context, attempt: int) -> AbstractContextManager[object]:
        attributes: dict[str, str | int] = {
            "bot": self.version_key,
            "turns_before": len(context.turns),
            "attempt": attempt,
        }
        if context.conversation_id is not None:
            attributes["conversation.id"] = str(context.conversation_id)
        return span("ask bot", attributes)

    async def _within(self, seconds: float, answer: Awaitable[ReplyOut]) -> ReplyOut:
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            detail = f"No reply within {self.limits.timeout_seconds:g} s."
            raise Fault(ReplyFailure.TIMEOUT, detail) from None

    def _wait_before_retry(self, fault: Fault, attempts: int, seconds_left: float) -> float | None:
        if not fault.transient or attempts >= MAX_ATTEMPTS or self.circuit.is_open:
            return None
        wait = backoff_seconds(attempts) if fault.retry_after_seconds is None else fault.retry_after_seconds
        wait = max(wait, self.pause.left(time.monotonic()))
        return wait if wait < seconds_left and self._budget.spend() else None

    async def _count(self, fault: Fault) -> None:
        if fault.failure not in COUNTS_AGAINST:
            self.circuit.succeeded()
        elif self.circuit.failed():
            await self.on_open(fault.detail)


def _place(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno}"


def _milliseconds_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
