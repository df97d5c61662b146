from typing import Any

import pytest

from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, add_corpus, created

ELIZA = {"name": "eliza", "domains": ["everyday"], "protocol": {"kind": "builtin", "model": "eliza"}}


class TestDeleteBot:
    async def test_takes_back_a_registration_unless_the_bot_takes_part(self, suite: RunningSuite):
        admin = await suite.client("bots", "admin")
        mistaken, chatting, partner = [await add_bot(suite, name) for name in ("eliza", "dull", "parrot")]
        conversations = await suite.client("conversations", "admin")
        chats = {
            "name": "c",
            "domain": "everyday",
            "mode": "human_bot",
            "bots": [chatting],
            "bots_per_chat": 1,
        }
        await created(conversations, "/v1/collections", chats)
        await created(conversations, "/v1/partner-sets", {"name": "p", "bots": [partner]})
        assert (await admin.delete(f"/v1/bots/{mistaken}")).status_code == 204
        assert (await admin.get(f"/v1/bots/{mistaken}")).status_code == 404
        assert await add_bot(suite, "eliza") != mistaken  # the name is free again
        for bot in (chatting, partner):
            refused = await admin.delete(f"/v1/bots/{bot}")
            assert (refused.status_code, refused.json()["type"]) == (409, "urn:spotthebot:problem:bot-took-part")
            assert (await admin.get(f"/v1/bots/{bot}")).status_code == 200
        stranger = await suite.client("bots", "team", team="another")
        assert (await stranger.delete(f"/v1/bots/{chatting}")).status_code == 404


class TestRegisterBot:
    @pytest.mark.parametrize("model", ["retrieval", "ngram", "stray", "eliza", "parrot", "dull"])
    async def test_each_built_in_bot_can_be_registered_and_replies(self, suite: RunningSuite, model: str):
        learns = model in {"retrieval", "ngram", "stray"}
        bot = await add_bot(suite, model, corpus_id=await add_corpus(suite) if learns else None)
        team = await suite.client("bots", "admin")
        body = {"contexts": [{"turns": ["Do you like gardens?"]}, {"turns": []}, {"turns": ["a", "b"], "seed": 4}]}
        answers = [(await team.post(f"/v1/bots/{bot}/replies", json=body)).json()["replies"] for _ in range(2)]
        assert all(reply["text"] and reply["failure"] is None for reply in answers[0])
        assert len(answers[0]) == 3
        texts = [[reply["text"] for reply in replies] for replies in answers]
        assert texts[0] == texts[1]

    async def test_refuses_a_learning_bot_without_an_existing_corpus(self, suite: RunningSuite):
        admin = await suite.client("bots", "admin")
        protocol = {"kind": "builtin", "model": "retrieval"}
        body = {"name": "r", "domains": ["everyday"], "protocol": protocol}
        assert (await admin.post("/v1/bots", json=body)).status_code == 422
        body["protocol"] = protocol | {"corpus_id": "00000000-0000-7000-8000-000000000000"}
        answer = await admin.post("/v1/bots", json=body)
        assert answer.status_code == 422
        assert "does not exist" in answer.json()["detail"]

    async def test_refuses_a_corpus_without_dialogues_in_the_split(self, suite: RunningSuite):
        protocol = {"kind": "builtin", "model": "ngram", "corpus_id": await add_corpus(suite), "split": "validation"}
        admin = await suite.client("bots", "admin")
        answer = await admin.post("/v1/bots", json={"name": "n", "domains": ["everyday"], "protocol": protocol})
        assert (answer.status_code, "'validation'" in answer.json()["detail"]) == (422, True)

    async def test_refuses_a_name_that_the_team_has_used(self, suite: RunningSuite):
        admin = await suite.client("bots", "admin")
        await created(admin, "/v1/bots", ELIZA)
        answer = await admin.post("/v1/bots", json=ELIZA)
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:spotthebot:problem:bot-name-taken")
        assert "or retired" in answer.json()["detail"]  # lists leave retired bots out

    @pytest.mark.parametrize(
        ("change", "pointer"),
        [
            ({"name": "hu"}, "/name"),
            ({"name": "a\u0000b"}, "/name"),
            ({"domains": []}, "/domains"),
            ({"domains": ["Not A Domain"]}, "/domains/0"),
            ({"colour": "red"}, "/colour"),
            ({"protocol": {"kind": "builtin", "model": "gpt-9"}}, "/protocol/model"),
            ({"protocol": {"kind": "builtin", "model": "eliza", "split": "Not a split"}}, "/protocol/split"),
            ({"protocol": {"kind": "builtin", "model": "eliza", "temperature": 1}}, "/protocol/temperature"),
        ],
    )
    async def test_points_at_each_wrong_field(self, suite: RunningSuite, change: dict[str, Any], pointer: str):
        admin = await suite.client("bots", "admin")
        answer = await admin.post("/v1/bots", json=ELIZA | change)
        assert answer.status_code == 422
        assert pointer in {fault["pointer"] for fault in answer.json()["errors"]}


class TestOwnership:
    async def test_a_team_sees_and_asks_only_its_own_bots(self, suite: RunningSuite):
        ours = await suite.client("bots", "team", team="ours")
        theirs = await suite.client("bots", "team", team="theirs")
        bot = await created(ours, "/v1/bots", ELIZA)
        await created(theirs, "/v1/bots", ELIZA)  # the same name, another team
        await add_bot(suite, "dull")
        assert bot["team"] == "ours"
        assert [each["id"] for each in (await ours.get("/v1/bots")).json()["items"]] == [bot["id"]]
        path = f"/v1/bots/{bot['id']}"
        assert (await theirs.get(path)).status_code == 404
        assert (await theirs.post(f"{path}/replies", json={"contexts": [{"turns": []}]})).status_code == 404
        admin = await suite.client("bots", "admin")
        assert len((await admin.get("/v1/bots")).json()["items"]) == 3

    async def test_a_team_key_without_a_team_registers_no_bots(self, suite: RunningSuite):
        nobody = await suite.client("bots", "team")
        assert (await nobody.post("/v1/bots", json=ELIZA)).status_code == 422

    @pytest.mark.parametrize("role", ["annotation", "analyst", "service"])
    async def test_other_roles_register_no_bots(self, suite: RunningSuite, role: str):
        client = await suite.client("bots", role)
        assert (await client.post("/v1/bots", json=ELIZA)).status_code == 403

    async def test_analysts_read_bots_but_ask_for_no_replies_and_frontends_do_neither(self, suite: RunningSuite):
        path = f"/v1/bots/{await add_bot(suite, 'eliza')}"
        analyst, frontend = await suite.client("bots", "analyst"), await suite.client("bots", "annotation")
        assert (await analyst.get(path)).status_code == 200
        for client in (analyst, frontend):
            answer = await client.post(f"{path}/replies", json={"contexts": [{"turns": []}]})
            assert answer.status_code == 403
        assert [(await frontend.get(each)).status_code for each in (path, "/v1/bots")] == [403, 403]

    @pytest.mark.parametrize("bot", ["00000000-0000-7000-8000-000000000000", "not-an-id"])
    async def test_a_caller_is_refused_before_the_bot_of_the_path(self, suite: RunningSuite, bot: str):
        path = f"/v1/bots/{bot}"
        asked: dict[str, Any] = {"contexts": [{"turns": []}]}
        frontend = await suite.client("bots", "annotation")
        unknown = {"Authorization": f"Bearer stb_admin_{'0' * 32}_{'a' * 43}"}
        for headers, status in (({}, 403), ({"Authorization": ""}, 401), (unknown, 401)):
            assert (await frontend.get(path, headers=headers)).status_code == status
            assert (await frontend.post(f"{path}/replies", json=asked, headers=headers)).status_code == status


class TestReplies:
    async def test_many_contexts_are_answered_in_order_and_too_many_refused(self, suite: RunningSuite):
        bot = await add_bot(suite, "parrot")
        admin = await suite.client("bots", "admin")
        contexts = [{"turns": [f"I have number {number} here."]} for number in range(256)]
        answer = await admin.post(f"/v1/bots/{bot}/replies", json={"contexts": contexts})
        replies = answer.json()["replies"]
        assert len(replies) == 256
        echoed = sum(str(number) in reply["text"] for number, reply in enumerate(replies))
        assert echoed > 100  # a parrot repeats its partner: most replies hold their own context's number
        too_many = await admin.post(f"/v1/bots/{bot}/replies", json={"contexts": [*contexts, {"turns": []}]})
        assert too_many.status_code == 422

    @pytest.mark.parametrize(
        ("contexts", "pointer"),
        [
            ([], "/contexts"),
            ([{"turns": []}, {"turns": ["a\u0000b"]}], "/contexts/1/turns/0"),
            ([{"turns": [], "seed": -1}], "/contexts/0/seed"),
            ([{"turns": [], "mood": "good"}], "/contexts/0/mood"),
            ([{}], "/contexts/0/turns"),
        ],
    )
    async def test_a_wrong_context_is_pointed_at(
        self, suite: RunningSuite, contexts: list[dict[str, Any]], pointer: str
    ):
        bot = await add_bot(suite, "eliza")
        admin = await suite.client("bots", "admin")
        answer = await admin.post(f"/v1/bots/{bot}/replies", json={"contexts": contexts})
        assert answer.status_code == 422
        assert pointer in {fault["pointer"] for fault in answer.json()["errors"]}

    async def test_a_learning_bot_whose_corpus_grew_since_its_registration_is_refused(self, suite: RunningSuite):
        corpus = await add_corpus(suite)
        bot = await add_bot(suite, "retrieval", corpus_id=corpus)
        conversations = await suite.client("conversations", "admin")
        late = {"dialogues": [{"key": "late", "split": "train", "turns": ["Hello.", "Too late."]}]}
        await created(conversations, f"/v1/corpora/{corpus}/dialogues", late)
        admin = await suite.client("bots", "admin")
        answer = await admin.post(f"/v1/bots/{bot}/replies", json={"contexts": [{"turns": []}]})
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:spotthebot:problem:training-data-changed")

    async def test_an_unknown_bot_is_not_found(self, suite: RunningSuite):
        admin = await suite.client("bots", "admin")
        path = "/v1/bots/00000000-0000-7000-8000-000000000000"
        assert (await admin.get(path)).status_code == 404
        assert (await admin.post(f"{path}/replies", json={"contexts": [{"turns": []}]})).status_code == 404
        assert (await admin.get("/v1/bots/not-an-id")).status_code == 422
