"""The conformance probe: a short set of conversations that show whether a bot can take part, and how well.

The questions are fixed, so that two probes can be compared; only one word is random: the word by which the probe
notices that a bot keeps state. The heartbeat is the smallest probe: one real exchange of two turns.
"""

import asyncio
import itertools
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from spotthebot.bots.probes.domain.findings import (
    answers_in_turn,
    deterministic,
    is_silent,
    keeps_no_state,
    latency_of,
    only_the_reply,
    reachable,
    repeats_itself,
    replies_as_agreed,
    reply_not_cut,
    skipped,
    speed,
    unusual_context,
)
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.contracts.bots.probes import Finding, ProbeReport, Verdict
from spotthebot.contracts.bots.registry import Limits
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyOut
from spotthebot.kit.ids import new_id

Ask = Callable[[Context], Awaitable[ReplyOut]]
"""Asks the probed bot; never raises an error for the bot's behaviour."""

_PARTNER = (
    "Hello! How are you today?",
    "I went for a walk by the river this morning. What did you do?",
    "That sounds nice. Do you have a favourite season?",
    "I like autumn best, because of the colours. Do you cook?",
    "Yesterday I burned the soup. Well, I have to go. Goodbye!",
)
_QUESTION = "Which book did you read last, and did you like it?"
_UNUSUAL = {
    "empty_history": (),
    "long_history": tuple(f"This is line {n} of a long talk about trains, gardens and the weather." for n in range(61)),
    "emoji": ("I passed my exam! 🎉🥳 Feeling 💯, thanks for the 🍀👨‍👩‍👧‍👦",),
    "right_to_left": ("مرحبا، كيف حالك اليوم؟", "I am fine, thank you!", "מה אתה אוהב לאכול?"),
}


@dataclass
class _Probe:
    """A running probe: sends questions until its time is up, and keeps all replies."""

    ask_bot: Ask
    started_at: float
    at_most: float
    replies: list[ReplyOut] = field(default_factory=list)
    questions: int = 0
    limited: ReplyOut | None = None
    """The reply that ends the questions, because the bot's server limits requests."""

    async def ask(self, *turns: str, seed: int = 0) -> ReplyOut | None:
        """Ask for a reply; return None if no time is left, or the bot's server limits requests."""
        left = self.started_at + self.at_most - time.monotonic()
        if left <= 0 or self.limited is not None:
            return None
        self.questions += 1
        try:
            async with asyncio.timeout(left):
                reply = await self.ask_bot(Context(turns, seed, conversation_id=new_id(), domain=None))
        except TimeoutError:
            return None
        if reply.failure is ReplyFailure.RATE_LIMITED:
            self.limited = reply
            return None
        self.replies.append(reply)
        return reply

    @property
    def was_put_off(self) -> bool:
        """Whether the rate limit came before the first reply, so that the probe found nothing."""
        return self.limited is not None and not self.replies

    def seconds(self, first: ReplyOut | None) -> float | None:
        """Return the seconds that the probe took; None if the bot was silent.

        For a silent bot, the time would reveal whether a port is closed or only does not answer.
        """
        return None if is_silent(first) and not self.was_put_off else time.monotonic() - self.started_at


SAMPLES_OF_OUR_MODELS = 150
"""Replies that a probe samples from a model that the suite runs itself, all asked at once and so in batches.

A fault in 2 % of the replies, such as a sampled control character, is missed with probability 0.98^150 = 0.048. The
other questions alone, at most 17, would miss it with probability 0.98^17 = 0.71.
"""


async def probe(
    ask: Ask, limits: Limits, *, seconds: float, samples: int = 0, names_causes: bool = False
) -> ProbeReport:
    """Ask a bot at most 17 questions, and `samples` more at once with a seed each; report within `seconds`.

    Checks for which no time is left are skipped. Latencies are of the 17 questions, which wait for no others. With
    `names_causes` the report says why a bot is silent.
    """
    running = _Probe(ask, time.monotonic(), seconds)
    first = await running.ask(_PARTNER[0])
    findings = [reachable(first, running.limited, names_causes=names_causes)]
    is_deterministic: bool | None = None
    if findings[0].verdict is Verdict.PASSED:
        talk = await _talk(running)
        is_deterministic, twice = await _asked_twice(running)
        state = await _interleaved(running, known=twice[0] if is_deterministic else None)
        usual = list(running.replies)
        unusual = await asyncio.gather(*(running.ask(*turns) for turns in _UNUSUAL.values()))
        timed = list(running.replies)
        sampled = await asyncio.gather(*(running.ask(_PARTNER[seed % 5], seed=seed) for seed in range(1, samples + 1)))
        usual += [reply for reply in sampled if reply is not None]
        findings += [
            answers_in_turn(talk, len(_PARTNER), running.limited),
            *replies_as_agreed(usual, limits),
            only_the_reply(running.replies),
            reply_not_cut(running.replies),
            state,
            *(unusual_context(check, reply) for check, reply in zip(_UNUSUAL, unusual, strict=True)),
            repeats_itself([reply.text for reply in talk if reply.text is not None]),
            deterministic(twice),
            speed(timed, limits),
        ]
    else:
        timed = running.replies
        findings += [skipped(check, "The first question got no reply.") for check in _AFTER_THE_FIRST]
    return ProbeReport(
        passed=not running.was_put_off and all(finding.verdict is not Verdict.FAILED for finding in findings),
        findings=tuple(findings),
        latency=latency_of(timed),
        deterministic=is_deterministic,
        questions=running.questions,
        seconds=running.seconds(first),
        put_off=running.was_put_off,
    )


async def heartbeat(ask: Ask, *, seconds: float) -> ProbeReport:
    """Hold one exchange of two turns, which shows only whether the bot answers."""
    running = _Probe(ask, time.monotonic(), seconds)
    first = await running.ask(_PARTNER[0])
    findings = [reachable(first, running.limited)]
    if first is not None and findings[0].verdict is Verdict.PASSED:  # it answers, but perhaps not usefully
        second = await running.ask(_PARTNER[0], first.text, _PARTNER[1]) if first.text is not None else None
        talk = [reply for reply in (first, second) if reply is not None]
        findings.append(answers_in_turn(talk, 2, running.limited))
    return ProbeReport(
        passed=not running.was_put_off and all(finding.verdict is not Verdict.FAILED for finding in findings),
        findings=tuple(findings),
        latency=latency_of(running.replies),
        deterministic=None,
        questions=running.questions,
        seconds=running.seconds(first),
        put_off=running.was_put_off,
    )


async def _talk(running: _Probe) -> list[ReplyOut]:
    turns: list[str] = []
    replies: list[ReplyOut] = []
    for line in _PARTNER:
        turns.append(line)
        reply = await running.ask(*turns)
        if reply is None:
            break
        replies.append(reply)
        if reply.text is None:
            break
        turns.append(reply.text)
    return replies


async def _asked_twice(running: _Probe) -> tuple[bool | None, list[ReplyOut]]:
    asked = [await running.ask(_QUESTION), await running.ask(_QUESTION)]
    replies = [reply for reply in asked if reply is not None]
    texts = {reply.text for reply in replies}
    if len(replies) < 2 or None in texts:
        return None, replies
    return len(texts) == 1, replies


async def _interleaved(running: _Probe, known: ReplyOut | None) -> Finding:
    """Say a word in one conversation, and ask for the word in others. A bot that knows the word there keeps state."""
    marker = f"Quill{secrets.token_hex(4)}"
    introduction = f"I just got a dog, and I called it {marker}."
    turns: list[str] = [introduction]
    leaks = 0
    strangers: list[ReplyOut] = []
    for line in itertools.islice(_PARTNER, 1, 3):
        mine = await running.ask(*turns)
        other = await running.ask("Hi!", "Hello!", "What did I call my dog? Say the name.")
        if mine is None or other is None:
            break
        strangers.append(other)
        leaks += marker.lower() in (other.text or "").lower()
        if mine.text is None:
            break
        turns += [mine.text, line]
    again = await running.ask(_QUESTION) if known is not None else None
    return keeps_no_state(strangers, leaks, known, again)


_AFTER_THE_FIRST = (
    "answers_in_turn",
    "reply_not_empty",
    "reply_not_too_long",
    "valid_text",
    "only_the_reply",
    "reply_not_cut",
    "keeps_no_state",
    *_UNUSUAL,
    "repeats_itself",
    "deterministic",
    "latency",
)
