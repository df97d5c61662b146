"""Self-play and bipartite-play: who talks to whom, and what it costs before it begins."""

from collections import Counter
from typing import Any

import pytest

from spotthebot.contracts.bots.registry import Limits
from spotthebot.contracts.conversations.collections import MAX_CONVERSATIONS, BipartiteIn, SelfPlayIn
from spotthebot.contracts.conversations.conversations import Participant, ParticipantKind
from spotthebot.conversations.plans.domain import Source, Speaker, count_conversations, estimate, plan_conversations
from spotthebot.conversations.plans.errors import TooManyConversations
from spotthebot.kit.ids import new_ids
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, add_corpus, created, plan, until

DIALOGUES = [Source(tuple(f"{number}/{turn}" for turn in range(6))) for number in range(50)]


def _bots(letter: str, count: int) -> list[Participant]:
    return [
        Participant(kind=ParticipantKind.BOT, name=f"{letter}{number}", bot_id=each)
        for number, each in enumerate(new_ids(count))
    ]


def _ids(bots: list[Participant]) -> list[str]:
    return [str(bot.bot_id) for bot in bots]


def _orders(planned: list[Any]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(side.name for side in each.participants) for each in planned)


class TestSelfPlay:
    def test_each_bot_talks_to_itself(self):
        bots = _bots("b", 3)
        request = SelfPlayIn.model_validate(plan(_ids(bots), mode="self_play", conversations_per_pair=4))
        planned = plan_conversations(request, bots, [], [], [])
        assert _orders(planned) == {(f"b{number}", f"b{number}"): 4 for number in range(3)}
        assert len({each.seed for each in planned}) == 12


class TestBipartite:
    def test_each_target_talks_to_each_partner(self):
        targets, partners = _bots("t", 2), _bots("p", 3)
        request = BipartiteIn.model_validate(
            plan(_ids(targets), mode="bipartite", partners=_ids(partners), conversations_per_pair=4)
        )
        orders = _orders(plan_conversations(request, targets, partners, [], []))
        assert orders == {
            pair: 2
            for target in ("t0", "t1")
            for partner in ("p0", "p1", "p2")
            for pair in ((target, partner), (partner, target))
        }

    def test_targets_first_begin_every_conversation(self):
        targets, partners = _bots("t", 2), _bots("p", 3)
        request = BipartiteIn.model_validate(
            plan(_ids(targets), mode="bipartite", partners=_ids(partners), order="target_first")
        )
        planned = plan_conversations(request, targets, partners, [], [])
        assert {each.participants[0].name for each in planned} == {"t0", "t1"}

    def test_openings_have_the_requested_length_and_are_used_up_first(self):
        targets, partners = _bots("t", 2), _bots("p", 3)
        opening = {"corpus_id": str(new_ids(1)[0]), "take": 3}
        request = BipartiteIn.model_validate(
            plan(
                _ids(targets),
                mode="bipartite",
                partners=_ids(partners),
                opening=opening,
                conversations_per_pair=10,
                exchanges=5,
            )
        )
        planned = plan_conversations(request, targets, partners, DIALOGUES, [])
        assert sorted(each.opening for each in planned[:50]) == sorted(each.turns[:3] for each in DIALOGUES)

    def test_the_published_size_is_accepted_and_a_million_is_refused(self):
        targets, partners = _ids(_bots("t", 11)), _ids(_bots("p", 24))

        def request(each: int) -> BipartiteIn:
            return BipartiteIn.model_validate(
                plan(targets, mode="bipartite", partners=partners, conversations_per_pair=each)
            )

        assert count_conversations(request(600), 24) == 11 * 24 * 600 == 158_400
        with pytest.raises(TooManyConversations, match=f"at most {MAX_CONVERSATIONS}"):
            count_conversations(request(4000), 24)


class TestEstimate:
    def test_the_busiest_bot_decides(self):
        quick, slow = Speaker("quick", 0.1, Limits(concurrency=10)), Speaker("slow", 2.0, Limits(concurrency=4))
        found = estimate([quick], [slow], conversations=100, by_people=7, exchanges=5)
        assert (found.conversations, found.turns, found.slowest_bot) == (107, 1000, "slow")
        assert found.seconds == 500 * 2.0 / 4  # half of the turns, four at a time

    def test_one_conversation_takes_its_turns_one_after_the_other(self):
        bots = [Speaker("a", 1.0, Limits()), Speaker("b", 3.0, Limits())]
        assert estimate(bots, [], conversations=1, by_people=0, exchanges=5).seconds == 5 * (3.0 + 3.0)

    def test_a_bots_rate_limit_counts(self):
        slow = Speaker("slow", 0.01, Limits(requests_per_minute=30))
        found = estimate([slow], [], conversations=60, by_people=0, exchanges=1)
        assert found.seconds == 120 * 2.0  # thirty a minute are one in two seconds

    def test_bots_that_were_never_measured_get_no_estimate(self):
        assert estimate([Speaker("new", None, Limits())], [], conversations=1, by_people=0, exchanges=1).seconds is None


class TestOverHttp:
    async def test_a_partner_set_pins_versions_and_is_played_against(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        target = await add_bot(suite, "eliza")
        partners = [await add_bot(suite, model) for model in ("parrot", "dull")]
        first = await created(admin, "/v1/partner-sets", {"name": "house", "bots": partners})
        second = await created(admin, "/v1/partner-sets", {"name": "house", "bots": partners[:1]})
        assert (first["version"], second["version"]) == (1, 2)
        other = await created(admin, "/v1/partner-sets", {"name": "other", "bots": partners})
        listed = (await admin.get("/v1/partner-sets", params={"limit": 1})).json()
        rest = (await admin.get("/v1/partner-sets", params={"cursor": listed["next_cursor"]})).json()
        assert [each["id"] for each in listed["items"] + rest["items"]] == [first["id"], second["id"], other["id"]]
        named = (await admin.get("/v1/partner-sets", params={"name": "other"})).json()["items"]
        assert [each["id"] for each in named] == [other["id"]]
        kept = (await admin.get("/v1/partner-sets/house/versions/1")).json()
        assert [each["name"] for each in kept["partners"]] == ["parrot", "dull"]
        bots = await suite.client("bots", "admin")
        changed = {"protocol": {"kind": "builtin", "model": "eliza"}}
        assert (await bots.post(f"/v1/bots/{partners[0]}/versions", json=changed)).status_code == 201
        request = plan([target], mode="bipartite", partners={"set": "house", "version": 1}, order="target_first")
        collection = await created(admin, "/v1/collections", request)
        done = await until(admin, f"/v1/collections/{collection['id']}", "complete")
        assert (done["complete"], done["failed"], done["turns"]) == (4, 0, 16)
        held = (await admin.get(f"/v1/collections/{collection['id']}/conversations")).json()["items"]
        sides = {(side["name"], side["version"]) for each in held for side in each["participants"]}
        assert sides == {("eliza", 1), ("parrot", 1), ("dull", 1)}  # not the version that came later

    async def test_self_play_runs_to_its_end(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        corpus = await add_corpus(suite)
        bot = await add_bot(suite, "retrieval", corpus_id=corpus)
        request = plan([bot], mode="self_play", opening={"corpus_id": corpus, "take": "first_utterance"})
        collection = await created(admin, "/v1/collections", request)
        done = await until(admin, f"/v1/collections/{collection['id']}", "complete")
        assert (done["complete"], done["turns"]) == (2, 8)
        pairs = (await admin.get(f"/v1/collections/{collection['id']}/pairs")).json()["items"]
        assert pairs == [{"number": 0, "participants": ["retrieval"] * 2, "conversations": {"complete": 2}}]

    async def test_a_dry_run_estimates_the_cost_and_stores_nothing(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        bots = [await add_bot(suite, model) for model in ("eliza", "parrot", "dull")]
        found = (await admin.post("/v1/collections/dry-run", json=plan(bots, conversations_per_pair=100))).json()
        assert (found["conversations"], found["turns"]) == (300, 1200)
        assert found["seconds"] > 0  # from the probes of their registration
        assert (await admin.get("/v1/collections")).json()["items"] == []

    async def test_a_start_and_its_dry_run_warn_of_bots_of_other_domains(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        bots = [await add_bot(suite, model) for model in ("eliza", "parrot", "dull")]
        said = "The bot 'dull' is registered for everyday; the collection is about movies."
        plans = (
            plan(bots[:2], mode="bipartite", partners=bots[2:], domain="movies"),
            {"mode": "human_bot", "name": "chats", "domain": "movies", "bots": bots},
        )
        started = [await created(admin, "/v1/collections", each) for each in plans]
        estimated = (await admin.post("/v1/collections/dry-run", json=plans[0])).json()
        for found in (*started, estimated):
            assert [each["bot"] for each in found["warnings"]] == ["eliza", "parrot", "dull"]
            assert found["warnings"][2] == {"bot": "dull", "kind": "other_domain", "detail": said}
        imported = {"mode": "import", "name": "im", "domain": "movies"}
        for each in (plan(bots), imported):
            assert (await created(admin, "/v1/collections", each))["warnings"] == []
        assert "warnings" not in (await admin.get(f"/v1/collections/{started[0]['id']}")).json()

    async def test_a_dry_run_counts_the_human_dialogues_that_are_too_short(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        corpus = await add_corpus(suite)  # 8 dialogues of 12 turns in the split
        short = [{"key": f"short-{n}", "split": "openings", "turns": ["Hi.", f"Hello, {n}."]} for n in range(3)]
        await created(admin, f"/v1/corpora/{corpus}/dialogues", {"dialogues": short})
        bots = [await add_bot(suite, model) for model in ("eliza", "parrot")]
        request = plan(bots, exchanges=6, humans={"corpus_id": corpus, "conversations": 8})
        found = (await admin.post("/v1/collections/dry-run", json=request)).json()
        assert (found["by_people"], found["too_short"]) == (8, 3)
        answer = await admin.post("/v1/collections/dry-run", json=request | {"exchanges": 7})
        assert (answer.status_code, answer.json()["type"]) == (422, "urn:spotthebot:problem:too-few-dialogues")

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"mode": "bipartite"}, "partners"),
            (
                {"mode": "bipartite", "partners": {"set": "nobody", "version": 1}},
                "The partner set 'nobody' has no version 1",
            ),
            ({"mode": "bipartite", "partners": "BOTS"}, "is a target and a partner"),
            ({"mode": "self_play", "order": "target_first"}, "there is no target"),
            ({"order": "target_first"}, "there is no target"),
            ({"conversations_per_pair": 0}, "at least 1"),
            ({"conversations_per_pair": 1_000_000}, "at most"),
            ({"opening": {"corpus_id": "00000000-0000-7000-8000-000000000000", "take": 5}}, "is longer than"),
            ({"opening": {"corpus_id": "00000000-0000-7000-8000-000000000000", "take": 0}}, "at least 1"),
        ],
    )
    async def test_impossible_plans_are_refused(self, suite: RunningSuite, change: dict[str, Any], said: str):
        bots = [await add_bot(suite, model) for model in ("eliza", "dull")]
        admin = await suite.client("conversations", "admin")
        if change.get("partners") == "BOTS":
            change = change | {"partners": bots}
        for path in ("/v1/collections", "/v1/collections/dry-run"):
            answer = await admin.post(path, json=plan(bots) | change)
            assert answer.status_code == 422
            assert said in answer.text

    async def test_a_retired_bot_is_refused(self, suite: RunningSuite):
        bots = [await add_bot(suite, model) for model in ("eliza", "dull")]
        admin, registry = await suite.client("conversations", "admin"), await suite.client("bots", "admin")
        assert (await registry.patch(f"/v1/bots/{bots[0]}", json={"status": "retired"})).status_code == 200
        answer = await admin.post("/v1/collections", json=plan(bots))
        assert (answer.status_code, "'eliza' is retired" in answer.json()["detail"]) == (422, True)
