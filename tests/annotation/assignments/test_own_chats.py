"""People who chatted with bots annotate: never their own chats."""

from typing import Any

import pytest

from tests.factories.annotating import claim, refused, rows, work_through
from tests.factories.campaigns import open_campaign
from tests.factories.frontends import rated_chats
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

PEOPLE = ("p-anna", "p-bert", "p-cleo")


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "bots", "conversations", "annotation"


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
    study = await rated_chats(suite, PEOPLE)
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
