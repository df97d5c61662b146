"""Results of studies are kept as long as no rating in a chat changes, and computed again once one does."""

from typing import Any

import httpx
import pytest

from tests.conversations.transfers import lines_of, upload
from tests.factories.chat_studies import chat_study, create_study, import_chats
from tests.factories.frontends import open_chats, rate, ratings, start, talk, two_bots
from tests.factories.rated_chats import exported_chats
from tests.factories.running_suite import RunningSuite
from tests.factories.served import Served, served

_OF_COLLECTION = "/v1/collections/{collection_id}"
RATINGS, REVISION = f"{_OF_COLLECTION}/ratings", f"{_OF_COLLECTION}/ratings/revision"
PATHS = ("measures", "measures/quality", "workforces", "assessment")


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    """With the bots that people chat with."""
    return "bots", "conversations", "annotation", "analytics"


async def get(suite: RunningSuite, study: str, what: str) -> httpx.Response:
    analyst = await suite.client("analytics", "analyst")
    answer = await analyst.get(f"/v1/studies/{study}/{what}")
    assert answer.status_code == 200, answer.text
    return answer


async def asked_for(suite: RunningSuite, study: str, what: str) -> tuple[bytes, dict[str, int]]:
    """Return a result, and how often `conversations` was asked for it, by route."""
    before = served(suite)
    found = await get(suite, study, what)
    made: Served = served(suite) - before
    return found.content, {route: times for (service, _, route), times in made.items() if service == "conversations"}


async def quality_of(suite: RunningSuite, study: str) -> dict[str, Any]:
    return (await get(suite, study, "measures/quality")).json()


class TestRatings:
    async def test_are_read_once_for_each_result_and_never_again_while_nothing_changes(self, suite: RunningSuite):
        study = await chat_study(suite, people=1)
        for path in PATHS:
            first, requests = await asked_for(suite, study, path)
            assert (requests[RATINGS], requests[REVISION]) == (1, 1), path
            again, requests = await asked_for(suite, study, path)
            assert again == first, path
            assert requests == {_OF_COLLECTION: 1, REVISION: 1}, path

    async def test_change_the_result_where_a_person_replaces_theirs(self, suite: RunningSuite):
        collection = await open_chats(suite, await two_bots(suite))
        chat = await start(suite, collection)
        await talk(suite, chat)
        study = await create_study(suite, [], chats=[collection], outcome="quality")
        assert (await quality_of(suite, study))["n"] == 0
        for score in (2, 5):
            scores = {"engaging": 4, "quality": score}
            body = ratings(1, 2, preferred=1)
            body["conversations"] = [each | {"scores": scores} for each in body["conversations"]]
            assert (await rate(suite, chat, body)).status_code == 200
            found = await quality_of(suite, study)
            assert [each["estimate"] for each in found["bots"]] == [score, score]

    async def test_change_the_result_where_more_of_them_are_imported(self, suite: RunningSuite):
        chats = exported_chats(3)
        collection = await import_chats(suite, chats[:4])
        study = await create_study(suite, [], chats=[collection], outcome="quality")
        assert (await quality_of(suite, study))["n"] == 4
        await upload(suite, collection, lines_of(*chats))
        assert (await quality_of(suite, study))["n"] == 6

    async def test_change_the_result_where_words_are_erased(self, suite: RunningSuite):
        """All say the same, so their dialogues are one text. Once the words of one are erased, there are two texts."""
        chats = exported_chats(3)
        collection = await import_chats(suite, [each.model_copy(update={"turns": chats[0].turns}) for each in chats])
        study = await create_study(suite, [], chats=[collection], outcome="quality")
        admin = await suite.client("conversations", "admin")
        path = f"/v1/collections/{collection}/chat-people"
        person = (await admin.get(path)).json()["items"][0]
        found = [await quality_of(suite, study)]
        for submitted_texts in ("keep", "erase"):
            query = {"submitted_texts": submitted_texts}
            assert (await admin.post(f"{path}/{person['id']}/erase", params=query)).status_code == 200
            found.append(await quality_of(suite, study))
        whole, renamed, erased = [each["bots"] for each in found]
        assert {each["low"] for each in whole} == {None}
        assert renamed == whole
        assert {each["low"] for each in erased} != {None}
