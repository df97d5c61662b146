"""What an export holds beside conversations: people's ratings, and the end of the collection."""

import io
import json
from typing import Any
from uuid import UUID, uuid4

import pyarrow.parquet as pq

from spotthebot.contracts.conversations.conversations import ConversationState
from spotthebot.kit.crypto.pseudonyms import is_pseudonym
from tests.factories.exported import exported
from tests.factories.frontends import SCORES, exchange, open_chats, rate, ratings, start, talk, two_bots
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created


async def _exported(suite: RunningSuite, collection: str, form: str = "ndjson") -> bytes:
    analyst = await suite.client("conversations", "analyst")
    answer = await analyst.get(f"/v1/collections/{collection}/export", params={"format": form})
    assert answer.status_code == 200, answer.text
    return answer.content


def _rows(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) | {"quality_flags": None} for line in content.split(b"\n") if line]


async def _import(suite: RunningSuite, content: bytes, **more: Any) -> tuple[str, dict[str, Any]]:
    admin = await suite.client("conversations", "admin")
    body = {"mode": "import", "name": "people", "domain": "everyday"} | more
    collection = (await created(admin, "/v1/collections", body))["id"]
    answer = await admin.post(f"/v1/collections/{collection}/uploads", content=content)
    assert answer.status_code == 200, answer.text
    return collection, answer.json()


async def _ratings_of(suite: RunningSuite, collection: str, **query: Any) -> list[dict[str, Any]]:
    analyst = await suite.client("conversations", "analyst")
    answer = await analyst.get(f"/v1/collections/{collection}/ratings", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


def _without_ids(rated: list[dict[str, Any]]) -> list[Any]:
    """What must be the same in a copy, whose conversations have ids of their own."""
    return [
        [
            each["chat_id"],
            each["interactor"],
            [(held["participant"], held["scores"]) for held in each["conversations"]],
            [held["conversation_id"] for held in each["conversations"]].index(each["preferred"])
            if each["preferred"]
            else None,
            {
                question: preferred and [held["conversation_id"] for held in each["conversations"]].index(preferred)
                for question, preferred in each["preferences"].items()
            },
            each["rated_at"],
        ]
        for each in rated
    ]


class TestRatings:
    async def test_come_back_with_the_conversations_that_they_are_of(self, suite: RunningSuite):
        study = await open_chats(suite, await two_bots(suite), compares="each_question")
        for number, preferred in enumerate((1, 2, None)):
            chat = await start(suite, study, f"p{number}\u2028")
            await talk(suite, chat)
            preferences = {"engaging": preferred, "quality": 2}
            rated_now = await rate(suite, chat, ratings(1, 2, preferred=preferred, preferences=preferences))
            assert rated_now.status_code == 200
        unrated = await start(suite, study, "unrated")
        await talk(suite, unrated)
        admin = await suite.client("conversations", "admin")
        assert (await admin.post(f"/v1/collections/{study}/finish")).status_code == 200

        content = await _exported(suite, study)
        rated = [row["rating"] for row in _rows(content)]
        assert sum(each is None for each in rated) == 2
        assert {each["score"] for each in rated[0]["scores"]} == set(SCORES.values())
        assert rated[0]["preferences"] == [
            {"question": "engaging", "preferred": 1},
            {"question": "quality", "preferred": 2},
        ]
        in_parquet = pq.read_table(io.BytesIO(await _exported(suite, study, "parquet"))).to_pylist()
        assert [row["rating"] and row["rating"]["interactor"] for row in in_parquet] == [
            each and each["interactor"] for each in rated
        ]
        copy, account = await _import(suite, content)
        assert (account["stored"], account["rejected"]["count"]) == (8, 0)
        assert _rows(await _exported(suite, copy)) == _rows(content)
        there, back = await _ratings_of(suite, study), await _ratings_of(suite, copy)
        assert all(is_pseudonym(each["interactor"]) for each in back)
        assert len({each["interactor"] for each in back}) == 3
        assert _without_ids(back) == _without_ids(there)
        again = await admin.post(f"/v1/collections/{copy}/uploads", content=content)
        assert (again.json()["already_there"], again.json()["stored"]) == (8, 0)
        analyst = await suite.client("conversations", "analyst")
        first = (await analyst.get(f"/v1/collections/{copy}/ratings", params={"limit": 2})).json()
        assert [*first["items"], *await _ratings_of(suite, copy, cursor=first["next_cursor"])] == back

    async def test_have_no_scores_of_a_conversation_that_was_broken_off(self, suite: RunningSuite):
        content = exported(1, mode="human_bot").model_dump(mode="json")
        rating = {
            "chat_id": str(UUID(int=7)),
            "interactor": "p",
            "number": 2,
            "scores": [],
            "preferred": 1,
            "rated_at": "2026-01-02T00:00:00Z",
        }
        copy, account = await _import(suite, json.dumps(content | {"rating": rating}).encode())
        assert account["stored"] == 1
        (rated,) = await _ratings_of(suite, copy)
        assert (rated["preferred"], rated["conversations"][0]["scores"]) == (None, {})  # conversation 1 is not there
        again = _rows(await _exported(suite, copy))[0]["rating"]
        assert again | {"interactor": "p"} == rating | {
            "preferences": [],  # the line is of a release without them
            "interactor_kind": "person",
        }
        assert again["interactor"] != "p"  # the panel's id stays here: an export has a pseudonym


class TestCancelledCollections:
    async def test_come_back_as_cancelled(self, suite: RunningSuite):
        study = await open_chats(suite, await two_bots(suite))
        await exchange(suite, await start(suite, study))
        admin = await suite.client("conversations", "admin")
        assert (await admin.post(f"/v1/collections/{study}/cancel")).status_code == 200
        content = await _exported(suite, study)
        assert [row["collection_cancelled"] for row in _rows(content)] == [True]
        copy, account = await _import(suite, content, cancelled=True)
        assert account["stored"] == 1
        found = (await admin.get(f"/v1/collections/{copy}")).json()
        assert (found["state"], found["cancelled"]) == ("cancelled", 1)
        assert _rows(await _exported(suite, copy)) == _rows(content)

    async def test_do_not_come_back_as_complete(self, suite: RunningSuite):
        """Neither way: a line says whether its collection was cancelled, and so does the import."""
        for is_cancelled in (True, False):
            line = exported(1, collection_cancelled=is_cancelled, state=ConversationState.COMPLETE).model_dump_json()
            _, account = await _import(suite, line.encode(), cancelled=not is_cancelled)
            assert (account["stored"], account["rejected"]["count"]) == (0, 1)
            assert "cancelled" in account["rejected"]["first"][0]["reason"]


class TestKinds:
    async def test_are_those_of_the_people_who_rated(self, suite: RunningSuite):
        """Programs keep their names; export, ratings and people say the same kind."""
        kinds = {"ann": "person", "eliza": "simulated", "gpt": "judge"}
        content = "\n".join(json.dumps(_rated_by(name, kind)) for name, kind in kinds.items()).encode()
        collection, account = await _import(suite, content)
        assert account["stored"] == 3
        found = {each["interactor"]: each["interactor_kind"] for each in await _ratings_of(suite, collection)}
        exported_ratings = [row["rating"] for row in _rows(await _exported(suite, collection))]
        assert {each["interactor"]: each["interactor_kind"] for each in exported_ratings} == found
        assert {name: kind for name, kind in found.items() if kind != "person"} == {
            "eliza": "simulated",
            "gpt": "judge",
        }
        (person,) = [name for name, kind in found.items() if kind == "person"]
        assert is_pseudonym(person)
        admin = await suite.client("conversations", "admin")
        people = (await admin.get(f"/v1/collections/{collection}/chat-people")).json()["items"]
        assert {each["person"]: each["kind"] for each in people} == kinds

    async def test_must_be_one_for_each_interactor(self, suite: RunningSuite):
        lines = [_rated_by("ann", "person"), _rated_by("ann", "simulated"), _rated_by("bob", "person")]
        content = "\n".join(map(json.dumps, lines)).encode()
        collection, account = await _import(suite, content)
        sentence = "rating.interactor: 'ann' has the kind `person` in this collection, not `{}`: a kind never changes."
        assert (account["stored"], account["rejected"]["count"]) == (2, 1)
        assert account["rejected"]["first"] == [{"line": 2, "reason": sentence.format("simulated")}]
        admin = await suite.client("conversations", "admin")
        later = json.dumps(_rated_by("ann", "judge")).encode()
        again = (await admin.post(f"/v1/collections/{collection}/uploads", content=later)).json()
        assert (again["stored"], again["rejected"]["first"]) == (0, [{"line": 1, "reason": sentence.format("judge")}])
        assert {each["interactor_kind"] for each in await _ratings_of(suite, collection)} == {"person"}


def _rated_by(interactor: str, kind: str) -> dict[str, Any]:
    row = exported(1, mode="human_bot").model_dump(mode="json")
    row["rating"] = {
        "chat_id": str(uuid4()),
        "interactor": interactor,
        "interactor_kind": kind,
        "number": 1,
        "scores": [{"question": "quality", "score": 4}],
        "preferred": None,
        "preferences": [],
        "rated_at": "2026-01-01T12:00:00Z",
    }
    return row | {"id": f"{interactor}-{kind}"}
