"""The probe on its own: its findings on slow, random and stateful bots."""

import asyncio
from collections.abc import Callable

import pytest

from spotthebot.bots.probes.domain.conformance import SAMPLES_OF_OUR_MODELS, heartbeat, probe
from spotthebot.bots.probes.domain.findings import latency_of
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.contracts.bots.probes import Finding, ProbeReport, Verdict
from spotthebot.contracts.bots.registry import Limits
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyOut

Say = Callable[[Context], str]


def _said(text: str, milliseconds: float = 1.0) -> ReplyOut:
    return ReplyOut.said(text, latency_ms=milliseconds)


async def _probe(say: Say, *, seconds: float = 5.0, delay: float = 0.0) -> ProbeReport:
    async def ask(context: Context) -> ReplyOut:
        await asyncio.sleep(delay)
        return _said(say(context), delay * 1000)

    return await probe(ask, Limits(timeout_seconds=1.0), seconds=seconds)


def _finding(report: ProbeReport, check: str) -> Finding:
    return next(each for each in report.findings if each.check == check)


def _echo(context: Context) -> str:
    return f"You said {context.turns[-1][:30] if context.turns else 'nothing'} ({len(context.turns)})."


class TestProbe:
    async def test_skips_checks_without_time(self):
        report = await _probe(_echo, seconds=0.35, delay=0.1)
        assert _finding(report, "reachable").verdict is Verdict.PASSED
        assert _finding(report, "answers_in_turn").verdict is Verdict.FAILED
        assert "before the probe's time was up" in _finding(report, "answers_in_turn").detail
        assert _finding(report, "emoji").verdict is Verdict.SKIPPED
        assert report.seconds is not None
        assert report.seconds < 1.0

    async def test_warns_of_a_bot_near_its_time_out(self):
        async def ask(context: Context) -> ReplyOut:
            return _said(_echo(context), 600.0)

        report = await probe(ask, Limits(timeout_seconds=1.0), seconds=5.0)
        assert _finding(report, "latency").verdict is Verdict.WARNED
        assert report.passed

    async def test_warns_of_a_bot_that_counts_its_questions(self):
        """Asked twice in a row it says the same; after other conversations it does not."""
        conversations: list[object] = []

        def counts(context: Context) -> str:
            if context.turns[-1:] != ("Which book did you read last, and did you like it?",):
                conversations.append(context)
            return f"I remember {len(conversations)} conversations, among them {context.turns[-1:]}."

        report = await _probe(counts)
        assert _finding(report, "keeps_no_state").verdict is Verdict.WARNED
        assert report.deterministic is True

    async def test_asks_a_failing_bot_one_question(self):
        asked = 0

        async def ask(_context: Context) -> ReplyOut:
            nonlocal asked
            asked += 1
            return ReplyOut.failed(ReplyFailure.HTTP_ERROR, "It answered 500.", attempts=1, latency_ms=1.0)

        report = await probe(ask, Limits(), seconds=5.0)
        assert asked == 1
        assert report.passed is False
        assert report.latency is None
        assert report.deterministic is None
        assert {each.verdict for each in report.findings[1:]} == {Verdict.SKIPPED}

    @pytest.mark.parametrize(("samples", "passed"), [(0, True), (SAMPLES_OF_OUR_MODELS, False)])
    async def test_notices_a_fault_in_one_reply_of_fifty_among_samples(self, *, samples: int, passed: bool):
        async def ask(context: Context) -> ReplyOut:
            if context.seed % 50 == 49:
                return ReplyOut.failed(ReplyFailure.INVALID, "A control character.", attempts=1, latency_ms=9e3)
            return _said(_echo(context), 9e3 if context.seed else 1.0)

        report = await probe(ask, Limits(), seconds=5.0, samples=samples)
        assert (report.passed, report.questions) == (passed, 17 + samples)
        assert report.latency is not None
        assert report.latency.highest_ms == 1.0, "samples wait for each other, and do not count"
        if samples:
            assert "3 of 163 replies: " in _finding(report, "valid_text").detail  # 150 / 50; unusual ones do not count

    def test_misses_such_a_fault_once_in_twenty_at_most(self):
        assert (1 - 0.02) ** SAMPLES_OF_OUR_MODELS < 0.05

    async def test_reports_latency_as_percentiles_by_nearest_rank(self):
        """Of 1 to 20 ms, half are at most 10, and nineteen in twenty at most 19."""
        found = latency_of([_said("x", float(number)) for number in range(20, 0, -1)])
        assert found is not None
        assert found.n == 20
        assert found.p50_ms == 10.0
        assert found.p95_ms == 19.0
        assert found.highest_ms == 20.0


class TestHeartbeat:
    async def test_is_one_exchange_of_two_turns(self):
        turns: list[tuple[str, ...]] = []

        async def ask(context: Context) -> ReplyOut:
            turns.append(context.turns)
            return _said("Fine.")

        report = await heartbeat(ask, seconds=1.0)
        assert report.passed
        assert [len(each) for each in turns] == [1, 3]
        assert turns[1][1] == "Fine."

    async def test_fails_if_the_second_turn_fails(self):
        async def ask(context: Context) -> ReplyOut:
            late = ReplyOut.failed(ReplyFailure.TIMEOUT, "Late.", attempts=1, latency_ms=1.0)
            return _said("Fine.") if len(context.turns) == 1 else late

        assert not (await heartbeat(ask, seconds=1.0)).passed

    @pytest.mark.parametrize("failure", [ReplyFailure.EMPTY, ReplyFailure.TOO_LONG])
    async def test_fails_if_no_reply_can_be_used(self, failure: ReplyFailure):
        """A bot that says nothing would otherwise be active again soon after its probe failed."""

        async def ask(_context: Context) -> ReplyOut:
            return ReplyOut.failed(failure, "Not usable.", attempts=1, latency_ms=1.0)

        report = await heartbeat(ask, seconds=1.0)
        assert (report.passed, report.questions) == (False, 1)
