from collections import Counter
from typing import Any

import pytest

from tests.factories.running_suite import RunningSuite
from tests.factories.studies import DIALOGUES, add_bot, add_corpus, created, plan, until

NOBODY = "00000000-0000-7000-8000-000000000000"


class TestAllPlayAll:
    async def test_conversations_run_to_their_end(self, suite: RunningSuite):
        corpus = await add_corpus(suite)
        bots = [await add_bot(suite, model) for model in ("eliza", "parrot", "dull")]
        admin = await suite.client("conversations", "admin")
        request = plan(bots, opening={"corpus_id": corpus}, humans={"corpus_id": corpus, "conversations": 2})
        collection = await created(admin, "/v1/collections", request)
        planned = (await admin.get(f"/v1/collections/{collection['id']}/plan")).json()
        assert planned["opening"] == {
            "corpus_id": corpus,
            "split": "openings",
            "take": "first_exchange",
            "first_words": None,
            "personas": False,
            "shown": False,
        }
        assert planned["humans"] == {"corpus_id": corpus, "split": "openings", "conversations": 2}
        assert {each: planned[each] for each in ("mode", "held_as", "order", "seed")} == {
            "mode": "all_play_all",
            "held_as": None,
            "order": request.get("order", "both"),
            "seed": request.get("seed", 0),
        }
        done = await until(admin, f"/v1/collections/{collection['id']}", "complete")
        assert (done["conversations"], done["complete"], done["failed"]) == (8, 8, 0)  # 3 pairs x 2, and 2 human
        held = (await admin.get(f"/v1/collections/{collection['id']}/conversations")).json()["items"]
        assert [len(each["turns"]) for each in held] == [4] * 8  # 2 exchanges
        assert all([turn["speaker"] for turn in each["turns"]] == ["A", "B", "A", "B"] for each in held)
        assert all([turn["speaker"] for turn in each["opening"]] == ["A", "B"] for each in held)
        orders = Counter(tuple(side["name"] for side in each["participants"]) for each in held)
        pairs = (("eliza", "parrot"), ("eliza", "dull"), ("parrot", "dull"))
        assert orders == {("HU", "HU"): 2} | dict.fromkeys(pairs, 1) | {(b, a): 1 for a, b in pairs}
        assert not any(each["opening_shown"] for each in held)

    async def test_human_dialogues_keep_their_turns_and_open_no_other_conversation(self, suite: RunningSuite):
        corpus = await add_corpus(suite)
        bots = [await add_bot(suite, model) for model in ("eliza", "dull")]
        admin = await suite.client("conversations", "admin")
        request = plan(bots, opening={"corpus_id": corpus}, humans={"corpus_id": corpus, "conversations": 3})
        collection = await created(admin, "/v1/collections", request)
        await until(admin, f"/v1/collections/{collection['id']}", "complete")
        held = (await admin.get(f"/v1/collections/{collection['id']}/conversations")).json()["items"]
        by_people, by_bots = ([each for each in held if _is_human(each) is human] for human in (True, False))
        assert (len(by_people), len(by_bots)) == (3, 2)
        dialogues = [tuple(each["turns"][:6]) for each in DIALOGUES if each["split"] == "openings"]
        assert all(_texts(each["opening"]) + _texts(each["turns"]) in dialogues for each in by_people)
        assert not {_texts(each["opening"]) for each in by_people} & {_texts(each["opening"]) for each in by_bots}

    async def test_two_runs_of_one_plan_are_the_same_word_for_word(self, suite: RunningSuite):
        corpus = await add_corpus(suite)
        bots = [await add_bot(suite, model) for model in ("eliza", "parrot", "dull")]
        admin = await suite.client("conversations", "admin")
        said = []
        for _ in range(2):
            collection = await created(admin, "/v1/collections", plan(bots, opening={"corpus_id": corpus}))
            await until(admin, f"/v1/collections/{collection['id']}", "complete")
            held = (await admin.get(f"/v1/collections/{collection['id']}/conversations")).json()["items"]
            said.append([(_texts(each["opening"]), _texts(each["turns"])) for each in held])
        assert said[0] == said[1]

    @pytest.mark.parametrize(
        ("change", "pointer"),
        [
            ({"bots": [NOBODY]}, "/bots"),
            ({"bots": [NOBODY, "nobody"]}, "/bots/1"),
            ({"exchanges": 0}, "/exchanges"),
            ({"conversations_per_pair": 1_000_000}, "/conversations_per_pair"),
            ({"opening": {}}, "/opening"),
            ({"opening": {"corpus_id": NOBODY, "split": "a\u0000"}}, "/opening/split"),
            ({"humans": {"corpus_id": NOBODY, "split": "Openings", "conversations": 1}}, "/humans/split"),
            ({"colour": "red"}, "/colour"),
            ({"mode": "round_robin"}, ""),
        ],
    )
    async def test_faults_of_a_plan_are_reported_by_field(
        self, suite: RunningSuite, change: dict[str, Any], pointer: str
    ):
        bots = [await add_bot(suite, model) for model in ("eliza", "dull")]
        admin = await suite.client("conversations", "admin")
        answer = await admin.post("/v1/collections", json=plan(bots) | change)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == pointer
        assert (await admin.get("/v1/collections")).json()["items"] == []

    async def test_an_unknown_corpus_is_refused(self, suite: RunningSuite):
        bots = [await add_bot(suite, model) for model in ("eliza", "dull")]
        admin = await suite.client("conversations", "admin")
        answer = await admin.post("/v1/collections", json=plan(bots, opening={"corpus_id": NOBODY}))
        assert (answer.status_code, "no corpus" in answer.json()["detail"]) == (422, True)

    async def test_bots_of_two_teams_that_share_a_name_are_refused(self, suite: RunningSuite):
        protocol = {"kind": "builtin", "model": "dull"}
        body = {"name": "namesake", "domains": ["everyday"], "protocol": protocol}
        teams = [await suite.client("bots", "team", team=team) for team in ("ours", "theirs")]
        bots = [(await created(team, "/v1/bots", body))["id"] for team in teams]
        admin = await suite.client("conversations", "admin")
        answer = await admin.post("/v1/collections", json=plan(bots))
        assert (answer.status_code, "'namesake'" in answer.json()["detail"]) == (422, True)

    async def test_unknown_bots_and_a_bot_twice_are_refused(self, suite: RunningSuite):
        bot = await add_bot(suite, "eliza")
        admin = await suite.client("conversations", "admin")
        unknown = await admin.post("/v1/collections", json=plan([bot, NOBODY]))
        assert (unknown.status_code, NOBODY in unknown.json()["detail"]) == (422, True)
        twice = await admin.post("/v1/collections", json=plan([bot, bot]))
        assert (twice.status_code, "named twice" in twice.text) == (422, True)

    async def test_splits_that_are_empty_or_too_small_are_refused(self, suite: RunningSuite):
        corpus = await add_corpus(suite)
        bots = [await add_bot(suite, model) for model in ("eliza", "dull")]
        admin = await suite.client("conversations", "admin")
        empty = await admin.post("/v1/collections", json=plan(bots, opening={"corpus_id": corpus, "split": "none"}))
        assert (empty.status_code, "'none'" in empty.json()["detail"]) == (422, True)
        few = await admin.post("/v1/collections", json=plan(bots, humans={"corpus_id": corpus, "conversations": 9}))
        assert (few.status_code, "has 8, and" in few.json()["detail"]) == (422, True)


def _is_human(held: dict[str, Any]) -> bool:
    return all((side["kind"], side["name"], side["bot_id"]) == ("human", "HU", None) for side in held["participants"])


def _texts(turns: list[dict[str, str]]) -> tuple[str, ...]:
    return tuple(turn["text"] for turn in turns)
