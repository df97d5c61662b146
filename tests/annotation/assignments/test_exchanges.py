"""Exchanges that annotators open one by one: what they see, when they decided, and that nothing can be seen before."""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from datetime import datetime
from typing import Any

import httpx
import psycopg

from tests.factories.annotating import (
    annotations_of,
    claim,
    movable_clock,
    refused,
    rows,
    save,
    state_of,
    submit,
    waited_for,
)
from tests.factories.campaigns import campaign_of, open_campaign
from tests.factories.protocols import document, single
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations

GAME = "spot_the_bot_gamified"


async def _campaign(suite: RunningSuite, *exchanges: int, **more: Any) -> dict[str, Any]:
    """Open a game over dialogues of these lengths, of which three exchanges can be opened."""
    dialogues = [
        conversation(f"d{number}", "SECRET-ONE", "SECRET-TWO", exchanges=each)
        for number, each in enumerate(exchanges or (3,))
    ]
    collection = await import_conversations(suite, dialogues)
    return await open_campaign(
        suite, collection, **{"protocol": GAME, "protocol_version": 1, "segments": [1, 3]} | more
    )


async def _open(suite: RunningSuite, assignment: dict[str, Any], exchange: Any, position: int = 0) -> httpx.Response:
    frontend = await suite.client("annotation", "annotation")
    path = f"/v1/assignments/{assignment['id']}/items/{position}/exchanges"
    return await frontend.post(path, json={"open": exchange})


async def _read(suite: RunningSuite, assignment: dict[str, Any]) -> dict[str, Any]:
    frontend = await suite.client("annotation", "annotation")
    return (await frontend.get(f"/v1/assignments/{assignment['id']}")).json()


def _entity(**labels: str) -> dict[str, Any]:
    return {"entity": labels}


def _problem(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].removeprefix("urn:spotthebot:problem:")


def _said(turns: list[dict[str, str]]) -> list[str]:
    return [turn["text"].partition("says ")[2] for turn in turns]


class TestOpen:
    async def test_shows_one_exchange_after_another_and_the_same_again(self, suite: RunningSuite):
        assignment = await claim(suite, await _campaign(suite), "w")
        (item,) = assignment["items"]
        assert (item["turns"], item["opened"], item["decisions"]) == ([], 0, [])
        answers = {exchange: await _open(suite, assignment, exchange) for exchange in (1, 2, 3)}
        assert [(each.json()["opened"], _said(each.json()["turns"])) for each in answers.values()] == [
            (1, ["0", "1"]),
            (2, ["0", "1", "2", "3"]),
            (3, ["0", "1", "2", "3", "4", "5"]),
        ]
        for exchange, first in answers.items():  # also an earlier one, although more is open by now
            assert (await _open(suite, assignment, exchange)).content == first.content

    async def test_is_refused_for_any_exchange_but_the_next_whether_or_not_there_is_one(self, suite: RunningSuite):
        assignment = await claim(suite, await _campaign(suite), "w")
        for opened in range(3):
            refusals = [await _open(suite, assignment, each) for each in (opened + 2, 500)]
            assert {_problem(each) for each in refusals} == {(409, "exchange-not-next")}
            assert (await _open(suite, assignment, opened + 1)).status_code == 200
        assert _problem(await _open(suite, assignment, 4)) == (409, "all-exchanges-open")

    async def test_takes_nothing_but_a_number_of_an_exchange(self, suite: RunningSuite):
        assignment = await claim(suite, await _campaign(suite), "w")
        for exchange in (0, -1, 501, 2**70, 1.5, "<b>\u2028", "\x00", None, [1], "1" * 1_000_000):
            assert (await _open(suite, assignment, exchange)).status_code in {400, 413, 422}
        assert rows(suite, "SELECT count(*) FROM annotation.answers") == [(0,)]

    async def test_goes_on_after_a_reload_where_it_was(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        assignment = await claim(suite, campaign, "w")
        await _open(suite, assignment, 1)
        await save(suite, assignment, 0, _entity(A="human"))
        shown = (await _open(suite, assignment, 2)).json()["turns"]
        for again in (await _read(suite, assignment), await claim(suite, campaign, "w")):
            (item,) = again["items"]
            assert (item["turns"], item["opened"], item["answer"]) == (shown, 2, _entity(A="human"))
            assert [(each["question"], each["target"], each["exchanges"]) for each in item["decisions"]] == [
                ("entity", "A", 1)
            ]

    async def test_opens_each_exchange_once_when_requests_come_at_once(self, suite: RunningSuite):
        assignment = await claim(suite, await _campaign(suite), "w")
        for exchange in (1, 2, 3):
            answers = await asyncio.gather(*(_open(suite, assignment, exchange) for _ in range(8)))
            assert {each.status_code for each in answers} == {200}
            assert len({each.content for each in answers}) == 1
            assert rows(suite, "SELECT cardinality(opened_at) FROM annotation.answers") == [(exchange,)]

    async def test_lets_nobody_skip_one_by_asking_for_all_at_once(self, suite: RunningSuite):
        assignment = await claim(suite, await _campaign(suite, 6, segments=[6]), "w")
        asked = [each for each in range(1, 7) for _ in range(3)]
        answers = await asyncio.gather(*(_open(suite, assignment, each) for each in reversed(asked)))
        opened = (await _read(suite, assignment))["items"][0]["opened"]
        by_status = {each.status_code for each in answers}
        assert by_status <= {200, 409}
        assert max(len(each.json()["turns"]) // 2 for each in answers if each.status_code == 200) == opened
        assert 1 <= opened <= 6

    async def test_is_for_the_frontend_of_the_assignment_alone(self, suite: RunningSuite):
        assignment = await claim(suite, await _campaign(suite), "w")
        path = f"/v1/assignments/{assignment['id']}/items/0/exchanges"
        other = await suite.client("annotation", "annotation", team="another")
        assert (await other.post(path, json={"open": 1})).status_code == 404
        analyst = await suite.client("annotation", "analyst")
        assert (await analyst.post(path, json={"open": 1})).status_code == 403
        assert _problem(await _open(suite, assignment, 1, position=1)) == (422, "no-such-item")

    async def test_is_refused_where_items_are_shown_whole(self, suite: RunningSuite):
        assignment = await claim(suite, await campaign_of(suite), "w")
        assert {item["opened"] for item in assignment["items"]} == {None}
        assert _problem(await _open(suite, assignment, 1)) == (409, "shown-whole")

    async def test_keeps_the_package_and_ends_with_its_lease(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        clock = movable_clock(suite)
        assignment = await claim(suite, campaign, "w")
        clock.advance(minutes=40)
        assert (await _open(suite, assignment, 1)).status_code == 200
        clock.advance(minutes=50)
        assert (await _open(suite, assignment, 2)).status_code == 200
        clock.advance(minutes=61)
        assert _problem(await _open(suite, assignment, 3)) == (409, "assignment-expired")


class TestDecision:
    async def test_needs_an_open_exchange(self, suite: RunningSuite):
        assignment = await claim(suite, await _campaign(suite), "w")
        assert _problem(await save(suite, assignment, 0, _entity(A="bot"))) == (409, "no-exchange-open")
        assert (await save(suite, assignment, 0, {})).status_code == 200

    async def test_can_change_until_another_exchange_is_opened(self, suite: RunningSuite):
        assignment = await claim(suite, await _campaign(suite), "w")
        await _open(suite, assignment, 1)
        for answer in (_entity(A="human"), _entity(A="bot"), {}, _entity(A="unsure")):
            assert (await save(suite, assignment, 0, answer)).status_code == 200
        await _open(suite, assignment, 2)
        for late in (_entity(A="human"), _entity(A="human", B="bot"), _entity(B="bot"), {}):
            assert _problem(await save(suite, assignment, 0, late)) == (409, "decision-locked")
        both = await save(suite, assignment, 0, _entity(A="unsure", B="bot"))
        assert (both.status_code, both.json()["missing"]) == (200, [])
        changed = await save(suite, assignment, 0, _entity(A="unsure", B="human"))
        assert changed.status_code == 200
        (item,) = (await _read(suite, assignment))["items"]
        assert [(each["target"], each["exchanges"]) for each in item["decisions"]] == [("A", 1), ("B", 2)]

    async def test_on_both_sides_opens_no_other_exchange_until_one_is_taken_back(self, suite: RunningSuite):
        assignment = await claim(suite, await _campaign(suite), "w")
        await _open(suite, assignment, 1)
        await save(suite, assignment, 0, _entity(A="human", B="bot"))
        assert _problem(await _open(suite, assignment, 2)) == (409, "everything-decided")
        assert (await _open(suite, assignment, 1)).status_code == 200
        await save(suite, assignment, 0, _entity(A="human"))
        assert (await _open(suite, assignment, 2)).status_code == 200

    async def test_is_kept_with_its_turn_and_the_servers_times(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=1)
        clock = movable_clock(suite)
        assignment = await claim(suite, campaign, "w")
        clock.advance(seconds=100)  # before the first exchange is opened no work on the item begins
        for seconds, answer in (
            (0, None),
            (7, None),
            (5, _entity(A="bot")),
            (9, None),
            (4, _entity(A="bot", B="human")),
        ):
            clock.advance(seconds=seconds)
            if answer is None:
                opened = len((await _read(suite, assignment))["items"][0]["turns"]) // 2
                assert (await _open(suite, assignment, opened + 1)).status_code == 200
            else:
                assert (await save(suite, assignment, 0, answer)).status_code == 200
        assert (await submit(suite, assignment)).status_code == 200
        (stored,) = await annotations_of(suite, campaign)
        seconds_of = {
            each["target"]: (each["exchanges"], *_seconds(stored["started_at"], each["opened_at"], each["decided_at"]))
            for each in stored["decisions"]
        }
        # Exchanges were opened at 0, 7 and 21 s; A was decided at 12 s, B at 25 s.
        assert seconds_of == {"A": (2, 7, 12), "B": (3, 21, 25)}
        assert stored["answer"] == _entity(A="bot", B="human")
        assert stored["exchanges"] == 3
        assert stored["elapsed_ms"] // 1000 == 25
        assert _problem(await _open(suite, assignment, 1)) == (409, "assignment-submitted")
        assert (await state_of(suite, campaign))["state"] == "complete"

    async def test_counts_what_was_open_when_requests_come_at_once(self, suite: RunningSuite):
        """Whichever request comes first: an answer that is locked has one exchange, one that is not has two."""
        campaign = await _campaign(suite, *[3] * 6, package_size=6, annotations_per_segment=1)
        assignment = await claim(suite, campaign, "w")
        for position in range(6):
            await _open(suite, assignment, 1, position)
        await asyncio.gather(
            *(_open(suite, assignment, 2, position) for position in range(6)),
            *(save(suite, assignment, position, _entity(A="human")) for position in range(6)),
        )
        for item in (await _read(suite, assignment))["items"]:
            (decision,) = item["decisions"]
            assert item["opened"] == 2
            changed = await save(suite, assignment, item["position"], _entity(A="bot"))
            assert changed.status_code == {1: 409, 2: 200}[decision["exchanges"]]

    async def test_is_locked_in_later_steps_as_well_and_is_none_with_a_blank_text(self, suite: RunningSuite):
        why = {"id": "why", "kind": "text", "text": "Why?", "required": True}
        entity = single("entity", "human", "bot", per="side")
        body = document([entity, why], [single("sure", "yes", "no")], reveal="exchange_by_exchange")
        admin = await suite.client("annotation", "admin")
        await created(admin, "/v1/protocols", {"protocol": body | {"name": "asked_twice"}})
        assignment = await claim(suite, await _campaign(suite, protocol="asked_twice", segments=[3]), "w")
        await _open(suite, assignment, 1)
        blank = _entity(A="human") | {"why": "  "}
        assert (await save(suite, assignment, 0, blank)).status_code == 200
        await _open(suite, assignment, 2)
        said = _entity(A="human", B="bot") | {"why": "It echoes."}
        assert (await save(suite, assignment, 0, said, show_step=2)).status_code == 200
        assert _problem(await _open(suite, assignment, 3)) == (409, "everything-decided")
        assert (await save(suite, assignment, 0, said | {"sure": "yes"})).status_code == 200
        (item,) = (await _read(suite, assignment))["items"]
        assert Counter((each["question"], each["exchanges"]) for each in item["decisions"]) == {
            ("entity", 1): 1,
            ("entity", 2): 1,
            ("why", 2): 1,
            ("sure", 2): 1,
        }


class TestRequestsThatWaited:
    """A request that waits for another one's lock has read what was there before: it has to read again."""

    async def test_to_open_an_exchange_close_none_that_was_opened_meanwhile(self, suite: RunningSuite):
        assignment = await claim(suite, await _campaign(suite), "w")
        await _open(suite, assignment, 1)
        answer = await _overtaken(suite, _open(suite, assignment, 2), opened=3)
        assert _said(answer.json()["turns"]) == ["0", "1", "2", "3"]
        assert (await _read(suite, assignment))["items"][0]["opened"] == 3

    async def test_to_save_an_answer_count_what_was_opened_meanwhile(self, suite: RunningSuite):
        assignment = await claim(suite, await _campaign(suite), "w")
        await _open(suite, assignment, 1)
        answer = await _overtaken(suite, save(suite, assignment, 0, _entity(A="human")), opened=2)
        assert answer.status_code == 200
        (decision,) = (await _read(suite, assignment))["items"][0]["decisions"]
        assert decision["exchanges"] == 2


async def _overtaken(
    suite: RunningSuite, request: Coroutine[Any, Any, httpx.Response], *, opened: int
) -> httpx.Response:
    """Hold the assignment until a request waits for it, and open exchanges before it goes on."""
    async with await psycopg.AsyncConnection.connect(suite.database.owner["annotation"]) as connection:
        await connection.execute("SELECT id FROM annotation.assignments FOR UPDATE")
        task = asyncio.create_task(request)
        await waited_for(connection)
        await connection.execute("UPDATE annotation.answers SET opened_at = array_fill(now(), ARRAY[%s])", [opened])
    return await task


class TestWhatIsNotOpen:
    async def test_is_in_no_answer_whatever_a_frontend_asks_for(self, suite: RunningSuite):
        campaign = await _campaign(suite, 3, 5, package_size=2)
        frontend = await suite.client("annotation", "annotation")
        heard: list[bytes] = []

        async def listen(answer: httpx.Response) -> None:
            heard.append(await answer.aread())

        frontend.event_hooks["response"].append(listen)
        try:
            assignment = await claim(suite, campaign, "w")
            await _open(suite, assignment, 1, 0)
            await save(suite, assignment, 0, _entity(A="bot"))
            for exchange in (2, 3, 4, 7):
                await _open(suite, assignment, exchange, 1)
            await save(suite, assignment, 1, _entity(A="robot"))
            await frontend.post(f"/v1/assignments/{assignment['id']}/heartbeat", json={"position": 1})
            await submit(suite, assignment)
            await _read(suite, assignment)
            for path in ("", "/preview", "/annotations", "/packages"):
                await frontend.get(f"/v1/campaigns/{campaign['id']}{path}")
        finally:
            frontend.event_hooks["response"].remove(listen)
        everything = b"".join(heard)
        assert b"says 0" in everything
        assert b"says 1" in everything
        assert not any(f"says {turn}".encode() in everything for turn in range(2, 10))

    async def test_has_no_number_and_no_size_that_tells_how_long_a_dialogue_is(self, suite: RunningSuite):
        """Dialogues of three and of six exchanges: both can be opened to three, and every answer is as long."""
        campaign = await _campaign(suite, *[3, 6] * 3, package_size=1, annotations_per_segment=1)
        sizes: dict[int, set[tuple[int, ...]]] = {}
        for number in range(6):
            answer = await claim(suite, campaign, f"w{number}")
            opened = [await _open(suite, answer, exchange) for exchange in (1, 2, 3)]
            beyond = await _open(suite, answer, 4)
            key = opened[0].json()["turns"][0]["text"].partition(" says")[0]
            found = (*(len(each.content) for each in opened), len(str(answer["items"])), beyond.status_code)
            sizes.setdefault(int(key[1:]) % 2, set()).add(found)
        assert sizes[0] == sizes[1]
        assert len(sizes[0]) == 1

    async def test_leaves_dialogues_out_that_are_shorter_than_the_longest_length(self, suite: RunningSuite):
        campaign = await _campaign(suite, 3, 2, 5, 1, annotations_per_segment=1, package_size=4)
        assert (campaign["items"], campaign["too_short"]) == (2, 2)
        assignment = await claim(suite, campaign, "w")
        for position in (0, 1):
            for exchange in (1, 2, 3):
                assert (await _open(suite, assignment, exchange, position)).status_code == 200
            assert _problem(await _open(suite, assignment, 4, position)) == (409, "all-exchanges-open")
        assert await refused(suite, campaign, "another") == "nothing-left"


def _seconds(start: str, *moments: str) -> list[int]:
    return [(datetime.fromisoformat(each) - datetime.fromisoformat(start)).seconds for each in moments]
