"""No page fails, whatever a browser or a program that poses as one sends, and no log holds what a person wrote.

Nobody, an annotator, a team, an analyst and an administrator ask each route: as its page would, and then with a part
of the path, the query, the form or the headers replaced by something nasty. `SPOTTHEBOT_FUZZ_CASES` and
`SPOTTHEBOT_FUZZ_SEED` are those of `tests/e2e/test_fuzz.py`.
"""

import asyncio
import logging
import os
import random
from typing import Any

import httpx
import pytest

from spotthebot.contracts.services import SERVICE_NAMES
from tests.factories.annotator_trainings import store_training
from tests.factories.campaigns import campaign_of_talks, labelled_campaign, talk
from tests.factories.frontends import open_chats, two_bots
from tests.factories.fuzzed_pages import PRIVATE, Fuzzer
from tests.factories.pages import entered, entry_of, entry_path, held_package
from tests.factories.routes import routes_of
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created, register_bots

CASES = int(os.environ.get("SPOTTHEBOT_FUZZ_CASES", "0"))
SEED = int(os.environ.get("SPOTTHEBOT_FUZZ_SEED", str(random.randrange(2**32) if CASES else 0)))
MUTANTS = max(2, CASES // 2000)
TYPED: dict[str, Any] = {
    "answer": {"answer": {"entity": {"A": "human", "B": "bot"}}, "show_step": None, "elapsed_ms": 5, "version": 0},
    "exchange": {"number": 1},
    "heartbeat": {"position": 0},
    "given": {"attempt": 1, "answer": {"entity": {"A": "human", "B": "bot"}}},
    "hours": "1",
    "most": "1",
    "sha256": "0" * 64,
    "status": "active",
    "language": "de",
    "after": "/bots",
    "text": "Hello",
}


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return SERVICE_NAMES


@pytest.fixture(scope="module")
def settings_of() -> dict[str, dict[str, Any]]:
    return {"web": {"annotator_requests_per_minute": 1_000_000, "failed_links_per_minute": 1_000_000}}


async def _places(suite: RunningSuite) -> dict[str, str]:
    """Make one thing of each kind that stands in a path."""
    path = await labelled_campaign(suite, await register_bots(suite), closed=False)
    admin = await suite.client("annotation", "admin")
    collection = (await admin.get(path)).json()["collection_id"]
    conversations = await suite.client("conversations", "admin")
    held = (await conversations.get(f"/v1/collections/{collection}/conversations")).json()["items"]
    annotators = (await admin.get(f"{path}/annotators")).json()["items"]
    training = await store_training(suite)
    campaign_id = path.rpartition("/")[2]
    study = await created(admin, "/v1/studies", {"name": "all", "campaigns": [campaign_id], "outcome": "fluency"})
    own = (await (await suite.client("bots", "team", team="us")).get("/v1/bots")).json()["items"]
    return {
        "campaign_id": campaign_id,
        "study_id": study["id"],
        "collection_id": collection,
        "conversation_id": held[0]["id"],
        "annotator_id": annotators[0]["id"],
        "assignment_id": annotators[0]["id"],
        "link_id": annotators[0]["id"],
        "bot_id": own[0]["id"],
        "name": training["name"],
        "version": str(training["version"]),
        "position": "0",
        "action": "block",
        "part": "ranking",
        "figure": "ranking",
        "measure": "headline",
        "section": "ranking",
        "form": "json",
        "rows": "annotations",
        "kind": "prolific",
        "said": "appealed",
    }


async def _of_annotator(suite: RunningSuite, places: dict[str, str]) -> tuple[str, dict[str, str]]:
    """Let a person in to annotate and to chat; returns their cookies, and what is theirs of the places."""
    campaign = await campaign_of_talks(suite, talk("c0"))
    study = await open_chats(suite, await two_bots(suite))
    async with entered(suite, await entry_path(suite, campaign)) as browser:
        assert (await browser.get(entry_of(suite, study, interactor="p1"))).status_code == 303
        await browser.post(f"/chat/{study}/begin")
        package = await held_package(suite, campaign)
        cookies = "; ".join(f"{each.name}={each.value}" for each in browser.cookies.jar)
    own = {"campaign_id": str(campaign["id"]), "collection_id": study, "assignment_id": str(package.id)}
    return cookies, places | own


async def _of_role(suite: RunningSuite, role: str) -> str:
    """Sign in with a new key; returns the cookies."""
    key = await suite.keys.make(role, team="us" if role == "team" else None)
    async with httpx.AsyncClient(base_url=suite.urls["web"], trust_env=False) as browser:
        assert (await browser.post("/sign-in", data={"key": key})).status_code == 303
        return "; ".join(f"{each.name}={each.value}" for each in browser.cookies.jar)


async def test_no_request_makes_a_page_fail_or_logs_what_a_person_wrote(
    suite: RunningSuite, caplog: pytest.LogCaptureFixture
):
    places = await _places(suite)
    own_cookies, own_places = await _of_annotator(suite, places)
    people = {"nobody": ("", places), "annotator": (own_cookies, own_places)}
    people |= {role: (await _of_role(suite, role), places) for role in ("team", "analyst", "admin")}
    routes = routes_of(suite.apps["web"])
    caplog.set_level(logging.INFO)
    caplog.clear()
    faults: list[str] = []
    statuses: set[int] = set()
    for name, (cookies, theirs) in people.items():
        fuzzer = Fuzzer(suite.urls["web"], cookies, theirs, TYPED, random.Random(SEED), MUTANTS)
        await asyncio.to_thread(fuzzer.run, routes)
        print(f"{name}: {fuzzer.statuses.total()} requests, seed {SEED}, {sorted(fuzzer.statuses.items())}")
        faults += [f"{name}: {fault}" for fault in fuzzer.faults]
        statuses |= fuzzer.statuses.keys()
    logged, failed = caplog.text, [record.getMessage() for record in caplog.records if record.exc_info]
    caplog.clear()  # it has thousands of lines
    assert faults[:20] == []
    assert failed == []
    assert PRIVATE not in logged
    assert {200, 303, 401, 403, 404, 422} <= statuses  # it got through, and it was turned away
