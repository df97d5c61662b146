"""Conversations of a collection are searched by who speaks, how they ended, their flags, lengths and texts."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from spotthebot.contracts.conversations.conversations import ConversationState, Ending
from spotthebot.conversations.searches import store as searches_store
from spotthebot.conversations.searches.domain import ConversationQuery
from spotthebot.kit.ids import new_ids
from tests.factories.running_suite import RunningSuite
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import bot, store_collection, store_conversations, store_flags, store_pairs
from tests.factories.studies import conversation, import_conversations

ONE, TWO, THREE = (bot(each, name) for each, name in zip(new_ids(3), ("one", "two", "three"), strict=True))


async def _stored(stored: SavepointDatabase) -> tuple[UUID, dict[str, UUID]]:
    """Store a collection with a conversation of each kind, and another with the same ones; return it by kinds."""
    async with stored.write() as session:
        for _ in range(2):
            mine = await store_collection(session, (ONE, TWO))
            await store_pairs(session, mine, (TWO, THREE), numbers=[1])
            kinds: dict[str, dict[str, Any]] = {
                "short": {"turns": ("Guten Tag, Ärger.",), "state": "complete", "ended_by": "exchanges"},
                "long": {"turns": ("Hi", "Ho", "50% off_x"), "state": "complete", "ended_by": "farewell"},
                "failed": {"turns": ("Hi", "Ho"), "state": "failed"},
                "of three": {"turns": ("Hi", "Ho"), "pair": 1, "state": "complete", "ended_by": "exchanges"},
                "opened": {"turns": ("Hi", "Ho"), "opening": ["Once", "upon a time"], "state": "running"},
            }
            ids = {name: (await store_conversations(session, mine, 1, **row))[0] for name, row in kinds.items()}
            await store_flags(session, mine, [ids["short"]])
            await store_flags(session, mine, [ids["long"]], profanity=[1])
    return mine, ids


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, ["short", "long", "failed", "of three", "opened"]),
        ({"participant": "one"}, ["short", "long", "failed", "opened"]),
        ({"participant": "three"}, ["of three"]),
        ({"participant": "thre"}, []),
        ({"state": ConversationState.FAILED}, ["failed"]),
        ({"ended_by": Ending.EXCHANGES}, ["short", "of three"]),
        ({"min_turns": 2}, ["long", "failed", "of three", "opened"]),
        ({"max_turns": 2, "min_turns": 2}, ["failed", "of three", "opened"]),
        ({"flag": "profanity"}, ["long"]),
        ({"flag": "personal_data"}, []),
        ({"text": "ärger"}, ["short"]),
        ({"text": "UPON A"}, ["opened"]),
        ({"text": "50%"}, ["long"]),
        ({"text": "0_"}, []),
        ({"text": "Hi", "state": ConversationState.COMPLETE}, ["long", "of three"]),
        ({"text": "'; DROP TABLE turns; --"}, []),
    ],
)
async def test_a_search_finds_what_matches_in_the_collection_and_nothing_else(
    stored: SavepointDatabase, asked: dict[str, Any], found: list[str]
):
    mine, ids = await _stored(stored)
    query = ConversationQuery(**asked)
    async with stored.read() as session:
        listed, searched_to = await searches_store.find_conversations(session, mine, query, after=None, limit=10)
        first, _ = await searches_store.find_conversations(session, mine, query, after=None, limit=1)
        rest, _ = await searches_store.find_conversations(
            session, mine, query, after=first[0] if first else ids["opened"], limit=10
        )
        beside = await searches_store.find_neighbours(session, mine, query, ids["failed"])
    names = {row_id: name for name, row_id in ids.items()}
    assert ([names[each] for each in listed], searched_to) == (found, None)
    assert [names[each] for each in [*first, *rest]] == found
    before, after = [each for each in found if each in {"short", "long"}], [*{*found} & {"of three", "opened"}]
    expected = before[-1] if before else None, min(after, key=list(ids).index) if after else None
    assert tuple(each and names[each] for each in beside) == expected


async def test_a_search_for_a_text_stops_after_so_many_conversations_and_goes_on_there(stored: SavepointDatabase):
    mine, ids = await _stored(stored)
    order, query = [*ids.values()], ConversationQuery(text="upon")
    async with stored.read() as session:
        found, stopped = await searches_store.find_conversations(session, mine, query, after=None, limit=10, at_once=3)
        assert (found, stopped) == ([], order[2])
        rest, end = await searches_store.find_conversations(session, mine, query, after=stopped, limit=10, at_once=3)
        assert (rest, end) == ([order[4]], None)


class TestSearching:
    """Over HTTP."""

    async def test_pages_go_on_in_the_same_search_alone(self, suite: RunningSuite):
        pairs = [("red", "blue"), ("red", "green"), ("HU", "red")]
        held = [conversation(f"c{number}", *pairs[number % 3], exchanges=1 + number % 2) for number in range(12)]
        collection = await import_conversations(suite, held)
        analyst = await suite.client("conversations", "analyst")
        path = f"/v1/collections/{collection}/conversations"
        search: dict[str, Any] = {"participant": "HU", "max_turns": 2, "text": "SAYS 1"}
        page = (await analyst.get(path, params=search | {"limit": 1})).json()
        rest = (await analyst.get(path, params=search | {"cursor": page["next_cursor"]})).json()
        assert [each["external_id"] for each in page["items"] + rest["items"]] == ["c2", "c8"]
        assert rest["next_cursor"] is None
        assert (await analyst.get(path, params={"cursor": page["next_cursor"]})).status_code == 422
        beside = await analyst.get(f"{path}/{page['items'][0]['id']}/neighbours", params=search)
        assert beside.json() == {"previous": None, "next": rest["items"][0]["id"]}

    @pytest.mark.parametrize("wrong", [{"text": "x" * 201}, {"text": ""}, {"min_turns": -1}, {"state": "over"}])
    async def test_what_nobody_can_ask_for_is_refused(self, suite: RunningSuite, wrong: dict[str, Any]):
        collection = await import_conversations(suite, [conversation("a", "one", "two")])
        analyst = await suite.client("conversations", "analyst")
        answer = await analyst.get(f"/v1/collections/{collection}/conversations", params=wrong)
        assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, *wrong)

    async def test_one_conversation_is_read_as_the_export_has_it(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation("a", "one", "HU"), conversation("b", "two", "HU")])
        client = await suite.conversations("analyst")
        held = [each async for each in client.list_conversations(UUID(collection))]
        found = await client.get_exported_conversation(held[1].id)
        assert (found.id, found.bots) == ("b", ("two", "HU"))
        assert [turn.text for turn in found.turns] == [turn.text for turn in held[1].turns]
        analyst, team = (
            await suite.client("conversations", "analyst"),
            await suite.client("conversations", "team", team="x"),
        )
        assert (await analyst.get(f"/v1/conversations/{uuid4()}/export")).status_code == 404
        assert (await team.get(f"/v1/conversations/{held[1].id}/export")).status_code == 403
