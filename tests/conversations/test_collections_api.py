import json
from collections import Counter
from typing import Any

import pytest

from tests.factories.running_suite import RunningSuite
from tests.factories.studies import (
    DIALOGUES,
    add_bot,
    add_corpus,
    conversation,
    created,
    import_conversations,
    keyed,
    plan,
    until,
)

NOBODY = "00000000-0000-7000-8000-000000000000"


class TestCorpora:
    async def test_a_batch_sent_again_changes_nothing(self, suite: RunningSuite):
        corpus = await add_corpus(suite)
        admin = await suite.client("conversations", "admin")
        path = f"/v1/corpora/{corpus}/dialogues"
        again = await created(admin, path, {"dialogues": keyed(DIALOGUES)})
        assert again == {"stored": 0, "already_there": 16}
        assert (await admin.get(f"/v1/corpora/{corpus}")).json()["dialogues"] == {"openings": 8, "train": 8}

    async def test_dialogues_come_in_the_order_of_upload_page_by_page(self, suite: RunningSuite):
        corpus = await add_corpus(suite)
        admin = await suite.client("conversations", "admin")
        keys: list[str] = []
        cursor = None
        while True:
            params: dict[str, str | int] = {"split": "train", "limit": 3}
            if cursor:
                params["cursor"] = cursor
            page = (await admin.get(f"/v1/corpora/{corpus}/dialogues", params=params)).json()
            keys += [item["key"] for item in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert keys == [f"train-d{number}" for number in range(8)]


class TestListCollections:
    async def test_lists_all_page_by_page_and_those_of_a_name(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        request = {"mode": "import", "domain": "everyday"}
        made = [(await created(admin, "/v1/collections", request | {"name": name}))["id"] for name in "aab"]
        first = (await admin.get("/v1/collections", params={"limit": 1})).json()
        rest = (await admin.get("/v1/collections", params={"cursor": first["next_cursor"]})).json()
        assert [each["id"] for each in first["items"] + rest["items"]] == made
        named = (await admin.get("/v1/collections", params={"name": "a"})).json()["items"]
        assert [each["id"] for each in named] == made[:2]


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

    async def test_the_stream_of_texts_gives_what_the_pages_give_without_participants(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation(f"c{n}", "X", "Y") for n in range(5)])
        pages = await _items(suite, f"/v1/collections/{collection}/conversations")
        service = await suite.client("conversations", "service")
        lines = (await service.get(f"/v1/collections/{collection}/texts/stream")).text.splitlines()
        texts = [json.loads(line) for line in lines]
        assert texts == [{name: page[name] for name in text} for page, text in zip(pages, texts, strict=True)]
        assert [each["external_id"] for each in texts] == [f"c{n}" for n in range(5)]
        assert "participants" in pages[0]
        assert "participants" not in texts[0]

    @pytest.mark.parametrize(
        ("change", "pointer"),
        [
            ({"bots": [NOBODY]}, "/bots"),
            ({"bots": [NOBODY, "nobody"]}, "/bots/1"),
            ({"exchanges": 0}, "/exchanges"),
            ({"conversations_per_pair": 1_000_000}, "/conversations_per_pair"),
            ({"opening": {}}, "/opening/corpus_id"),
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
        assert (few.status_code, "8 dialogues" in few.json()["detail"]) == (422, True)

    async def test_the_stream_of_strata_says_which_conversations_have_the_same_speakers_and_not_who_they_are(
        self, suite: RunningSuite
    ):
        sides = [("X", "Y"), ("HU", "HU"), ("Y", "X"), ("X", "HU"), ("X", "X"), ("HU", "HU")]
        collection = await import_conversations(suite, [conversation(f"c{n}", *each) for n, each in enumerate(sides)])
        service = await suite.client("conversations", "service")
        path = f"/v1/collections/{collection}/strata/stream"
        lines = [json.loads(line) for line in (await service.get(path)).text.splitlines()]
        pages = await _items(suite, f"/v1/collections/{collection}/conversations")
        assert [each["id"] for each in lines] == [each["id"] for each in pages]
        labels = [each["stratum"] for each in lines]
        assert [labels.index(each) for each in labels] == [0, 1, 0, 3, 4, 1]
        again = [json.loads(line)["stratum"] for line in (await service.get(path)).text.splitlines()]
        assert not {*again} & {*labels}  # labels of two answers can't be joined

    @pytest.mark.parametrize("role", ["annotation", "analyst", "admin", "team"])
    async def test_services_alone_read_strata(self, suite: RunningSuite, role: str):
        collection = await import_conversations(suite, [conversation("c", "X", "Y")])
        client = await suite.client("conversations", role, team="t" if role == "team" else None)
        assert (await client.get(f"/v1/collections/{collection}/strata/stream")).status_code == 403

    async def test_frontends_read_no_conversation(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation("c", "X", "Y")])
        frontend = await suite.client("conversations", "annotation")
        for path in (f"/v1/collections/{collection}/conversations", "/v1/collections", "/v1/corpora"):
            assert (await frontend.get(path)).status_code == 403


class TestImport:
    async def test_a_batch_sent_again_changes_nothing(self, suite: RunningSuite):
        batch = [conversation("c1", "X", "Y"), conversation("c2", "HU", "HU")]
        collection = await import_conversations(suite, batch)
        admin = await suite.client("conversations", "admin")
        path = f"/v1/collections/{collection}"
        again = await created(admin, f"{path}/conversations", {"conversations": [*batch, conversation("c3", "X", "Y")]})
        assert again == {"stored": 1, "already_there": 2}
        assert (await admin.get(path)).json()["turns"] == 3 * 6

    async def test_speakers_must_alternate_and_people_are_called_hu(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        collection = await import_conversations(suite, [conversation("c", "X", "Y")])
        path = f"/v1/collections/{collection}/conversations"
        odd = conversation("d", "X", "Y")
        odd["turns"][1]["speaker"] = "A"
        misnamed = conversation("e", "X", "Y")
        misnamed["participants"][0]["kind"] = "human"
        for wrong, pointer in ((odd, "/conversations/0"), (misnamed, "/conversations/0/participants/0")):
            answer = await admin.post(path, json={"conversations": [wrong]})
            assert answer.status_code == 422
            assert pointer in {fault["pointer"] for fault in answer.json()["errors"]}

    async def test_an_unknown_collection_takes_no_import(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        batch = {"conversations": [conversation("c", "X", "Y")]}
        answer = await admin.post(f"/v1/collections/{NOBODY}/conversations", json=batch)
        assert (answer.status_code, answer.json()["type"]) == (404, "urn:spotthebot:problem:no-such-collection")

    async def test_a_collection_with_planned_conversations_takes_no_import(self, suite: RunningSuite):
        bots = [await add_bot(suite, model) for model in ("eliza", "dull")]
        admin = await suite.client("conversations", "admin")
        collection = await created(admin, "/v1/collections", plan(bots))
        answer = await admin.post(
            f"/v1/collections/{collection['id']}/conversations", json={"conversations": [conversation("c", "X", "Y")]}
        )
        assert answer.status_code == 409


def _is_human(held: dict[str, Any]) -> bool:
    return all((side["kind"], side["name"], side["bot_id"]) == ("human", "HU", None) for side in held["participants"])


def _texts(turns: list[dict[str, str]]) -> tuple[str, ...]:
    return tuple(turn["text"] for turn in turns)


async def _items(suite: RunningSuite, path: str) -> list[dict[str, Any]]:
    return (await (await suite.client("conversations", "analyst")).get(path)).json()["items"]
