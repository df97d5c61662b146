"""Every service of the running suite answers that it is ready."""

from tests.factories.running_suite import RunningSuite


class TestRunningSuite:
    async def test_every_service_is_ready(self, suite: RunningSuite):
        for name in suite.urls:
            client = await suite.client(name, "admin")
            assert (await client.get("/readyz")).json() == {"status": "ready"}
