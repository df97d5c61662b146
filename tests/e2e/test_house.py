"""The house stands: every service answers, ready, and its roles are kept."""

from tests.factories.house import House


class TestHouse:
    async def test_every_service_is_ready(self, house: House):
        for name in house.urls:
            client = await house.client(name, "admin")
            assert (await client.get("/readyz")).json() == {"status": "ready"}
