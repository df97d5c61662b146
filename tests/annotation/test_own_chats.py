"""People who chatted with bots annotate: never their own chats."""

import hashlib
import json
from typing import Any

import pytest

from tests.factories.annotating import claim, refused, rows, work_through
from tests.factories.frontends import advance, conversations_of, exchange, open_study, rate, ratings, start
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, conversation, created, import_conversations, open_campaign, until

PEOPLE = ("p-anna", "p-bert", "p-cleo")


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "bots", "conversations", "annotation"


async def chats(suite: RunningSuite) -> str:
    """Have each person chat once with a bot and rate it, and finish the collection."""
    admin = await suite.client("conversations", "admin")
    study = await open_study(suite, [await add_bot(suite, "dull")], bots_per_chat=1)
    for person in PEOPLE:
        chat = await start(suite, study, person)
        await exchange(suite, chat, f"Hello, here is {person.removeprefix('p-')}.")
        assert (await advance(suite, chat)).status_code == 200
        assert (await rate(suite, chat, ratings(1))).status_code == 200
    assert (await admin.post(f"/v1/collections/{study}/finish")).status_code == 200
    await until(admin, f"/v1/collections/{study}", "complete")
    return study


async def seen_by(suite: RunningSuite, campaign: dict[str, Any], person: str) -> str:
    """Have somebody annotate all that they get, and return its texts."""
    texts: list[str] = []
    for _ in PEOPLE:
        if len(texts) == len(PEOPLE) - (person in PEOPLE):
            break
        assignment = await claim(suite, campaign, person)
        texts += [turn["text"] for item in assignment["items"] for turn in item["turns"][:1]]
        await work_through(suite, assignment)
    assert await refused(suite, campaign, person) == "nothing-left"
    return " ".join(texts)


@pytest.mark.parametrize("imported", [False, True], ids=["held here", "imported"])
async def test_people_annotate_the_chats_of_others_and_not_their_own(suite: RunningSuite, *, imported: bool):
    study = await chats(suite)
    if imported:
        study = await copy_of(suite, study)
    campaign = await open_campaign(suite, study, segments=[1], package_size=1, annotations_per_segment=4)
    assert campaign["packages"] == len(PEOPLE)
    stored = rows(suite, "SELECT c::text, s::text FROM annotation.campaigns c, annotation.shown_conversations s")
    assert not any(person in column for row in stored for column in row for person in PEOPLE)
    for person in PEOPLE:
        texts = await seen_by(suite, campaign, person)
        assert [each for each in PEOPLE if each.removeprefix("p-") not in texts] == [person]
    texts = await seen_by(suite, campaign, "p-dora")
    assert all(each.removeprefix("p-") in texts for each in PEOPLE)
    seen = rows(suite, "SELECT count(*) FROM annotation.seen_conversations GROUP BY annotator_id")
    assert seen == [(len(PEOPLE),)] * 4  # own chats among them


async def copy_of(suite: RunningSuite, study: str) -> str:
    """Export the chats with their ratings, and import them as another collection."""
    admin = await suite.client("conversations", "admin")
    exported = (await admin.get(f"/v1/collections/{study}/export?people=ids")).content
    body = {"mode": "import", "name": "copy", "domain": "everyday"}
    copy = (await created(admin, "/v1/collections", body))["id"]
    stored = await admin.post(f"/v1/collections/{copy}/uploads", content=exported)
    assert stored.status_code == 200, stored.text
    return copy


class TestHashesOfInteractors:
    async def test_say_of_a_known_person_what_they_chatted_in_and_nothing_of_others(self, suite: RunningSuite):
        study = await chats(suite)
        service = await suite.client("conversations", "service")
        answers = [(await service.get(f"/v1/collections/{study}/interactors/stream")).text for _ in range(2)]
        first, second = ([json.loads(line) for line in answer.split("\n") if line] for answer in answers)
        held = await conversations_of(suite, study)
        salts = {each["salt"] for each in first}
        (salt,) = salts
        hashes = [hashlib.sha256(bytes.fromhex(salt) + person.encode()).hexdigest() for person in PEOPLE]
        assert {each["id"]: each["interactor_sha256"] for each in first} == dict(
            zip([each["id"] for each in held], hashes, strict=True)
        )
        assert not {each["interactor_sha256"] for each in second} & set(hashes)  # another salt

    async def test_differ_for_conversations_in_which_nobody_chatted(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation(f"c{n}", "HU", "X") for n in range(3)])
        service = await suite.client("conversations", "service")
        path = f"/v1/collections/{collection}/interactors/stream"
        found = [json.loads(line) for line in (await service.get(path)).text.split("\n") if line]
        assert len({each["interactor_sha256"] for each in found}) == 3

    @pytest.mark.parametrize("role", ["annotation", "analyst", "admin", "team"])
    async def test_are_for_services_alone(self, suite: RunningSuite, role: str):
        collection = await import_conversations(suite, [conversation("c", "X", "Y")])
        client = await suite.client("conversations", role, team="t" if role == "team" else None)
        assert (await client.get(f"/v1/collections/{collection}/interactors/stream")).status_code == 403
