"""Gold items of every unit: pairs, dialogues whose exchanges are opened, and packages that were uploaded."""

from typing import Any

import httpx
import pytest

from spotthebot.kit.database.statements import Statement
from tests.factories.annotating import claim, refused, rows, save, state_of, submit
from tests.factories.annotator_trainings import RIGHT, gold_dialogue, gold_pair, is_gold, preferring, store_training
from tests.factories.campaigns import open_campaign, package_rows
from tests.factories.exported import exported
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations, until

GOLD = {"gold": {"training": "gold_set", "per_package": 2}, "packages_per_annotator": 2, "package_size": 3}
COMPARED = {"protocol": "comparative", "protocol_version": 2, "questions": ["relevant"]}
GAME = "spot_the_bot_gamified"


def _dialogues(count: int) -> list[dict[str, Any]]:
    """Return dialogues of three exchanges with one bot and with another."""
    return [conversation(f"d{number}", "HU", f"SECRET-{number % 2}") for number in range(count)]


async def _with_openings(suite: RunningSuite, count: int) -> str:
    """Return a collection of dialogues of three exchanges after an opening of two turns, which is shown."""
    admin = await suite.client("conversations", "admin")
    collection = await created(admin, "/v1/collections", {"mode": "import", "name": "made-up", "domain": "everyday"})
    whole = [exported(number, exchanges=3, opening_shown=True) for number in range(count)]
    lines = b"".join(each.model_dump_json().encode() + b"\n" for each in whole)
    answer = await admin.post(f"/v1/collections/{collection['id']}/uploads", content=lines)
    assert answer.status_code == 200, answer.text
    return collection["id"]


async def _campaign(suite: RunningSuite, dialogues: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return await open_campaign(suite, await import_conversations(suite, dialogues), **GOLD | more)


async def _counts(suite: RunningSuite, campaign: dict[str, Any]) -> tuple[int, int, int]:
    """Return how many gold items the one annotator answered right and wrong, and the annotations of the campaign."""
    admin = await suite.client("annotation", "admin")
    (annotator,) = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
    return annotator["gold_right"], annotator["gold_wrong"], (await state_of(suite, campaign))["annotations"]


def _problem(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].removeprefix("urn:spotthebot:problem:")


class TestPairs:
    async def test_stand_between_the_others_and_are_graded_by_their_preference(self, suite: RunningSuite):
        pairs = [gold_pair(f"gold {number}", exchanges=3) for number in range(4)]
        await store_training(suite, name="gold_set", **COMPARED, dialogues=pairs)
        campaign = await _campaign(suite, _dialogues(12), protocol="comparative")
        assignment = await claim(suite, campaign, "w")
        assert sum(map(is_gold, assignment["items"])) == 2
        assert {(len(item["turns"]), len(item["right_turns"])) for item in assignment["items"]} == {(6, 6)}
        assert len({tuple(item) for item in assignment["items"]}) == 1
        wrong = next(item["position"] for item in assignment["items"] if is_gold(item))
        for item in assignment["items"]:
            answer = preferring("tie") | {"relevant": "B" if item["position"] == wrong else "A"}
            assert (await save(suite, assignment, item["position"], answer)).status_code == 200
        sides = await save(suite, assignment, wrong, {"relevant": {"A": "A"}})
        assert _problem(sides) == (422, "invalid-answer")
        assert (await submit(suite, assignment)).status_code == 200
        assert await _counts(suite, campaign) == (1, 1, 3)

    async def test_fail_a_campaign_where_their_lengths_would_give_them_away(self, suite: RunningSuite):
        pairs = [gold_pair(f"gold {number}", exchanges=3, right_exchanges=2 + number // 3) for number in range(4)]
        await store_training(suite, name="gold_set", **COMPARED, dialogues=pairs)
        admin = await suite.client("annotation", "admin")
        collection = await import_conversations(suite, _dialogues(12))
        body = {"name": "c", "domain": "everyday", "collection_id": collection, "protocol": "comparative"}
        campaign = await created(admin, "/v1/campaigns", body | GOLD)
        failed = await until(admin, f"/v1/campaigns/{campaign['id']}", "failed")
        assert failed["failure"].endswith("without reading: it has 4 turns, as no conversation has. Replace it.")
        assert (failed["packages"], failed["items"]) == (0, 0)


class TestExchanges:
    async def _open(
        self, suite: RunningSuite, assignment: dict[str, Any], position: int, exchange: int
    ) -> httpx.Response:
        frontend = await suite.client("annotation", "annotation")
        path = f"/v1/assignments/{assignment['id']}/items/{position}/exchanges"
        return await frontend.post(path, json={"open": exchange})

    async def _game(self, suite: RunningSuite, *, with_openings: bool = False) -> dict[str, Any]:
        gold = {"entity": RIGHT["entity"]}
        dialogues = [gold_dialogue(f"gold {number}", exchanges=5, gold=gold) for number in range(4)]
        await store_training(suite, name="gold_set", protocol=GAME, questions=None, dialogues=dialogues)
        made = _with_openings(suite, 6) if with_openings else import_conversations(suite, _dialogues(6))
        return await open_campaign(suite, await made, protocol=GAME, protocol_version=1, segments=[2], **GOLD)

    async def test_open_the_same_number_of_turns_for_gold_and_other_items(self, suite: RunningSuite):
        """Conversations have an opening of two turns, which comes with the first exchange; so has gold."""
        campaign = await self._game(suite, with_openings=True)
        assignment = await claim(suite, campaign, "w")
        assert {(len(item["turns"]), item["opened"]) for item in assignment["items"]} == {(0, 0)}
        seen = []
        for position in range(5):
            answers = [await self._open(suite, assignment, position, exchange) for exchange in (1, 2, 1)]
            assert [len(answer.json()["turns"]) for answer in answers] == [4, 6, 4]
            assert answers[0].content == answers[2].content
            assert _problem(await self._open(suite, assignment, position, 3)) == (409, "all-exchanges-open")
            seen.append(is_gold(answers[1].json()))
        assert sum(seen) == 2
        frontend = await suite.client("annotation", "annotation")
        read = (await frontend.get(f"/v1/assignments/{assignment['id']}")).json()
        assert [is_gold(item) for item in read["items"]] == seen
        assert {(len(item["turns"]), item["opened"]) for item in read["items"]} == {(6, 2)}

    async def test_decide_with_the_last_answer_given_and_keep_the_locked_one(self, suite: RunningSuite):
        campaign = await self._game(suite)
        assignment = await claim(suite, campaign, "w")
        gold = []
        for position in range(5):
            first = await self._open(suite, assignment, position, 1)
            if is_gold(first.json()):
                gold.append(position)
            await save(suite, assignment, position, {"entity": {"A": "human"}})
            await self._open(suite, assignment, position, 2)
        changed = await save(suite, assignment, gold[0], {"entity": {"A": "bot", "B": "bot"}})
        assert _problem(changed) == (409, "decision-locked")
        for position in range(5):
            # What was thought of B meanwhile does not count: what is submitted does.
            for side in ("unsure", "human" if position == gold[1] else "bot"):
                saved = await save(suite, assignment, position, {"entity": {"A": "human", "B": side}})
                assert saved.status_code == 200, saved.text
        assert (await submit(suite, assignment)).status_code == 200
        assert await _counts(suite, campaign) == (1, 1, 3)
        kept = rows(suite, "SELECT count(*) FROM annotation.annotations WHERE jsonb_array_length(decisions) = 2")
        assert kept == [(3,)]

    async def test_stay_in_the_service_until_gold_is_opened(self, suite: RunningSuite):
        campaign = await self._game(suite)
        assignment = await claim(suite, campaign, "w")
        assert "says" not in str(assignment)
        for position in range(5):
            answer = await self._open(suite, assignment, position, 2)
            assert _problem(answer) == (409, "exchange-not-next")
            decided = await save(suite, assignment, position, {"entity": RIGHT["entity"]})
            assert _problem(decided) == (409, "no-exchange-open")
            assert "says" not in answer.text


class TestWhatTheServiceDoes:
    """Requests take as long for gold as for other items, since they run the same statements."""

    @pytest.mark.parametrize("protocol", ["spot_the_bot", GAME])
    async def test_for_gold_is_what_it_does_for_other_items(
        self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch, protocol: str
    ):
        answer = {"entity": RIGHT["entity"]}
        right = answer if protocol == GAME else RIGHT
        dialogues = [gold_dialogue(f"gold {number}", exchanges=3, gold=right) for number in range(4)]
        await store_training(suite, name="gold_set", protocol=protocol, questions=None, dialogues=dialogues)
        campaign = await _campaign(suite, _dialogues(6), protocol=protocol, protocol_version=1, segments=[2])
        assignment = await claim(suite, campaign, "w")
        frontend = await suite.client("annotation", "annotation")
        path = f"/v1/assignments/{assignment['id']}"
        ran: list[bytes] = []

        async def fetch(self: Statement, *given: Any) -> list[Any]:
            ran.append(self.sql)
            return await run(self, *given)

        run = Statement.fetch
        monkeypatch.setattr(Statement, "fetch", fetch)
        found: dict[bool, set[tuple[bytes, ...]]] = {True: set(), False: set()}
        await frontend.post(f"{path}/heartbeat", json={"position": 0})  # the first one has none to count from
        for position in range(5):
            ran.clear()
            if protocol == GAME:
                await frontend.post(f"{path}/items/{position}/exchanges", json={"open": 1})
            for _ in range(2):
                assert (await save(suite, assignment, position, answer)).status_code == 200
            await frontend.post(f"{path}/heartbeat", json={"position": position})
            of_item = tuple(ran)
            shown = (await frontend.get(path)).json()["items"][position]
            found[is_gold(shown)].add(of_item)
        assert len(found[True]) == len(found[False]) == 1
        assert found[True] == found[False]


PACKAGES = {"monday": (("d0", 1), ("d1", 3), ("d2", 2)), "tuesday": (("d3", 2), ("d4", 3), ("d5", 1))}


class TestUploadedPackages:
    async def _draft(self, suite: RunningSuite, *, exchanges: int = 3, **more: Any) -> dict[str, Any]:
        dialogues = [gold_dialogue(f"gold {number}", exchanges=exchanges) for number in range(4)]
        await store_training(suite, name="gold_set", dialogues=dialogues)
        admin = await suite.client("annotation", "admin")
        collection = await import_conversations(suite, _dialogues(6))
        body = {"mode": "uploaded", "name": "u", "domain": "everyday", "collection_id": collection}
        campaign = await created(admin, "/v1/campaigns", body | GOLD | more)
        return await until(admin, f"/v1/campaigns/{campaign['id']}", "draft")

    async def _upload(self, suite: RunningSuite, campaign: dict[str, Any]) -> dict[str, Any]:
        admin = await suite.client("annotation", "admin")
        return await created(admin, f"/v1/campaigns/{campaign['id']}/packages", {"packages": package_rows(PACKAGES)})

    async def test_leave_positions_for_gold_and_keep_their_order(self, suite: RunningSuite):
        campaign = await self._draft(suite, secret="ab" * 32)
        assert [(await self._upload(suite, campaign))["stored"] for _ in range(2)] == [2, 0]
        admin = await suite.client("annotation", "admin")
        assert (await admin.post(f"/v1/campaigns/{campaign['id']}/open")).status_code == 200
        frontend = await suite.client("annotation", "annotation")
        body = {"annotator": "w", "package": "tuesday"}
        assignment = await created(frontend, f"/v1/campaigns/{campaign['id']}/assignments", body)
        own = [item for item in assignment["items"] if not is_gold(item)]
        assert [(item["turns"][0]["text"][:2], len(item["turns"]) // 2) for item in own] == [*PACKAGES["tuesday"]]
        gold = [item for item in assignment["items"] if is_gold(item)]
        assert len(gold) == 2
        assert {len(item["turns"]) for item in gold} <= {2, 4, 6}
        for item in assignment["items"]:
            await save(suite, assignment, item["position"], {"entity": RIGHT["entity"]}, show_step=2)
            await save(suite, assignment, item["position"], RIGHT)
        assert (await submit(suite, assignment)).status_code == 200
        assert await _counts(suite, campaign) == (2, 0, 3)
        other = (await claim(suite, campaign, "w"))["items"]
        places = [[item["position"] for item in items if is_gold(item)] for items in (assignment["items"], other)]
        assert [len(each) for each in places] == [2, 2]
        assert places != [[3, 4], [3, 4]]  # drawn by the secret, not at the end of each

    async def test_are_not_opened_where_gold_would_stand_out(self, suite: RunningSuite):
        campaign = await self._draft(suite, exchanges=2)
        await self._upload(suite, campaign)
        admin = await suite.client("annotation", "admin")
        for _ in range(2):
            answer = await admin.post(f"/v1/campaigns/{campaign['id']}/open")
            assert _problem(answer) == (422, "gold-stands-out")
            assert "it has 4 turns, not at least 6" in answer.json()["detail"]
        assert (await state_of(suite, campaign))["state"] == "draft"
        assert await refused(suite, campaign, "w") == "closed"

    async def test_are_refused_where_gold_has_no_room_in_them(self, suite: RunningSuite):
        campaign = await self._draft(suite)
        admin = await suite.client("annotation", "admin")
        segments = [{"conversation": f"d{number}", "exchanges": 1} for number in range(199)]
        packages = {"packages": [{"external_id": "p", "segments": segments}]}
        answer = await admin.post(f"/v1/campaigns/{campaign['id']}/packages", json=packages)
        faults = {fault["pointer"]: fault["detail"] for fault in answer.json()["errors"]}
        assert (answer.status_code, faults["/packages/0/segments"]) == (
            422,
            "may be at most 200 together with 2 gold items",
        )
