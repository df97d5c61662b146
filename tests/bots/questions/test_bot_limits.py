"""The rules that spare a bot, by arithmetic alone: requests per minute, the retry budget, the circuit."""

import pytest

from spotthebot.bots.questions.domain.circuit import FAILURES_TO_OPEN, Circuit
from spotthebot.bots.questions.domain.request_rate import request_bucket
from spotthebot.bots.questions.domain.retries import MAX_ATTEMPTS, RetryBudget, backoff_seconds


class TestRequestBucket:
    def test_never_waits_without_a_limit(self):
        assert [request_bucket(None).take(now, 1.0) for now in (0.0, 0.0, 9.0)] == [0.0, 0.0, 0.0]

    def test_lets_a_second_of_requests_begin_at_once_and_spreads_the_others(self):
        """120 per minute are one per half second; a second's worth, two, may begin together."""
        bucket = request_bucket(120)
        assert [bucket.take(100.0, 10.0) for _ in range(5)] == pytest.approx([0.0, 0.0, 0.5, 1.0, 1.5])

    def test_books_nothing_for_a_request_that_would_wait_too_long(self):
        bucket = request_bucket(60)  # one per second
        assert bucket.take(50.0, 0.5) == 0.0
        assert bucket.take(50.0, 0.5) is None
        assert bucket.take(50.0, 1.5) == pytest.approx(1.0)  # the request before booked nothing

    def test_saves_no_more_than_a_second_of_requests_in_a_pause(self):
        bucket = request_bucket(180)  # three per second
        waits = [bucket.take(1000.0, 10.0) for _ in range(4)]
        assert waits == pytest.approx([0.0, 0.0, 0.0, 1 / 3])

    def test_keeps_the_rate_over_a_minute(self):
        """Asked a thousand times per second, it lets in 600 per minute and the burst of ten at the beginning."""
        bucket = request_bucket(600)
        admitted = sum(bucket.take(1.0 + step / 1000, 0.0) is not None for step in range(60_000))
        assert 600 <= admitted <= 610


class TestRetryBudget:
    def test_earns_one_retry_with_ten_replies(self):
        budget = RetryBudget()
        assert [budget.spend() for _ in range(11)] == [True] * 10 + [False]
        for _ in range(25):
            budget.earn()
        assert [budget.spend() for _ in range(3)] == [True, True, False]

    def test_saves_ten_retries_at_most(self):
        budget = RetryBudget()
        for _ in range(1000):
            budget.earn()
        assert sum(budget.spend() for _ in range(100)) == 10


class TestBackoff:
    def test_doubles_with_each_attempt_and_stays_within_its_jitter(self):
        for attempts, longest in zip(range(1, MAX_ATTEMPTS), (0.1, 0.2, 0.4), strict=True):
            waits = [backoff_seconds(attempts) for _ in range(200)]
            assert longest / 2 <= min(waits)
            assert max(waits) <= longest
            assert len(set(waits)) > 1


class TestCircuit:
    def test_opens_once_at_the_fifth_failure_in_a_row(self):
        circuit = Circuit()
        assert [circuit.failed() for _ in range(4)] == [False] * 4
        circuit.succeeded()
        opened = [circuit.failed() for _ in range(FAILURES_TO_OPEN + 2)]
        assert opened == [False] * 4 + [True, False, False]
        assert circuit.is_open
        circuit.close()
        assert not circuit.is_open
