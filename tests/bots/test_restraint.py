"""How a bot is spared, by arithmetic alone: places in a minute, retries, the circuit."""

import pytest

from spotthebot.bots.domain.restraint import FAILURES_TO_OPEN, Circuit, Pace, RetryBudget


class TestPace:
    def test_without_a_limit_nobody_waits(self):
        assert [Pace(None).wait_seconds(now, 1.0) for now in (0.0, 0.0, 9.0)] == [0.0, 0.0, 0.0]

    def test_two_a_second_begin_at_once_and_then_come_evenly(self):
        """120 a minute are one each half a second; as many as fit into a second, two, may come together."""
        pace = Pace(120)
        assert [pace.wait_seconds(100.0, 10.0) for _ in range(5)] == pytest.approx([0.0, 0.0, 0.5, 1.0, 1.5])

    def test_who_would_wait_too_long_takes_no_place(self):
        pace = Pace(60)  # one a second
        assert pace.wait_seconds(50.0, 0.5) == 0.0
        assert pace.wait_seconds(50.0, 0.5) is None
        assert pace.wait_seconds(50.0, 1.5) == pytest.approx(1.0)  # the one before booked nothing

    def test_a_pause_gives_no_more_than_a_second_of_places_back(self):
        pace = Pace(180)  # three a second
        waits = [pace.wait_seconds(1000.0, 10.0) for _ in range(4)]
        assert waits == pytest.approx([0.0, 0.0, 0.0, 1 / 3])

    def test_over_a_minute_the_rate_is_kept(self):
        """Asked a thousand times a second, a minute lets in 600 and the burst of ten that it began with."""
        pace = Pace(600)
        taken = sum(pace.wait_seconds(1.0 + step / 1000, 0.0) is not None for step in range(60_000))
        assert 600 <= taken <= 610


class TestRetryBudget:
    def test_is_earned_by_replies_one_for_ten(self):
        budget = RetryBudget()
        assert [budget.spend() for _ in range(11)] == [True] * 10 + [False]
        for _ in range(25):
            budget.earn()
        assert [budget.spend() for _ in range(3)] == [True, True, False]

    def test_is_not_saved_beyond_ten(self):
        budget = RetryBudget()
        for _ in range(1000):
            budget.earn()
        assert sum(budget.spend() for _ in range(100)) == 10


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
