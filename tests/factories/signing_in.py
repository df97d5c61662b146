"""People who signed in to the pages with a key, without a browser."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from tests.factories.running_suite import RunningSuite


@asynccontextmanager
async def signed_in(suite: RunningSuite, role: str, *, team: str | None = None) -> AsyncIterator[httpx.AsyncClient]:
    """Sign in with a new key, and give a client that has the session's cookie."""
    async with httpx.AsyncClient(base_url=suite.urls["web"], trust_env=False) as client:
        client.headers["Accept"] = "text/html"
        answer = await client.post("/sign-in", data={"key": await suite.keys.make(role, team=team)})
        assert answer.status_code == 303, answer.text
        yield client
