"""Lists that an application streams whole, read by a client."""

import pytest

from spotthebot.clients import Forbidden, PeerUnavailable
from tests.kit.conftest import AsyncThings, Edge


class TestStreams:
    async def test_all_rows_come_over(self, edge: Edge):
        names = [str(number) for number in range(1201)]  # more than two batches of 500
        edge.fill(names)
        async with AsyncThings(edge.url, await edge.keys.make("admin")) as things:
            assert [thing.name async for thing in things.stream_things()] == names

    async def test_one_that_breaks_off_at_the_peer_is_no_success(self, edge: Edge):
        edge.fill([*map(str, range(700)), "broken"])
        seen: list[str] = []
        async with AsyncThings(edge.url, await edge.keys.make("admin")) as things:
            with pytest.raises(PeerUnavailable):
                async for thing in things.stream_breaking_things():
                    seen.append(thing.name)  # noqa: PERF401 - what came before the error counts
        assert seen == [str(number) for number in range(500)]

    async def test_a_refusal_is_raised_as_one(self, edge: Edge):
        async with AsyncThings(edge.url, await edge.keys.make("analyst")) as things:
            with pytest.raises(Forbidden, match="role analyst"):
                [thing async for thing in things.stream_things()]
