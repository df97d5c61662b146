"""A researcher finds both chats of each pair of one person's dialogues; its annotators find neither."""

import csv
import io
import json
from collections.abc import Mapping
from itertools import chain
from typing import Any
from uuid import UUID

import pytest

from spotthebot.contracts.conversations.exports import ExportedConversation
from tests.factories.annotating import claim, save, submit
from tests.factories.campaigns import DIMENSIONS, open_campaign
from tests.factories.chat_studies import import_chats
from tests.factories.rated_chats import exported_chats
from tests.factories.running_suite import RunningSuite

ANSWER = dict.fromkeys(DIMENSIONS, "A")


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "conversations", "annotation", "analytics"


async def listed(suite: RunningSuite, service: str, path: str) -> list[dict[str, Any]]:
    client = await suite.client(service, "analyst")
    answer = await client.get(path, params={"limit": 500})
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


async def chats_by_conversation(suite: RunningSuite, collection: str) -> dict[str, tuple[str, str]]:
    """Return the chat and the person of each conversation, by the conversation's id."""
    rated = await listed(suite, "conversations", f"/v1/collections/{collection}/ratings")
    return {
        each["conversation_id"]: (chat["chat_id"], chat["interactor"])
        for chat in rated
        for each in chat["conversations"]
    }


def alone(number: int, chat: ExportedConversation) -> ExportedConversation:
    """Return the only conversation of a chat with this number."""
    assert chat.rating
    own = {"chat_id": UUID(int=7000 + number), "number": 1, "preferred": None}
    return chat.model_copy(update={"rating": chat.rating.model_copy(update=own)})


async def work(suite: RunningSuite, package: Mapping[str, Any]) -> None:
    for item in package["items"]:
        saved = await save(suite, package, item["position"], ANSWER)
        assert saved.status_code == 200, saved.text
    assert (await submit(suite, package)).status_code == 200


async def test_tables_and_exports_name_both_conversations_and_thereby_both_chats(suite: RunningSuite):
    """Two people had their two dialogues in one chat, two in two chats; the ratings say in which."""
    chats = exported_chats(4)
    chats = [*chats[:4], *(alone(number, each) for number, each in enumerate(chats[4:]))]
    collection = await import_chats(suite, chats)
    campaign = await open_campaign(
        suite, collection, protocol="comparative", pairs="same_person", package_size=2, annotations_per_segment=1
    )
    seen = []
    for annotator in ("v", "w"):
        package = await claim(suite, campaign, annotator)
        seen.append(json.dumps(package))
        await work(suite, package)
    found = await chats_by_conversation(suite, collection)
    conversations = await listed(suite, "conversations", f"/v1/collections/{collection}/conversations")
    by_export = {each["external_id"]: each["id"] for each in conversations}
    path = f"/v1/campaigns/{campaign['id']}"

    analytics = await suite.client("analytics", "analyst")
    table = [*csv.DictReader(io.StringIO((await analytics.get(f"{path}/values")).text, newline=""))]
    in_table = {tuple(row["pair"].split("+")) for row in table}
    assert {row["conversation"] for row in table} == {*chain.from_iterable(in_table)} == {*found}
    annotated = await listed(suite, "annotation", f"{path}/annotations")
    in_answers = {(each["conversation_id"], each["right"]["conversation_id"]) for each in annotated}
    packages = await listed(suite, "annotation", f"{path}/packages")
    shown = [segment for package in packages for segment in package["segments"]]
    in_packages = {(each["conversation_id"], each["right"]["conversation_id"]) for each in shown}
    annotation = await suite.client("annotation", "analyst")
    exported = {}
    for rows in ("annotations", "values", "packages"):
        text = (await annotation.get(f"{path}/export", params={"rows": rows, "format": "csv"})).text
        exported[rows] = {
            (by_export[row["conversation"]], by_export[row["right_conversation"]])
            for row in csv.DictReader(io.StringIO(text, newline=""))
        }
    for pairs in (in_answers, in_packages, *exported.values()):
        assert {frozenset(each) for each in pairs} == {frozenset(each) for each in in_table}
        assert len(pairs) == 4
    assert {found[one][1] == found[other][1] for one, other in in_answers} == {True}, "each pair is of one person"
    assert sorted(found[one][0] == found[other][0] for one, other in in_answers) == [False, False, True, True]
    hidden = {*found, *chain.from_iterable(found.values()), *(f"person-{at:02}" for at in range(4))}
    assert [text for text in hidden for each in seen if text in each] == []
