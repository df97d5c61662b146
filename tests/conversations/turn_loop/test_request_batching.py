"""Requests to bots are few and large where that delays no conversation, and every request is sent in the end."""

import math
from uuid import UUID, uuid4

from spotthebot.contracts.bots.replies import ReplyOut
from spotthebot.conversations.conversations.domain import Conversation, step
from spotthebot.conversations.turn_loop.use_cases.request_batching import RequestBatcher
from tests.conversations.domain_conversations import running

QUICK, SLOW, OTHER = uuid4(), uuid4(), uuid4()
CONTEXTS = 4
ENOUGH = 2
"""Pending requests that are enough for a batch that one request holds."""


def _waiting(bot: UUID, number: int) -> list[Conversation]:
    return [running(bot=bot, turns_planned=2) for _ in range(number)]


def _batcher() -> RequestBatcher:
    made = RequestBatcher(CONTEXTS, CONTEXTS)
    for bot, latency_ms in ((QUICK, 3.0), (SLOW, 500.0)):
        made.learn([step(each, ReplyOut.said("Hello.", latency_ms=latency_ms)) for each in _waiting(bot, 1)])
    return made


class TestRequestBatcher:
    def test_requests_at_once_while_few_requests_are_pending(self):
        waiting = {QUICK: _waiting(QUICK, 1)}
        assert _batcher().choose(waiting, pending=ENOUGH - 1, now=0.0) == waiting

    def test_lets_conversations_queue_while_enough_requests_are_pending(self):
        batcher = _batcher()
        assert batcher.choose({QUICK: _waiting(QUICK, 1)}, pending=ENOUGH, now=0.0) == {}
        assert 0 < batcher.seconds_left(0.0) < math.inf

    def test_sends_a_full_request_at_once(self):
        waiting = {QUICK: _waiting(QUICK, CONTEXTS), OTHER: _waiting(OTHER, 1)}
        assert set(_batcher().choose(waiting, pending=ENOUGH, now=0.0)) == {QUICK}

    def test_sends_the_largest_request_first(self):
        waiting = {OTHER: _waiting(OTHER, 1), QUICK: _waiting(QUICK, 2)}
        assert set(_batcher().choose(waiting, pending=ENOUGH - 1, now=0.0)) == {QUICK}

    def test_delays_a_request_to_a_slow_bot_for_a_moment_only(self):
        batcher, waiting = _batcher(), {SLOW: _waiting(SLOW, 1), QUICK: _waiting(QUICK, 1)}
        assert batcher.choose(waiting, pending=ENOUGH, now=0.0) == {}
        moment = batcher.seconds_left(0.0)
        assert moment <= 0.025, "5 % of a bot of 500 ms"
        assert set(batcher.choose(waiting, pending=ENOUGH, now=moment)) == {SLOW}

    def test_sends_every_request_in_the_end(self):
        batcher = _batcher()
        waiting = {QUICK: _waiting(QUICK, 1)}
        batcher.choose(waiting, pending=ENOUGH, now=0.0)
        assert set(batcher.choose(waiting, pending=ENOUGH, now=1.0)) == {QUICK}

    def test_has_nothing_due_once_all_requests_are_sent(self):
        batcher = _batcher()
        batcher.choose({QUICK: _waiting(QUICK, 1)}, pending=0, now=0.0)
        assert batcher.seconds_left(0.0) == math.inf
