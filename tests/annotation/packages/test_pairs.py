"""Two conversations side by side: what annotators see of a pair, and what is known of it afterwards."""

from collections import Counter
from typing import Any

import psycopg
import pytest

from spotthebot.kit.text.words import text_hash
from tests.factories.annotating import annotations_of, ask, claim, refused, rows, save, state_of, submit
from tests.factories.campaigns import campaign_of, open_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations, until

BOTS = ("SECRET-ONE", "SECRET-TWO", "SECRET-THREE")


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "conversations", "annotation", "analytics"


def _dialogues(count: int) -> list[dict[str, Any]]:
    """Return `count` dialogues for each bot, each with the bot on side B; every turn says which dialogue it is of."""
    return [conversation(f"{bot} {number}", "HU", bot) for number in range(count) for bot in BOTS]


async def _campaign(suite: RunningSuite, dialogues: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    collection = await import_conversations(suite, dialogues)
    return await open_campaign(suite, collection, **{"protocol": "comparative", "package_size": 2} | more)


def _key(turns: list[dict[str, str]]) -> str:
    """Return the one dialogue that all turns are of."""
    (key,) = {turn["text"].partition(" says")[0] for turn in turns}
    return key


def _bot(key: str) -> str:
    return key.partition(" ")[0]


async def _compare(suite: RunningSuite, assignment: dict[str, Any], preference: str) -> None:
    questions = [each["id"] for each in assignment["protocol"]["steps"][0]["questions"]]
    for item in assignment["items"]:
        saved = await save(suite, assignment, item["position"], dict.fromkeys(questions, preference))
        assert (saved.status_code, saved.json()["missing"]) == (200, [])
    assert (await submit(suite, assignment)).status_code == 200


class TestPair:
    async def test_shows_whole_dialogues_of_two_bots_each_once(self, suite: RunningSuite):
        campaign = await _campaign(suite, _dialogues(4), annotations_per_segment=1)
        assert campaign["items"] == 6
        assert campaign["packages"] == 3
        assert campaign["too_short"] == 0
        assert campaign["unpaired"] == 0
        shown = []
        for number in range(3):
            for item in (await claim(suite, campaign, f"w{number}"))["items"]:
                left, right = _key(item["turns"]), _key(item["right_turns"])
                assert [turn["text"] for turn in item["right_turns"]] == [f"{right} says {turn}" for turn in range(6)]
                assert len(item["turns"]) == 6
                assert _bot(left) != _bot(right)
                shown += [left, right]
        assert sorted(shown) == sorted(each["external_id"] for each in _dialogues(4))

    async def test_is_answered_by_left_and_right_and_known_by_both_conversations_afterwards(self, suite: RunningSuite):
        campaign = await _campaign(suite, _dialogues(2)[:2], annotations_per_segment=1)
        assignment = await claim(suite, campaign, "w")
        (item,) = assignment["items"]
        await _compare(suite, assignment, "B")
        (stored,) = await annotations_of(suite, campaign)
        by_id = dict(rows(suite, "SELECT conversation_id::text, external_id FROM annotation.shown_conversations"))
        assert by_id[stored["conversation_id"]] == _key(item["turns"])
        assert by_id[stored["right"]["conversation_id"]] == _key(item["right_turns"])
        assert stored["exchanges"] == 3
        assert stored["right"]["exchanges"] == 3
        assert stored["answer"]["quality"] == "B"
        analyst = await suite.client("annotation", "analyst")
        (package,) = (await analyst.get(f"/v1/campaigns/{campaign['id']}/packages")).json()["items"]
        assert package["segments"] == [
            {"conversation_id": stored["conversation_id"], "exchanges": 3, "right": stored["right"]}
            | {"text_hash": text_hash([turn["text"] for turn in item["turns"]]).hex()}
        ]
        assert (await state_of(suite, campaign))["state"] == "complete"

    async def test_takes_nothing_but_left_right_and_no_difference(self, suite: RunningSuite):
        assignment = await claim(suite, await _campaign(suite, _dialogues(1)[:2]), "w")
        for wrong in ("left", {"A": "B"}, 1, None):
            answer = await save(suite, assignment, 0, {"quality": wrong})
            assert (answer.status_code, [each["pointer"] for each in answer.json()["errors"]]) == (
                422,
                ["/answer/quality"],
            )
        assert (await save(suite, assignment, 0, {"quality": "tie"})).status_code == 200

    async def test_is_missing_for_one_dialogue_of_an_odd_number_and_says_so(self, suite: RunningSuite):
        campaign = await _campaign(suite, _dialogues(1))
        assert (campaign["items"], campaign["unpaired"]) == (1, 1)
        assert rows(suite, "SELECT count(*) FROM annotation.shown_conversations") == [(2,)]

    async def test_takes_the_time_of_both_dialogues_in_a_preview(self, suite: RunningSuite):
        campaign = await _campaign(suite, _dialogues(2), annotations_per_segment=1)
        admin = await suite.client("annotation", "admin")
        preview = (await admin.get(f"/v1/campaigns/{campaign['id']}/preview")).json()
        assert (preview["packages"], preview["annotations"], preview["unmeasured_lengths"]) == (2, 3, [6])

    async def test_is_refused_by_the_ranking_which_knows_spot_the_bot_alone(self, suite: RunningSuite):
        campaign = await _campaign(suite, _dialogues(1)[:2])
        analyst = await suite.client("analytics", "analyst")
        answer = await analyst.get(f"/v1/campaigns/{campaign['id']}/ranking")
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:spotthebot:problem:other-protocol")


class TestPairsOfACampaign:
    async def test_are_seen_once_by_an_annotator_on_either_side(self, suite: RunningSuite):
        campaign = await _campaign(suite, _dialogues(4), annotations_per_segment=2)
        shown = Counter[str]()
        for _ in range(3):
            assignment = await claim(suite, campaign, "w")
            shown.update(_key(item[side]) for item in assignment["items"] for side in ("turns", "right_turns"))
            await _compare(suite, assignment, "tie")
        assert (len(shown), max(shown.values())) == (12, 1)
        assert await refused(suite, campaign, "w") == "nothing-left"
        assert (await ask(suite, campaign, "another")).status_code == 201
        query = (
            "SELECT count(*), count(DISTINCT conversation_id) FROM annotation.seen_conversations GROUP BY annotator_id"
        )
        assert sorted(rows(suite, query)) == [(4, 4), (12, 12)]
        analyst = await suite.client("annotation", "analyst")
        path = f"/v1/campaigns/{campaign['id']}/annotations"
        pair, *_ = (await analyst.get(path)).json()["items"]
        for side in (pair["conversation_id"], pair["right"]["conversation_id"]):
            assert (await analyst.get(path, params={"conversation_id": side})).json()["items"] == [pair]

    async def test_fail_where_one_bot_has_most_of_the_dialogues(self, suite: RunningSuite):
        dialogues = [conversation(f"a{number}", "HU", "SECRET-ONE") for number in range(5)]
        collection = await import_conversations(suite, [*dialogues, *_dialogues(1)[1:]])
        admin = await suite.client("annotation", "admin")
        body = {"name": "c", "domain": "everyday", "collection_id": collection, "protocol": "comparative"}
        made = await admin.post("/v1/campaigns", json=body)
        assert made.status_code == 201
        failed = await until(admin, f"/v1/campaigns/{made.json()['id']}", "failed")
        assert failed["failure"].startswith("5 of 7 dialogues have the same two speakers")

    async def test_have_no_other_conversation_than_themselves_and_no_conversation_twice_in_the_tables(
        self, suite: RunningSuite
    ):
        await _campaign(suite, _dialogues(2))
        some = "SELECT {} FROM annotation.items WHERE position = {} AND package_id = ({})"
        package = "SELECT package_id FROM annotation.items WHERE position = 1"
        item, another = some.format("id", 0, package), some.format("right_conversation_id", 1, package)
        with psycopg.connect(suite.database.owner["annotation"], autocommit=True) as connection:
            for change, constraint in (
                ("right_conversation_id = conversation_id", "right_conversation_is_another"),
                ("right_exchanges = NULL", "right_conversation_is_another"),
                (f"right_conversation_id = ({another})", "ix_items_right_conversation"),
                ("right_conversation_id = gen_random_uuid()", "right_conversation"),
            ):
                with pytest.raises(psycopg.errors.IntegrityError, match=constraint):
                    connection.execute(f"UPDATE annotation.items SET {change} WHERE id = ({item})".encode())  # noqa: S608


async def test_items_that_are_no_pairs_have_nothing_on_the_right(suite: RunningSuite):
    campaign = await campaign_of(suite)
    assert campaign["unpaired"] == 0
    assert {item["right_turns"] for item in (await claim(suite, campaign, "w"))["items"]} == {None}
