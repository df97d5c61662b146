"""A frontend of annotators, as small as it can be: claim a package, answer its items, submit."""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import psycopg

from tests.factories.clock import MovableClock, set_clock
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

DECISION = {"entity": {"A": "human", "B": "bot"}}
FEATURES = {"fluency": "A", "sensibleness": "tie", "specificity": "B"}
WHOLE = DECISION | FEATURES
"""An answer by the protocol `spot_the_bot`: its first step, its second, both."""


async def ask(
    suite: RunningSuite, campaign: Mapping[str, Any], annotator: str, *, team: str | None = None
) -> httpx.Response:
    """Claim a package, whether or not there is one."""
    frontend = await suite.client("annotation", "annotation", team=team)
    return await frontend.post(f"/v1/campaigns/{campaign['id']}/assignments", json={"annotator": annotator})


async def claim(suite: RunningSuite, campaign: Mapping[str, Any], annotator: str, **more: Any) -> dict[str, Any]:
    frontend = await suite.client("annotation", "annotation")
    return await created(frontend, f"/v1/campaigns/{campaign['id']}/assignments", {"annotator": annotator} | more)


async def refused(suite: RunningSuite, campaign: Mapping[str, Any], annotator: str) -> str:
    """Return the reason why an annotator gets no package."""
    answer = await ask(suite, campaign, annotator)
    assert answer.status_code == 409, answer.text
    return answer.json()["type"].removeprefix("urn:spotthebot:problem:")


async def save(
    suite: RunningSuite, assignment: Mapping[str, Any], position: int, answer: Mapping[str, Any], **more: Any
) -> httpx.Response:
    frontend = await suite.client("annotation", "annotation")
    path = f"/v1/assignments/{assignment['id']}/items/{position}"
    return await frontend.put(path, json={"answer": answer} | more)


async def answer_items(suite: RunningSuite, assignment: Mapping[str, Any], answer: Mapping[str, Any] = WHOLE) -> None:
    """Answer both steps of every item alike."""
    for item in assignment["items"]:
        first = await save(suite, assignment, item["position"], {"entity": answer["entity"]}, show_step=2)
        assert first.status_code == 200, first.text
        second = await save(suite, assignment, item["position"], answer)
        assert second.status_code == 200, second.text


async def submit(suite: RunningSuite, assignment: Mapping[str, Any]) -> httpx.Response:
    frontend = await suite.client("annotation", "annotation")
    return await frontend.post(f"/v1/assignments/{assignment['id']}/submit")


async def work_through(
    suite: RunningSuite, assignment: Mapping[str, Any], answer: Mapping[str, Any] = WHOLE
) -> dict[str, Any]:
    """Answer every item alike and submit."""
    await answer_items(suite, assignment, answer)
    done = await submit(suite, assignment)
    assert done.status_code == 200, done.text
    return done.json()


async def appeal(
    suite: RunningSuite, campaign: Mapping[str, Any], annotator: str, note: str = "I read them all.", *, team: str = ""
) -> httpx.Response:
    """Say something against a block or a failed training."""
    frontend = await suite.client("annotation", "annotation", team=team or None)
    return await frontend.post(f"/v1/campaigns/{campaign['id']}/appeals", json={"annotator": annotator, "note": note})


async def annotations_of(suite: RunningSuite, campaign: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return annotations as services get them, but with the ids of annotators for their pseudonyms."""
    service, admin = await suite.client("annotation", "service"), await suite.client("annotation", "admin")
    path = f"/v1/campaigns/{campaign['id']}"
    known = {each["pseudonym"]: each["annotator"] for each in (await admin.get(f"{path}/annotators")).json()["items"]}
    found = (await service.get(f"{path}/annotations")).json()["items"]
    return [each | {"annotator": known[each["annotator"]]} for each in found]


async def state_of(suite: RunningSuite, campaign: Mapping[str, Any]) -> dict[str, Any]:
    admin = await suite.client("annotation", "admin")
    return (await admin.get(f"/v1/campaigns/{campaign['id']}")).json()


def movable_clock(suite: RunningSuite) -> MovableClock:
    """Give the service a clock that the test moves."""
    clock = MovableClock()
    set_clock(suite.apps["annotation"], clock)
    return clock


async def waited_for(connection: psycopg.AsyncConnection[Any]) -> None:
    """Return once another transaction waits for a lock of this connection's."""
    waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
    async with asyncio.timeout(60):
        while await (await connection.execute(waiting)).fetchone() is None:
            await asyncio.sleep(0.02)


def rows(suite: RunningSuite, query: str) -> list[tuple[Any, ...]]:
    """Return what a query finds in the service's schema."""
    with psycopg.connect(suite.database.owner["annotation"]) as connection:
        return connection.execute(query.encode()).fetchall()
