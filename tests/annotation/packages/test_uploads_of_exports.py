"""Packages of conversations that the suite collected itself: uploads call them what exports call them."""

import json

import pytest

from spotthebot.contracts.services import API_NAMES
from tests.factories.annotating import claim
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, created, plan, until


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return API_NAMES


async def test_a_package_shows_conversations_by_their_ids_in_the_export_of_their_collection(suite: RunningSuite):
    conversations = await suite.client("conversations", "admin")
    bots = [await add_bot(suite, "eliza", name="a"), await add_bot(suite, "dull", name="b")]
    collection = await created(conversations, "/v1/collections", plan(bots))
    await until(conversations, f"/v1/collections/{collection['id']}", "complete")
    export = (await conversations.get(f"/v1/collections/{collection['id']}/export")).content
    names = [json.loads(line)["id"] for line in export.split(b"\n") if line]
    admin = await suite.client("annotation", "admin")
    body = {"mode": "uploaded", "name": "u", "domain": "everyday", "collection_id": collection["id"], "segments": [2]}
    campaign = await created(admin, "/v1/campaigns", body)
    path = f"/v1/campaigns/{campaign['id']}"
    await until(admin, path, "draft")
    package = {"external_id": "p", "segments": [{"conversation": name, "exchanges": 2} for name in names]}
    assert await created(admin, f"{path}/packages", {"packages": [package]}) == {"stored": 1, "already_there": 0}
    again = await created(admin, f"{path}/packages", {"packages": [package]})
    assert again == {"stored": 0, "already_there": 1}
    assert (await admin.post(f"{path}/open")).status_code == 200
    assert len((await claim(suite, campaign, "ann"))["items"]) == len(names)
    rows = (await admin.get(f"{path}/export", params={"rows": "packages"})).content
    assert [json.loads(line)["conversation"] for line in rows.split(b"\n") if line] == names
    unknown = {"external_id": "q", "segments": [{"conversation": "nowhere", "exchanges": 1}]}
    assert (await admin.post(f"{path}/packages", json={"packages": [unknown]})).status_code in {409, 422}
