"""Calls to servers of others: what comes back as an answer, and what as a failure with its status."""

import pytest

from spotthebot.kit.outbound import AddressNotAllowed, CallFailed, CheckingResolver, Failure, GuardedHttp, networks
from tests.factories.bot_servers import raw_server, says

LOOPBACK = networks(["127.0.0.0/8"])


class TestGuardedHttp:
    async def test_gives_status_type_and_body(self):
        async with raw_server(says(b'{"a": 1}', status=b"202 Accepted")) as url, _http() as http:
            answer = await http.post(url, b"{}", {})
        assert (answer.status, answer.media_type, answer.json()) == (202, "application/json", {"a": 1})

    @pytest.mark.parametrize(
        ("status", "failure", "transient"),
        [
            (b"410 Gone", Failure.HTTP_ERROR, False),
            (b"302 Found", Failure.HTTP_ERROR, False),
            (b"429 Slow down", Failure.RATE_LIMITED, True),
            (b"503 Later", Failure.HTTP_ERROR, True),
        ],
    )
    async def test_a_refusal_says_its_status_and_whether_another_call_may_help(
        self, status: bytes, failure: Failure, transient: bool
    ):
        async with raw_server(says(b"", status=status)) as url, _http() as http:
            with pytest.raises(CallFailed) as failed:
                await http.post(url, b"{}", {})
        found = failed.value
        assert (found.status, found.failure, found.transient) == (int(status[:3]), failure, transient)

    async def test_the_rest_of_an_answer_that_is_too_large_is_not_read(self):
        async with raw_server(says(b"a" * 101)) as url, _http() as http:
            with pytest.raises(CallFailed, match="larger than 100 bytes"):
                await http.post(url, b"{}", {}, largest=100)

    async def test_an_address_that_is_not_allowed_is_no_connection(self):
        async with GuardedHttp(CheckingResolver(())) as http:
            with pytest.raises(CallFailed, match="may not be called") as failed:
                await http.post("http://127.0.0.1:1/", b"{}", {})
        assert (failed.value.status, failed.value.transient) == (None, False)

    @pytest.mark.parametrize("address", ["10.0.0.1", "127.0.0.1"])
    async def test_a_websocket_to_an_address_that_is_not_allowed_is_refused_by_its_name(self, address: str):
        async with GuardedHttp(CheckingResolver(())) as http:
            with pytest.raises(CallFailed) as failed:
                await http.open_socket(f"ws://{address}:1/")
            with pytest.raises(AddressNotAllowed) as refused:
                http.resolver.check(address, address)
        assert (failed.value.failure, failed.value.detail) == (Failure.UNREACHABLE, refused.value.detail)
        assert address in failed.value.detail


class TestCheckingResolver:
    async def test_an_allowed_range_does_not_open_others(self):
        resolver = CheckingResolver(networks(["10.1.0.0/16"]))
        assert await resolver.addresses_of("10.1.2.3", 80) == ["10.1.2.3"]
        for other in ("10.2.0.1", "127.0.0.1", "::1", "169.254.169.254"):
            with pytest.raises(AddressNotAllowed, match="may not be called"):
                await resolver.addresses_of(other, 80)


def _http() -> GuardedHttp:
    return GuardedHttp(CheckingResolver(LOOPBACK))
