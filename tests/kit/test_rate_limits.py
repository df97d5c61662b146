from dataclasses import replace

import httpx
from hypothesis import given
from hypothesis import strategies as st

from spotthebot.kit.web.bearer.resources import bearer_of
from spotthebot.kit.web.core.rate_limits import RateLimiter
from tests.kit.conftest import Edge


def _limit(edge: Edge, per_minute: int) -> None:
    limiter = RateLimiter(per_minute, clock=lambda: 0.0)
    edge.app.state.bearer = replace(bearer_of(edge.app), limiter=limiter)


class TestAnswers:
    async def test_the_limit_is_stated_and_enforced(self, edge: Edge, admin: httpx.AsyncClient):
        _limit(edge, 3)
        answers = [await admin.get("/things") for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert {answer.headers["ratelimit-policy"] for answer in answers} == {'"default";q=3;w=60'}
        # 3 a minute is one every 20 s: so long to the next one, and thrice to a full bucket.
        stated = [f'"default";r={left};t={seconds}' for left, seconds in ((2, 20), (1, 40), (0, 60), (0, 60))]
        assert [answer.headers["ratelimit"] for answer in answers] == stated
        assert answers[3].headers["retry-after"] == "20"
        assert answers[3].json()["detail"] == "Too many requests: try again in 20 s."

    async def test_each_key_has_a_limit_of_its_own(self, edge: Edge, admin: httpx.AsyncClient):
        _limit(edge, 1)
        assert [(await admin.get("/things")).status_code for _ in range(2)] == [200, 429]
        async with await edge.client() as other:
            assert (await other.get("/things")).status_code == 200

    async def test_a_role_that_is_not_allowed_is_limited_too(self, edge: Edge):
        _limit(edge, 2)
        async with await edge.client("analyst") as analyst:
            assert [(await analyst.get("/things")).status_code for _ in range(3)] == [403, 403, 429]

    async def test_asking_whether_the_service_lives_costs_nothing(self, edge: Edge, admin: httpx.AsyncClient):
        _limit(edge, 1)
        answers = [await admin.get("/healthz") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200] * 3
        assert "ratelimit" not in answers[0].headers


class TestBuckets:
    def test_refill_with_time(self):
        now = 0.0
        limiter = RateLimiter(60, clock=lambda: now)
        assert [limiter.acquire("a").retry_after_seconds for _ in range(61)] == [0] * 60 + [1]
        now = 2.0  # 60 a minute: two more after two seconds
        assert [limiter.acquire("a").retry_after_seconds for _ in range(3)] == [0, 0, 1]

    def test_hold_no_more_than_a_minutes_worth(self):
        now = 0.0
        limiter = RateLimiter(2, clock=lambda: now)
        limiter.acquire("a")
        now = 86_400.0
        assert [limiter.acquire("a").remaining for _ in range(3)] == [1, 0, 0]

    @given(st.integers(1, 100), st.lists(st.floats(0, 90), max_size=60))
    def test_never_let_more_through_than_they_hold_and_gain(self, quota: int, pauses: list[float]):
        now = 0.0
        limiter = RateLimiter(quota, clock=lambda: now)
        allowed = 0
        for pause in pauses:
            now += pause
            allowed += not limiter.acquire("a").retry_after_seconds
        assert allowed <= quota + now * quota / 60 + 1e-6

    @given(st.integers(1, 100), st.floats(0, 60))
    def test_say_a_wait_after_which_there_is_one_more(self, quota: int, start: float):
        now = start
        limiter = RateLimiter(quota, clock=lambda: now)
        while not (wait := limiter.acquire("a").retry_after_seconds):
            pass
        now += wait
        assert limiter.acquire("a").retry_after_seconds == 0

    def test_are_forgotten_in_the_order_they_were_last_seen(self):
        limiter = RateLimiter(1, clock=lambda: 0.0)
        limiter.acquire("stale")
        limiter.acquire("fresh")
        for number in range(10_000 - 2):
            limiter.acquire(str(number))
        assert limiter.acquire("fresh").retry_after_seconds == 60
        limiter.acquire("one too many")
        assert len(limiter._buckets) == 10_000
        assert limiter.acquire("fresh").retry_after_seconds == 60  # kept, for it was seen a moment ago
        assert limiter.acquire("stale").retry_after_seconds == 0  # forgotten, so its bucket is full
