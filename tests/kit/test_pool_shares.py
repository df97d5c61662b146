"""Shares of a pool at their bounds, without a pool."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from spotthebot.kit.database import pool_shares as database_pool_shares
from spotthebot.kit.database.pool_shares import PoolShares, PoolUser, ShareInUse, pool_user

pytestmark = pytest.mark.usefixtures("no_services")


@pytest.fixture
def nobody() -> Iterator[None]:
    """Leave the next test without a user."""
    token = pool_user.set(None)
    yield
    pool_user.reset(token)


async def _hold(shares: PoolShares, name: str | None, until: asyncio.Event) -> None:
    pool_user.set(None if name is None else PoolUser(name))
    async with shares.taken():
        await until.wait()


async def _enter(shares: PoolShares) -> None:
    async with shares.taken():
        pass


@pytest.mark.usefixtures("nobody")
class TestShares:
    async def test_let_two_hundred_wait_and_refuse_the_next_at_once(self):
        shares, end = PoolShares(2), asyncio.Event()
        tasks = [asyncio.create_task(_hold(shares, "ann", end)) for _ in range(2 + 200)]
        await asyncio.sleep(0)
        with pytest.raises(ShareInUse) as refused:
            await _hold(shares, "ann", end)
        assert refused.value.facts == {"retry_after_seconds": 1}
        others = [asyncio.create_task(_hold(shares, name, end)) for name in ("bob", None, None, None)]
        await asyncio.sleep(0)
        end.set()
        await asyncio.gather(*tasks, *others)
        await asyncio.wait_for(_hold(shares, "ann", end), 10)

    async def test_refuse_who_waits_too_long_and_forget_them(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(database_pool_shares, "_WAIT_SECONDS", 0.01)
        shares, end = PoolShares(1), asyncio.Event()
        held = asyncio.create_task(_hold(shares, "ann", end))
        await asyncio.sleep(0)
        with pytest.raises(ShareInUse) as refused:
            await _hold(shares, "ann", end)
        assert refused.value.facts == {"retry_after_seconds": 1}
        end.set()
        await held
        await asyncio.wait_for(_hold(shares, "ann", end), 10)

    async def test_wait_for_ten_seconds(self, monkeypatch: pytest.MonkeyPatch):
        waits: list[float] = []

        def timeout(seconds: float) -> asyncio.Timeout:
            waits.append(seconds)
            return asyncio.Timeout(0.0)

        monkeypatch.setattr(database_pool_shares, "asyncio", SimpleNamespace(**{**vars(asyncio), "timeout": timeout}))
        shares, end = PoolShares(1), asyncio.Event()
        held = asyncio.create_task(_hold(shares, "ann", end))
        await asyncio.sleep(0)
        with pytest.raises(ShareInUse):
            await _hold(shares, "ann", end)
        end.set()
        await held
        assert waits == [10.0]

    async def test_count_the_next_request_that_one_user_makes_as_any_other(self):
        """A request that let its connections go has to wait again, and its user is forgotten with the last of them."""
        shares, end = PoolShares(1), asyncio.Event()
        pool_user.set(PoolUser("ann"))
        async with shares.taken(), shares.taken():
            pass
        assert shares._queues == {}
        other = asyncio.create_task(_hold(shares, "ann", end))
        await asyncio.sleep(0)
        waiting = asyncio.create_task(_enter(shares))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not waiting.done()
        end.set()
        await asyncio.gather(other, waiting)
        assert shares._queues == {}

    async def test_give_a_request_that_holds_one_another_beside_it(self):
        shares = PoolShares(1)
        pool_user.set(PoolUser("ann"))
        async with shares.taken(), shares.taken():
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(_hold(shares, "ann", asyncio.Event()), 0.01)
        async with shares.taken():
            pass
