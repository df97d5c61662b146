"""People who talk to bots: a whole exchange as a frontend has it, heard by events, and blind."""

import asyncio
import contextlib
import json
from typing import Any

from spotthebot.conversations.app import create_app
from spotthebot.kit.crypto.pseudonyms import is_pseudonym
from spotthebot.kit.processes.sockets import bind
from tests.factories.frontends import (
    SCORES,
    advance,
    all_events,
    answered,
    chats_of,
    conversations_of,
    exchange,
    get,
    listening,
    open_chats,
    rate,
    ratings,
    say,
    start,
    talk,
    two_bots,
)
from tests.factories.running_suite import RunningSuite, served
from tests.factories.studies import add_bot
from tests.factories.subscribers import until


class TestExchange:
    async def test_a_person_talks_to_two_bots_and_rates_them(self, suite: RunningSuite):
        bots = {await add_bot(suite, model): model for model in ("eliza", "dull")}
        collection_id = await open_chats(suite, list(bots))
        chat = await start(suite, collection_id)
        assert (chat["state"], chat["partners"], chat["awaits_reply"]) == ("chatting", 2, False)
        assert chat["conversations"] == [
            {"number": 1, "over": False, "broken_off": False, "turns": [], "opening": 0, "persona": None}
        ]
        assert (await rate(suite, chat, ratings(1))).status_code == 409  # too early
        first = await exchange(suite, chat, "  Good morning!  ")
        turns = first["conversations"][0]["turns"]
        assert [turn["speaker"] for turn in turns] == ["you", "partner"]
        assert (turns[0]["text"], first["may_advance"]) == ("Good morning!", True)
        second = (await advance(suite, chat)).json()
        assert [each["over"] for each in second["conversations"]] == [True, False]
        for _ in range(3):  # six turns end a conversation by themselves
            last = await exchange(suite, chat)
        assert (last["state"], [len(each["turns"]) for each in last["conversations"]]) == ("rating", [2, 6])
        for preferred in (1, 2):  # sent again, the second takes the place of the first
            rated = await rate(suite, chat, ratings(1, 2, preferred=preferred))
            assert (rated.status_code, rated.json()["state"]) == (200, "rated")

        analyst = await suite.client("conversations", "analyst")
        (rating,) = (await analyst.get(f"/v1/collections/{collection_id}/ratings")).json()["items"]
        held = await conversations_of(suite, collection_id)
        assert is_pseudonym(rating["interactor"])
        assert [each["scores"] for each in rating["conversations"]] == [SCORES, SCORES]
        assert [each["conversation_id"] for each in rating["conversations"]] == [each["id"] for each in held]
        assert rating["preferred"] == held[1]["id"]
        for each, kept in zip(rating["conversations"], held, strict=True):
            assert each["participant"] == kept["participants"][1]
            assert bots[each["participant"]["bot_id"]] == each["participant"]["name"]
            assert (kept["participants"][0]["name"], each["participant"]["version"]) == ("HU", 1)
        assert [each["ended_by"] for each in held] == ["person", "exchanges"]
        assert [turn["text"] for turn in held[0]["turns"]] == [turn["text"] for turn in turns]
        collection = (await analyst.get(f"/v1/collections/{collection_id}")).json()
        assert (collection["state"], collection["conversations"], collection["complete"]) == ("collecting", 2, 2)
        assert collection["turns"] == 8

    async def test_a_person_compares_on_each_question_where_the_collection_asks_for_it(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite), compares="each_question")
        chat = await start(suite, collection_id)
        assert chat["compares"] == "each_question"
        await talk(suite, chat)
        refused = await rate(suite, chat, ratings(1, 2, preferred=2))
        assert (refused.status_code, refused.json()["type"].rpartition(":")[2]) == (422, "ratings-incomplete")
        assert {each["pointer"] for each in refused.json()["errors"]} == {"/preferences"}
        chosen = ratings(1, 2, preferred=2, preferences={"engaging": 1, "quality": None})
        assert (await rate(suite, chat, chosen)).json()["state"] == "rated"
        analyst = await suite.client("conversations", "analyst")
        (rating,) = (await analyst.get(f"/v1/collections/{collection_id}/ratings")).json()["items"]
        first, second = [each["conversation_id"] for each in rating["conversations"]]
        assert (rating["preferred"], rating["preferences"]) == (second, {"engaging": first, "quality": None})

    async def test_a_finished_collection_takes_no_chats_but_ratings(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite))
        admin = await suite.client("conversations", "admin")
        over, running = await start(suite, collection_id), await start(suite, collection_id, "p2")
        await talk(suite, over)
        for _ in range(2):  # the second time changes nothing
            done = await admin.post(f"/v1/collections/{collection_id}/finish")
            assert (done.status_code, done.json()["state"]) == (200, "complete")
        assert [done.json()[name] for name in ("conversations", "complete", "cancelled")] == [3, 2, 1]
        refused = await admin.post("/v1/chats", json={"collection_id": collection_id, "interactor": "p3"})
        assert (refused.status_code, "complete" in refused.json()["detail"]) == (409, True)
        assert (await get(suite, running))["state"] == "abandoned"
        assert (await rate(suite, over, ratings(1, 2))).status_code == 200

        async def events() -> list[dict[str, Any]]:
            items: list[dict[str, Any]] = (await admin.get("/v1/events")).json()["items"]
            return items

        assert [each["data"]["collection"]["id"] for each in await until(events)] == [collection_id]


class TestEntries:
    """What a frontend asks when somebody comes by a link."""

    async def test_list_a_persons_own_chats_page_by_page(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite))
        over = await start(suite, collection_id, "p 1")
        await talk(suite, over)
        await rate(suite, over, ratings(1, 2))
        again = await start(suite, collection_id, "p 1")
        await start(suite, collection_id, "p2")
        frontend = await suite.client("conversations", "annotation")
        query: dict[str, str | int] = {"collection_id": collection_id, "interactor": "p 1", "limit": 1}
        first = (await frontend.get("/v1/chats", params=query)).json()
        rest = (await frontend.get("/v1/chats", params=query | {"cursor": first["next_cursor"]})).json()
        found = [(each["id"], each["state"]) for page in (first, rest) for each in page["items"]]
        assert found == [(over["id"], "rated"), (again["id"], "chatting")]
        assert (set(first["items"][0]), rest["next_cursor"]) == ({"id", "state", "created_at"}, None)

    async def test_by_a_revoked_link_are_refused_and_begin_no_chat(self, suite: RunningSuite):
        bots = await two_bots(suite)
        collection_id, other = [await open_chats(suite, bots) for _ in range(2)]
        frontend, admin = [await suite.client("conversations", role) for role in ("annotation", "admin")]
        path, link = f"/v1/collections/{collection_id}/revoked-links", {"link": "ann's"}
        chat = await start(suite, collection_id, "ann")
        assert [(await frontend.post(path, json=link)).status_code, (await admin.post(path, json={})).status_code] == [
            403,
            422,
        ]
        one, two = [await admin.post(path, json=link) for _ in range(2)]
        assert (one.status_code, one.json()) == (201, two.json())
        wish = {"collection_id": collection_id, "interactor": "ann"}
        assert (await frontend.post("/v1/chats", json=wish | link)).json()["id"] == chat["id"]  # it had begun
        refused = [
            await frontend.get("/v1/chats", params=wish | link),
            await frontend.post("/v1/chats", json=wish | link | {"interactor": "bob"}),
        ]
        assert [(each.status_code, each.json()["type"].rpartition(":")[2]) for each in refused] == [
            (403, "chat-link-revoked")
        ] * 2
        assert (await frontend.get("/v1/chats", params=wish)).status_code == 200
        elsewhere = {"collection_id": other, "interactor": "ann"} | link
        assert (await frontend.post("/v1/chats", json=elsewhere)).status_code == 201
        analyst = await suite.client("conversations", "analyst")
        assert (await analyst.get("/v1/chats", params=wish)).status_code == 403


class TestEvents:
    async def test_report_each_turn_once_and_end_with_done(self, suite: RunningSuite):
        chat = await start(suite, await open_chats(suite, await two_bots(suite)))
        listener = asyncio.create_task(all_events(suite, chat))
        await talk(suite, chat)
        events = await listener
        assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
        one = [("turn", "you"), ("typing", None), ("turn", "partner")]
        assert [(kind, data.get("speaker")) for _, kind, data in events] == [*one, ("next", None), *one, ("done", None)]
        assert (events[3][2], events[-1][2]) == ({"number": 2}, {"state": "rating"})
        shown = [turn["text"] for each in (await get(suite, chat))["conversations"] for turn in each["turns"]]
        assert [data["text"] for _, kind, data in events if kind == "turn"] == shown

    async def test_a_listener_that_was_cut_off_gets_every_event_once(self, suite: RunningSuite):
        """One listener for each event after which a connection can end, at the moment when it comes."""
        chat = await start(suite, await open_chats(suite, await two_bots(suite)))

        async def hear(until: int) -> list[int]:
            async with listening(suite, chat) as events:
                heard = []
                async for number, _, _ in events:
                    heard.append(number)
                    if number == until:
                        break
            return heard + [number for number, _, _ in await all_events(suite, chat, after=until)]

        listeners = [asyncio.create_task(hear(until)) for until in range(1, 9)]
        await talk(suite, chat)
        assert await asyncio.gather(*listeners) == [list(range(1, 9))] * 8

    async def test_the_state_has_the_number_of_its_last_event(self, suite: RunningSuite):
        chat = await start(suite, await open_chats(suite, await two_bots(suite)))
        await exchange(suite, chat)
        now = await get(suite, chat)
        assert now["last_event"] == 3
        listener = asyncio.create_task(all_events(suite, chat, after=now["last_event"]))
        await advance(suite, chat)
        await exchange(suite, chat)
        await advance(suite, chat)
        assert [kind for _, kind, _ in await listener] == ["next", "turn", "typing", "turn", "done"]

    async def test_events_continue_the_state_at_every_moment(self, suite: RunningSuite):
        """A frontend that starts from the state and its last event gets every later turn once."""
        chat = await start(suite, await open_chats(suite, await two_bots(suite), maximum_turns=20))
        talking = asyncio.create_task(_talk_to_the_end(suite, chat))
        seen = [await get(suite, chat)]
        while not talking.done():
            seen.append(await get(suite, chat))
        await talking
        # An exchange is three events: turn, typing, turn. The last one is followed by `next`.
        turns_by_events = {0: 0} | {3 * n + 2: 2 * n + 1 for n in range(10)} | {3 * n + 3: 2 * n + 2 for n in range(9)}
        turns_by_events[31] = 20
        reported = {(each["last_event"], len(each["conversations"][0]["turns"])) for each in seen}
        assert reported <= set(turns_by_events.items())
        assert len(reported) > 5
        assert all(len(each["conversations"]) == 1 + (each["last_event"] == 31) for each in seen)

    async def test_reach_a_listener_at_another_process(self, suite: RunningSuite):
        """What is said through one application is heard through a second one, which shares the database alone."""
        chat = await start(suite, await open_chats(suite, await two_bots(suite)))
        second = create_app(suite.apps["conversations"].state.core.settings)
        frontend = await suite.client("conversations", "annotation")
        with contextlib.closing(bind("127.0.0.1", 0)) as sock:
            async with served(second, sock) as url:
                listener = asyncio.create_task(all_events(suite, chat, url=url))
                await talk(suite, chat)
                assert len(await listener) == 8
                elsewhere = await frontend.get(f"{url}/v1/chats/{chat['id']}")
        assert elsewhere.json() == await get(suite, chat)


class TestBlindness:
    async def test_no_answer_to_a_frontend_reveals_the_bot(self, suite: RunningSuite):
        names = {
            name: await add_bot(suite, model, name=name) for name, model in (("mirr0r", "parrot"), ("r0ger", "eliza"))
        }
        collection_id = await open_chats(suite, list(names.values()))
        chat = await start(suite, collection_id)
        listener = asyncio.create_task(all_events(suite, chat))
        frontend = await suite.client("conversations", "annotation")
        answers = [chat, (await say(suite, chat, "I like it.")).json(), await answered(suite, chat)]
        answers += [
            (await advance(suite, chat)).json(),
            await exchange(suite, chat),
            (await advance(suite, chat)).json(),
        ]
        answers += [await listener, (await rate(suite, chat, ratings(1, 2))).json(), await get(suite, chat)]
        held = await conversations_of(suite, collection_id)
        shown = json.dumps(answers)
        secret = [*names, *names.values(), "version", "latency", "sha256", "bot", *(each["id"] for each in held)]
        assert [word for word in secret if word in shown] == []
        for path in ("chats", "ratings", "conversations", "pairs", "failures"):
            assert (await frontend.get(f"/v1/collections/{collection_id}/{path}")).status_code == 403
        for bot_id in names.values():
            assert (await frontend.get("/v1/conversations", params={"bot_id": bot_id})).status_code == 403


class TestDraws:
    async def test_a_person_gets_the_open_chat_again_and_then_bots_not_met_yet(self, suite: RunningSuite):
        collection_id = await open_chats(suite, [*await two_bots(suite), await add_bot(suite, "parrot")])
        for _ in range(3):
            chats = await asyncio.gather(*(start(suite, collection_id) for _ in range(3)))
            assert len({chat["id"] for chat in chats}) == 1
            await talk(suite, chats[0])
            await rate(suite, chats[0], ratings(1, 2))
        drawn = [frozenset(each["bots"]) for each in await chats_of(suite, collection_id)]
        assert (len(drawn), len(set(drawn))) == (3, 3)

    async def test_people_who_start_at_once_share_the_pairs_evenly(self, suite: RunningSuite):
        collection_id = await open_chats(suite, [*await two_bots(suite), await add_bot(suite, "parrot")])
        await asyncio.gather(*(start(suite, collection_id, f"p{number}") for number in range(9)))
        drawn = [frozenset(each["bots"]) for each in await chats_of(suite, collection_id)]
        assert sorted(drawn.count(each) for each in set(drawn)) == [3, 3, 3]

    async def test_many_people_chat_at_once_without_delaying_each_other(self, suite: RunningSuite):
        """All go through everything at the same time; a deadlock would be an answer with status 503."""
        collection_id = await open_chats(suite, await two_bots(suite))
        frontend = await suite.client("conversations", "annotation")

        async def everything(number: int) -> dict[str, Any]:
            chat = await start(suite, collection_id, f"p{number}")
            await talk(suite, chat)
            return (await rate(suite, chat, ratings(1, 2))).json()

        chats = await asyncio.gather(*(everything(number) for number in range(8)))
        assert [chat["state"] for chat in chats] == ["rated"] * 8
        analyst = await suite.client("conversations", "analyst")
        collection = (await analyst.get(f"/v1/collections/{collection_id}")).json()
        assert [collection[name] for name in ("conversations", "complete", "turns")] == [16, 16, 32]
        first = (await analyst.get(f"/v1/collections/{collection_id}/ratings", params={"limit": 5})).json()
        rest = await analyst.get(f"/v1/collections/{collection_id}/ratings", params={"cursor": first["next_cursor"]})
        people = [each["interactor"] for page in (first, rest.json()) for each in page["items"]]
        assert len(set(people)) == 8
        assert (await frontend.get(f"/v1/collections/{collection_id}")).status_code == 403

    async def test_give_each_bot_as_many_conversations_which_operators_see_by_name(self, suite: RunningSuite):
        bots = [*await two_bots(suite), await add_bot(suite, "parrot")]
        collection_id = await open_chats(suite, bots)
        for number in range(3):
            chat = await start(suite, collection_id, f"p{number}")
            if number:  # the first person only begins
                await talk(suite, chat)
                assert (await rate(suite, chat, ratings(1, 2))).status_code == 200
        first = (await chats_of(suite, collection_id))[0]["bots"][0]
        analyst, frontend = [await suite.client("conversations", role) for role in ("analyst", "annotation")]
        path = f"/v1/collections/{collection_id}/chat-bots"
        found = (await analyst.get(path)).json()["bots"]
        assert [each["bot_id"] for each in found] == bots
        assert [each["name"] for each in found] == ["eliza", "dull", "parrot"]
        # Three pairs of three bots are two conversations with each: five began, of which the last four were rated.
        assert sum(sum(each["conversations"].values()) for each in found) == 5
        assert sum(each["rated"] for each in found) == 4
        assert {each["bot_id"]: each["conversations"].get("running", 0) for each in found} == {
            bot: int(bot == first) for bot in bots
        }
        assert all(each["rated"] == each["conversations"].get("complete", 0) for each in found)
        assert (await frontend.get(path)).status_code == 403

    async def test_failing_bots_are_not_drawn(self, suite: RunningSuite):
        bots = [*await two_bots(suite), await add_bot(suite, "parrot")]
        collection_id = await open_chats(suite, bots)
        admin = await suite.client("bots", "admin")
        await admin.patch(f"/v1/bots/{bots[0]}", json={"status": "suspended"})
        await asyncio.gather(*(start(suite, collection_id, f"p{number}") for number in range(4)))
        assert {frozenset(each["bots"]) for each in await chats_of(suite, collection_id)} == {frozenset(bots[1:])}
        await admin.patch(f"/v1/bots/{bots[1]}", json={"status": "suspended"})
        frontend = await suite.client("conversations", "annotation")
        nobody = await frontend.post("/v1/chats", json={"collection_id": collection_id, "interactor": "late"})
        assert (nobody.status_code, "try again later" in nobody.json()["detail"]) == (503, True)


async def _talk_to_the_end(suite: RunningSuite, chat: dict[str, Any]) -> None:
    """Talk to one bot until the conversation ends by itself."""
    while len((await exchange(suite, chat))["conversations"]) == 1:
        pass
