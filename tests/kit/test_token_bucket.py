"""A token bucket, by arithmetic alone."""

import math

import pytest

from spotthebot.kit.waits.token_bucket import TokenBucket


class TestTokenBucket:
    def test_is_full_at_first_and_holds_no_more(self):
        bucket = TokenBucket(rate=1.0, capacity=3.0)
        assert [bucket.left(now) for now in (0.0, 100.0)] == [3.0, 3.0]

    def test_gains_with_time(self):
        bucket = TokenBucket(rate=0.5, capacity=2.0)
        assert [bucket.take(10.0) for _ in range(3)] == [0.0, 0.0, None]
        assert bucket.left(11.0) == pytest.approx(0.5)
        assert [bucket.take(12.0) for _ in range(2)] == [0.0, None]

    def test_lends_tokens_that_come_within_the_wait(self):
        bucket = TokenBucket(rate=2.0, capacity=1.0)
        assert [bucket.take(5.0, 1.0) for _ in range(4)] == [0.0, 0.5, 1.0, None]
        assert bucket.left(5.0) == -2.0

    def test_gives_a_token_after_the_wait_that_it_named(self):
        bucket = TokenBucket(rate=1 / 3, capacity=1.0)
        bucket.take(0.1)
        wait = bucket.take(0.1, 3.0)
        assert wait is not None
        assert bucket.take(0.1 + wait) is None
        assert bucket.take(0.1 + wait + 3.0) == 0.0

    def test_never_refuses_without_a_limit(self):
        bucket = TokenBucket(math.inf, math.inf)
        assert [bucket.take(now) for now in (0.0, 0.0, 9.0)] == [0.0, 0.0, 0.0]

    def test_has_nothing_without_a_capacity(self):
        assert TokenBucket(0.0, 0.0).take(9.0) is None
